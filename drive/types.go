package drive

import (
	"errors"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
)

// typeTally is what some of the workers have done of one type of operations; the
// tally's lock is held for it.
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

// typeMeasures adds up the parts of all types; nil where there are none. The
// histograms go back to the pool.
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
