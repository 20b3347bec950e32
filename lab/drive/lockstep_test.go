package drive

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filewise"
)

// paced is a session of a worker that follows from the worker alone, and fails now and then.
func paced(worker int) filewise.Session {
	failed := int64(-1)
	return doFunc(func(_ context.Context, first, n int64) (int64, error) {
		time.Sleep(time.Duration(1+(int64(worker)*7+first*13)%9) * ms)
		if first%17 == 5 && failed != first {
			failed = first
			return 0, &filewise.Classed{Class: filewise.ClassDeadlock, Err: errors.New("planted")}
		}
		return n, nil
	})
}

// What several processes have done in lockstep is, merged, what one with all workers does:
// in closed loop, at a rate, and of fixed work.
func TestMergedIsOneRun(t *testing.T) {
	closed := Load{WarmUp: 200 * ms, Window: time.Second, Chunk: 1, Seed: 3, Retry: []filewise.Class{filewise.ClassDeadlock},
		Types: []string{"a", "b"}, TypeOf: func(worker int, i int64) int { return (worker + int(i)) % 2 }}
	fixed := Load{Ops: []int64{40, 50, 0, 70, 20}, Chunk: 1, Seed: 3, Retry: closed.Retry}
	resting := closed
	resting.Pause = func(worker int, i int64) time.Duration { return time.Duration(worker+1) * ms }
	for name, load := range map[string]Load{"closed": closed, "fixed": fixed, "resting": resting} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one := shared(t, load, 5)
				three := shared(t, load, 2, 1, 2)
				if one.Ledger.Total() == 0 || one.Measure.Errors[filewise.ClassDeadlock] == 0 {
					t.Fatalf("nothing to compare: %v", one)
				}
				same := cmpopts.IgnoreFields(filewise.Measure{}, "Hist", "Types")
				near := cmpopts.EquateApprox(0, 1e-9) // sums of floats in another order
				if diff := cmp.Diff(one.Measure, three.Measure, same, near); diff != "" {
					t.Errorf("measure (-one +three):\n%s", diff)
				}
				if diff := cmp.Diff([]any{one.Ledger, one.Ends}, []any{three.Ledger, three.Ends}); diff != "" {
					t.Errorf("accounts (-one +three):\n%s", diff)
				}
				sameHist(t, one.Measure.Hist, three.Measure.Hist)
				for kind, of := range one.Measure.Types {
					more := three.Measure.Types[kind]
					sameHist(t, of.Hist, more.Hist)
					if !cmp.Equal(of.Errors, more.Errors) || math.Abs(of.Work-more.Work) > 1e-9 {
						t.Errorf("type %s: %v and %v", kind, of, more)
					}
				}
			})
		})
	}
}

func sameHist(t *testing.T, one, more []byte) {
	t.Helper()
	a, err := hdr.Decode(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := hdr.Decode(more)
	if err != nil || !a.Equals(b) || a.TotalCount() == 0 {
		t.Errorf("%d latencies, merged %d: %v", a.TotalCount(), b.TotalCount(), err)
	}
}

// shared runs the load by processes that have so many workers each, which start at one instant.
func shared(t *testing.T, l Load, workers ...int) Result {
	t.Helper()
	parts, errs := make([]Result, len(workers)), make(chan error)
	at, first := time.Now().Add(time.Second), 0
	for i, n := range workers {
		part := l
		part.First, part.Start = first, at
		for w := range n {
			part.Sessions = append(part.Sessions, paced(first+w))
		}
		if l.Ops != nil {
			part.Ops = l.Ops[first : first+n]
		}
		first += n
		go func() {
			var err error
			parts[i], err = Run(t.Context(), part)
			if err == nil && !parts[i].Started.Equal(at) {
				err = errors.New("it has not started at its instant")
			}
			errs <- err
		}()
	}
	for range workers {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	out, err := Merge(parts, l.Window == 0)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A delay within the warm-up costs nothing, a longer one makes the window of all shorter. Only a start that leaves
// less than half of it does nothing at all.
func TestLateStart(t *testing.T) {
	const warmUp, window = 200 * ms, time.Second
	for late, want := range map[time.Duration]time.Duration{5 * ms: warmUp, 150 * ms: warmUp, 450 * ms: 450 * ms, 800 * ms: 0} {
		clock := newVirtual()
		load := Load{WarmUp: warmUp, Window: window, Chunk: 1, Clock: clock, SliceLength: 10 * ms}
		var parts []Result
		var last error
		for _, l := range []time.Duration{0, late} {
			load.Sessions, load.Start = []filewise.Session{clock.each(ms)}, clock.Now().Add(-l)
			var res Result
			res, last = Run(t.Context(), load)
			parts = append(parts, res)
		}
		if want == 0 {
			if !errors.Is(last, ErrLate) || filewise.CodeOf(last) != filewise.CodeTrials || parts[1].Ledger.Total() != 0 {
				t.Errorf("%v late: %v, %v", late, parts[1], last)
			}
			continue
		}
		all, err := Merge(parts, false)
		w := all.Measure.Window
		if work := float64(2 * (w[1] - want) / ms); last != nil || err != nil || w != [2]time.Duration{want, warmUp + window} ||
			math.Abs(all.Measure.Work-work) > 2 || all.Late != late {
			t.Errorf("%v late: window %v with %v operations, not %v: %v, %v", late, w, all.Measure.Work, work, last, err)
		}
	}
}

// Of fixed work the time counts in which all have worked.
func TestLateStartOfFixedWork(t *testing.T) {
	clock := newVirtual()
	var parts []Result
	for _, late := range []time.Duration{0, 30 * ms} {
		res, err := Run(t.Context(), Load{Sessions: []filewise.Session{clock.each(ms)}, Ops: []int64{100}, Chunk: 1, Clock: clock,
			SliceLength: 10 * ms, Start: clock.Now().Add(-late)})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, res)
	}
	all, err := Merge(parts, true)
	if w := all.Measure.Window; err != nil || w != [2]time.Duration{30 * ms, 130 * ms} || math.Abs(all.Measure.Work-170) > 1 {
		t.Errorf("%v, window %v: %v", all, w, err)
	}
	parts[1].Late, parts[1].Measure.Window[0] = 90*ms, 90*ms
	if _, err := Merge(parts, true); !errors.Is(err, ErrLate) {
		t.Errorf("most of it alone: %v", err)
	}
}
