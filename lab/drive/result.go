package drive

import (
	"errors"
	"fmt"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
)

// result adds up what the workers have done, after all have ended.
func (r *run) result() (Result, error) {
	res := Result{
		Started:  r.start,
		Late:     r.late,
		Edges:    [2]*time.Duration{r.crossedAt(WindowStart), r.crossedAt(WindowEnd)},
		Failures: r.failures,
	}
	m := &res.Measure
	m.SliceLength = r.load.SliceLength
	for _, w := range r.workers {
		res.Ledger = append(res.Ledger, w.done.Load())
		res.Ends = append(res.Ends, w.commit)
		m.Work += w.work
	}
	m.Slices, m.Errors = r.mergeSlices(), failuresOf(r.tallies)
	m.Window, m.Tail = r.windowAndTail()
	if r.load.Window == 0 {
		m.Work = float64(res.Ledger.Total())
	}
	var latencies, services []*hdr.Histogram
	for _, t := range r.tallies {
		latencies, services = append(latencies, t.hist), append(services, t.service)
		res.Unserved += t.unserved
		t.hist, t.service = nil, nil // the histograms go back to the pool
	}
	if r.load.NoLatencies {
		forget(append(latencies, services...))
		return res, r.checkSums(res)
	}
	var errs [3]error
	m.Hist, errs[0] = encodeHist(latencies, &r.long)
	res.Service, errs[1] = encodeHist(services, &r.longService)
	m.Types, errs[2] = r.typeMeasures()
	if err := errors.Join(errs[:]...); err != nil {
		return res, filewise.Errorf(filewise.CodeInternal, "report this as a bug of Filewise", "%w", err)
	}
	return res, r.checkSums(res)
}

// checkSums returns an error if the figures are impossible.
func (r *run) checkSums(res Result) error {
	var n int64
	for _, s := range res.Measure.Slices {
		n += s
	}
	if total := res.Ledger.Total(); n != total || res.Measure.Work > float64(total)*(1+1e-9) {
		return filewise.Errorf(filewise.CodeInternal, "report this as a bug of Filewise",
			"the slices hold %d operations and the window %.1f, but %d were committed", n, res.Measure.Work, total)
	}
	return nil
}

// mergeSlices adds up the slices of all tallies, up to the end of the last call.
func (r *run) mergeSlices() []int64 {
	var end time.Duration
	for _, w := range r.workers {
		end = max(end, w.ended)
	}
	if end == 0 && r.total() == 0 {
		return nil
	}
	all := make([]int64, r.tallies[0].slices.index(end)+1)
	for _, t := range r.tallies {
		for i, n := range t.slices.counts[:min(len(all), len(t.slices.counts))] {
			all[i] += n
		}
	}
	return all
}

// windowAndTail returns the measured window, cut if the run ended early. Tail is the time from the window's end to the
// slowest worker's last commit. With fixed work, tail counts from the first worker's finish.
func (r *run) windowAndTail() (window [2]time.Duration, tail time.Duration) {
	var ended, last time.Duration
	first := time.Duration(-1)
	for _, w := range r.workers {
		ended, last = max(ended, w.ended), max(last, w.commit)
		if w.ops > 0 && (first < 0 || w.commit < first) {
			first = w.commit
		}
	}
	if r.load.Window == 0 {
		return [2]time.Duration{min(notable(r.late), last), last}, last - max(first, 0)
	}
	return [2]time.Duration{min(r.from, ended), min(r.to, ended)}, max(last-r.to, 0)
}

// String returns a line on what the run did, for logs.
func (res Result) String() string {
	return fmt.Sprintf("%d operations by %d workers, %.0f of them in a window of %v",
		res.Ledger.Total(), len(res.Ledger), res.Measure.Work, res.Measure.Window[1]-res.Measure.Window[0])
}

// typeTally counts operations of one type for some of the workers. The lock of its tally must be held.
type typeTally struct {
	work     float64 // within the window
	hist     *hdr.Histogram
	failures map[filewise.Class]int64
}

func (t *typeTally) call(r *run, at span, of part, timed bool) {
	t.work += of.work
	if !timed {
		return
	}
	if us := micros(at.end - at.since); t.hist.RecordValue(us) != nil {
		r.longTypes[of.kind].record(us)
	}
}

// typeMeasures adds up the parts of each type. It returns nil if there are no types. The histograms go back to the
// pool.
func (r *run) typeMeasures() (map[string]filewise.TypeMeasure, error) {
	if len(r.load.Types) == 0 {
		return nil, nil
	}
	all := map[string]filewise.TypeMeasure{}
	var errs []error
	for kind, name := range r.load.Types {
		var m filewise.TypeMeasure
		var hists []*hdr.Histogram
		for _, t := range r.tallies {
			of := &t.types[kind]
			m.Work += of.work
			hists = append(hists, of.hist)
			of.hist = nil
			for c, n := range of.failures {
				count(&m.Errors, c, n)
			}
		}
		var err error
		m.Hist, err = encodeHist(hists, &r.longTypes[kind])
		errs = append(errs, err)
		all[name] = m
	}
	return all, errors.Join(errs...)
}
