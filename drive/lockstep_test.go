package drive

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

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
	a, err := DecodeHist(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := DecodeHist(more)
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

// A run that is asked for too late does nothing at all.
func TestLateStart(t *testing.T) {
	clock := newVirtual()
	load := Load{Sessions: []filewise.Session{clock.each(ms)}, Ops: []int64{10}, Chunk: 1, Clock: clock}
	for late, want := range map[time.Duration]int64{MaxLate: 10, MaxLate + ms: 0} {
		load.Start = clock.Now().Add(-late)
		res, err := Run(t.Context(), load)
		if res.Ledger.Total() != want || errors.Is(err, ErrLate) != (want == 0) || filewise.CodeOf(err) != filewise.CodeTrials && want == 0 {
			t.Errorf("%v late: %v, %v", late, res, err)
		}
	}
}
