package drive

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"filewise"
)

// Together is the largest difference between the starts of several processes that still counts as simultaneous.
const Together = 5 * time.Millisecond

// ErrLate is wrapped by the error of a start that is too late, so that less than half of the window is left.
var ErrLate = errors.New("the start has missed its instant")

// wakeEarly is the time before its start at which a run wakes up and then polls the clock, because timers are a
// millisecond late. If the clock does not advance meanwhile, the run sleeps for nap.
const wakeEarly, nap = 2 * time.Millisecond, 50 * time.Microsecond

// awaitStart waits for the load's Start, from which all times then count. Lateness within the warm-up costs nothing,
// because the window opens once all have begun. Lateness beyond the warm-up shortens the window.
func (r *run) awaitStart() error {
	at, clock := r.load.Start, r.load.Clock
	r.start = clock.Now()
	if at.IsZero() || r.stop.Load() {
		return nil
	}
	for before, d := time.Duration(0), at.Sub(clock.Now()); d > 0; before, d = d, at.Sub(clock.Now()) {
		if d <= wakeEarly && d != before {
			continue
		}
		if err := clock.Sleep(r.ctx, max(d-wakeEarly, min(d, nap))); err != nil {
			return nil //nolint:nilerr // the run's end, which Run reports itself
		}
	}
	r.start, r.late = at, max(clock.Now().Sub(at), 0)
	if late := notable(r.late); r.load.Window > 0 {
		if r.from = max(r.from, late); r.to-r.from < r.load.Window/2 {
			return lateBy(late)
		}
	}
	return nil
}

// notable returns the lateness, or 0 if the start counts as on time.
func notable(late time.Duration) time.Duration {
	if late <= Together {
		return 0
	}
	return late
}

func lateBy(late time.Duration) error {
	return filewise.Errorf(filewise.CodeTrials, "use hosts with idle CPUs, or run their workers as services with a higher CPUWeight",
		"%w by %v, which leaves less than half of the window", ErrLate, late.Round(time.Millisecond))
}

// Merge returns the result of one load that several processes have put on a server. Each process has the workers that
// follow the process before. The window is the time in which all have worked: it opens when the last has begun.
// Latencies and failures are from each part's own window. The error wraps ErrLate if less than half of the window is
// left.
func Merge(parts []Result, fixed bool) (Result, error) {
	var out Result
	var hists, services [][]byte
	var types []map[string]filewise.TypeMeasure
	opens, from, err := opening(parts, fixed)
	if err != nil {
		return out, err
	}
	for _, p := range parts {
		m, sum := sinceOpened(p.Measure, max(from, p.Measure.Window[0]), opens), &out.Measure
		out.Late = max(out.Late, p.Late)
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

// opening returns when the window of all parts opens, and when it would have opened if no part had been late.
func opening(parts []Result, fixed bool) (opens, from time.Duration, err error) {
	var late, to time.Duration
	for i, p := range parts {
		w := p.Measure.Window
		opens, to, late = max(opens, w[0]), max(to, w[1]), max(late, p.Late)
		if i == 0 || w[0] < from {
			from = w[0]
		}
	}
	if fixed {
		from = 0
	}
	if late > 0 && to-opens < opens-from {
		err = lateBy(late)
	}
	return opens, from, err
}

// sinceOpened removes the work that a part did between the opening of its own window and of the common window.
func sinceOpened(m filewise.Measure, from, opens time.Duration) filewise.Measure {
	early := WorkedIn(m, from, opens)
	if early == 0 || m.Work == 0 {
		return m
	}
	stays := max(1-early/m.Work, 0)
	m.Work *= stays
	m.Types = maps.Clone(m.Types)
	for name, t := range m.Types {
		t.Work *= stays
		m.Types[name] = t
	}
	return m
}

// WorkedIn returns the work done between two times of a measure, by its slices.
func WorkedIn(m filewise.Measure, from, to time.Duration) (work float64) {
	for i, n := range m.Slices {
		if m.SliceLength > 0 {
			begin := time.Duration(i) * m.SliceLength
			work += within(begin, begin+m.SliceLength, n, from, to)
		}
	}
	return work
}

// tailOf returns the time from the first worker's finish to the last worker's.
func tailOf(ends []time.Duration) time.Duration {
	var first, last time.Duration
	for _, end := range ends {
		if last = max(last, end); end > 0 && (first == 0 || end < first) {
			first = end
		}
	}
	return last - first
}

// MergeTypes adds up the measures of each type of operation. It returns nil if there are no types.
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
