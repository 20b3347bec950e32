package drive

import (
	"errors"
	"fmt"
	"time"

	"filewise"
)

// MaxLate is how late a start may be. Those of several processes that begin at one
// instant are so far apart at most, beside what their clocks differ.
const MaxLate = 5 * time.Millisecond

// ErrLate is wrapped by the error of a start that has missed its instant.
var ErrLate = errors.New("the start has missed its instant")

// wakeEarly is how long before its start a run is awake and reads the clock again and again,
// for timers come a millisecond late. A clock that stands still meanwhile wants naps.
const wakeEarly, nap = 2 * time.Millisecond, 50 * time.Microsecond

// awaitStart returns at the load's Start; at once where it has none.
func (r *run) awaitStart() error {
	at, clock := r.load.Start, r.load.Clock
	if at.IsZero() || r.stop.Load() {
		return nil
	}
	for before, d := time.Duration(0), at.Sub(clock.Now()); d > 0; before, d = d, at.Sub(clock.Now()) {
		if d <= wakeEarly && d != before {
			continue
		}
		if err := clock.Sleep(r.ctx, max(d-wakeEarly, min(d, nap))); err != nil {
			return nil //nolint:nilerr // the run's end, which it reports itself
		}
	}
	if late := clock.Now().Sub(at); late > MaxLate {
		return filewise.Errorf(filewise.CodeTrials, "use hosts with idle processors, or run their workers as services with a higher CPUWeight",
			"%w by %v, of which %v are allowed", ErrLate, late.Round(time.Microsecond), MaxLate)
	}
	return nil
}

// Merge is the result of one load that several processes have put on a server, each by
// the workers that come after those of the one before. Of fixed work there is no window.
func Merge(parts []Result, fixed bool) (Result, error) {
	var out Result
	var hists, services [][]byte
	var types []map[string]filewise.TypeMeasure
	for _, p := range parts {
		m, sum := p.Measure, &out.Measure
		out.Ledger, out.Ends = append(out.Ledger, p.Ledger...), append(out.Ends, p.Ends...)
		out.Failures, out.Unserved = append(out.Failures, p.Failures...), out.Unserved+p.Unserved
		out.Still.Machine = max(out.Still.Machine, p.Still.Machine)
		out.Still.Server = max(out.Still.Server, p.Still.Server)
		out.Still.Stopped = out.Still.Stopped || p.Still.Stopped
		sum.SliceLength, sum.Work = m.SliceLength, sum.Work+m.Work
		sum.Tail = max(sum.Tail, m.Tail)
		for i := range sum.Window {
			sum.Window[i] = max(sum.Window[i], m.Window[i])
		}
		sum.Slices = append(sum.Slices, make([]int64, max(len(m.Slices)-len(sum.Slices), 0))...)
		for i, n := range m.Slices {
			sum.Slices[i] += n
		}
		for class, n := range m.Errors {
			count(&sum.Errors, class, n)
		}
		types, hists, services = append(types, m.Types), append(hists, m.Hist), append(services, p.Service)
	}
	if fixed {
		out.Measure.Tail = tailOf(out.Ends)
	}
	var errs [3]error
	out.Measure.Hist, errs[0] = MergeHists(hists...)
	out.Service, errs[1] = MergeHists(services...)
	out.Measure.Types, errs[2] = MergeTypes(types)
	if err := errors.Join(errs[:]...); err != nil {
		return out, fmt.Errorf("merge what %s have measured: %w", filewise.Counted(len(parts), "driver"), err)
	}
	return out, nil
}

// tailOf is the time from the first worker's finish to the last one's.
func tailOf(ends []time.Duration) time.Duration {
	var first, last time.Duration
	for _, end := range ends {
		if last = max(last, end); end > 0 && (first == 0 || end < first) {
			first = end
		}
	}
	return last - first
}

// MergeTypes adds up what the operations of each type gave; nil: there are no types.
func MergeTypes(parts []map[string]filewise.TypeMeasure) (map[string]filewise.TypeMeasure, error) {
	var out map[string]filewise.TypeMeasure
	hists := map[string][][]byte{}
	for _, part := range parts {
		for name, t := range part {
			if out == nil {
				out = make(map[string]filewise.TypeMeasure)
			}
			sum := out[name]
			sum.Work += t.Work
			for class, n := range t.Errors {
				count(&sum.Errors, class, n)
			}
			out[name], hists[name] = sum, append(hists[name], t.Hist)
		}
	}
	var errs []error
	for name, sum := range out {
		var err error
		sum.Hist, err = MergeHists(hists[name]...)
		out[name], errs = sum, append(errs, err)
	}
	return out, errors.Join(errs...)
}
