package planted

import (
	"math"
	"slices"
	"testing"

	"filewise"
	"filewise/lab/verdict"
)

// truth is the ratio of the second layout's throughput to the first's. It is a range: from the ratio by the speeds
// alone to the ratio of fio's times for the stripes in this run. Both are with and without the backup's own time,
// which it takes on storage that is not throttled.
type truth struct{ lo, hi float64 }

// plant throttles the volumes, has fio prove it, and measures with fio what the two
// layouts' stripes take.
func (w *world) plant(t testing.TB, first, second filewise.Layout) truth {
	t.Helper()
	w.storage.lift(t)
	trials := w.trials(t, w.plan(verdict.FirstAnalysis, first, second))
	w.storage.limit(t)
	w.storage.prove(t)
	var speeds, fio, own [2]float64 // seconds
	for i, l := range []filewise.Layout{first, second} {
		bytes := stripes(t, trials, l.Name)
		own[i] = median(took(trials, l.Name)).Seconds()
		if len(bytes) != l.Backup.Files {
			t.Fatalf("the stripes of %s lie on %d volumes: %v", l.Name, len(bytes), bytes)
		}
		written := w.storage.fio(t, Synced, bytes)
		for _, v := range w.storage.Slow {
			speeds[i] = max(speeds[i], float64(bytes[v.Name])/float64(v.Bytes))
			fio[i] = max(fio[i], written[v.Name].Seconds())
		}
		t.Logf("%s: stripes of %v bytes take %.3f s by the speeds, fio %.3f s, the backup %.3f s when nothing is throttled",
			l.Name, bytes, speeds[i], fio[i], own[i])
	}
	ratios := []float64{
		speeds[0] / speeds[1], (speeds[0] + own[0]) / (speeds[1] + own[1]),
		fio[0] / fio[1], (fio[0] + own[0]) / (fio[1] + own[1]),
	}
	p := truth{slices.Min(ratios), slices.Max(ratios)}
	t.Logf("planted: %.2f to %.2f times the throughput of %s", p.lo, p.hi, first.Name)
	return p
}

// mustBeIn fails the test when the interval of the second layout does not contain
// the planted ratio.
func (p truth) mustBeIn(t testing.TB, analysis verdict.Analysis) {
	t.Helper()
	e := analysis.Estimates[1]
	lo, hi := math.Exp(e.Lo), math.Exp(e.Hi)
	if !(lo <= p.hi && hi >= p.lo) {
		t.Errorf("the interval %.2f to %.2f does not contain the planted ratio, %.2f to %.2f", lo, hi, p.lo, p.hi)
	}
	t.Logf("measured: %.2f (%.2f to %.2f)", math.Exp(e.Effect), lo, hi)
}
