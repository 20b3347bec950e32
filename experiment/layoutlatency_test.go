package experiment_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"filewise"
)

// A layout that wins throughput and takes twice as long is recommended with that in the
// verdict's first lines; p99 and its change are those that were planted.
func TestLatencyLoss(t *testing.T) {
	p := sweepPlan(10)
	faster := func(files, _ int) float64 { return 100 * (1 + float64(files)/10) }
	for _, c := range []struct {
		p99  func(files int) int64
		said string
	}{
		{func(files int) int64 { return int64(10 * files) }, "But p99 of 4 files is 4 times that of 1 file: 40"},
		{func(files int) int64 { return int64(10 + files) }, ""},
	} {
		trials := trialsOf(t, p, 8, faster, c.p99)
		for i := range trials { // of one type
			m := &trials[i].Measures[0]
			m.Hist, m.Types = m.Types["payment"].Hist, nil
		}
		j, err := p.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		f := j.First()
		if !strings.HasPrefix(f.LatencyLoss, c.said) || c.said == "" && f.LatencyLoss != "" {
			t.Errorf("it says %q, want %q", f.LatencyLoss, c.said)
		}
		if len(f.Latency) != 3 {
			t.Fatalf("%+v", f.Latency)
		}
		want := float64(c.p99(4)) / float64(c.p99(1))
		last := f.Latency[2]
		if effect, _, _ := last.Change.Interval(); math.Abs(math.Exp(effect)/want-1) > 0.01 || last.P50 != time.Millisecond ||
			last.Count != 1600 ||
			math.Abs(last.P99.Seconds()*1000/float64(c.p99(4))-1) > 0.01 || f.Latency[0].Change != nil {
			t.Errorf("%+v, want a change of %v", last, want)
		}
		p.P99Limit = time.Second // who sets one is told by it alone
		if j, err := p.Judge(trials); err != nil || j.First().LatencyLoss != "" {
			t.Errorf("with a limit: %q, %v", j.First().LatencyLoss, err)
		}
		p.P99Limit = 0
		for i := range trials {
			trials[i].Measures[0].Hist = histOf(t, 25, 1, 20) // few in a trial, enough in all of a layout
		}
		if j, err := p.Judge(trials); err != nil || len(j.First().Latency) != 3 || j.First().Latency[2].Change != nil ||
			j.First().Latency[2].Count != 400 {
			t.Errorf("of few operations in a trial: %+v, %v", j.First().Latency, err)
		}
		for i := range trials {
			trials[i].Measures[0].Hist = histOf(t, 1, 1, 2) // too few for a percentile
		}
		if j, err := p.Judge(trials); err != nil || len(j.First().Latency) > 0 {
			t.Errorf("of few operations: %+v, %v", j.First().Latency, err)
		}
	}
	bad := trialsOf(t, p, 4, faster, quick)
	bad[5].Measures[0].Hist = []byte("damaged")
	if _, err := p.Judge(bad); err == nil || filewise.CodeOf(err) == filewise.CodeUsage {
		t.Errorf("a damaged histogram: %v", err)
	}
}
