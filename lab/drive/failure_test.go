package drive

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
)

var errDisk = errors.New("disk I/O error")

func TestWorkerError(t *testing.T) {
	failing := doFunc(func(_ context.Context, first, n int64) (int64, error) {
		if first+n > 25 {
			return 25 - first, errDisk
		}
		return n, nil
	})
	all := []filewise.Session{&counting{}, failing, &counting{}}
	within10s(t, func() {
		res, err := Run(t.Context(), Load{Sessions: all, Chunk: 10, Window: time.Hour})
		var we *WorkerError
		if !errors.As(err, &we) || we.Worker != 1 || we.Operation != 25 || !errors.Is(err, errDisk) {
			t.Fatalf("error %v", err)
		}
		if filewise.CodeOf(err) != filewise.CodeTrials || !strings.Contains(err.Error(), "worker 1, operation 25: disk I/O error") {
			t.Errorf("error %v, code %v", err, filewise.CodeOf(err))
		}
		if res.Ledger[1] != 25 || res.Ledger[0] != all[0].(*counting).next || res.Ledger[2] != all[2].(*counting).next {
			t.Errorf("ledger %v", res.Ledger)
		}
		if sum(res.Measure.Slices) != res.Ledger.Total() {
			t.Errorf("slices hold %d of %d", sum(res.Measure.Slices), res.Ledger.Total())
		}
		if res.Edges[1] != nil {
			t.Errorf("the end edge of a run that ended early was crossed at %v", *res.Edges[1])
		}
		if res.Measure.Window[1] >= time.Hour {
			t.Errorf("window %v", res.Measure.Window)
		}
	})
}

// The other workers finish their call: it is not cancelled, and it counts.
func TestOthersFinishTheirCall(t *testing.T) {
	started, failed := make(chan struct{}), make(chan struct{})
	var begin sync.Once
	slow := doFunc(func(ctx context.Context, _, n int64) (int64, error) {
		begin.Do(func() { close(started) }) // it may be called again before the failure is noticed
		<-failed
		return n, ctx.Err()
	})
	failing := doFunc(func(context.Context, int64, int64) (int64, error) {
		<-started
		defer close(failed)
		return 0, errDisk
	})
	within10s(t, func() {
		res, err := Run(t.Context(), Load{Sessions: []filewise.Session{slow, failing}, Chunk: 10, Window: time.Hour})
		if !errors.Is(err, errDisk) || res.Ledger[0] < 10 || res.Ledger[1] != 0 {
			t.Errorf("error %v, ledger %v", err, res.Ledger)
		}
	})
}

func TestContract(t *testing.T) {
	for name, f := range map[string]doFunc{
		"too many": func(_ context.Context, _, n int64) (int64, error) { return n + 1, nil },
		"negative": func(_ context.Context, _, n int64) (int64, error) { return -1, nil },
		"too few":  func(_ context.Context, _, n int64) (int64, error) { return n - 1, nil },
		"too many, with an error": func(_ context.Context, _, n int64) (int64, error) {
			return n + 1, errDisk
		},
	} {
		res, err := Run(t.Context(), Load{Sessions: []filewise.Session{f}, Chunk: 5, Ops: []int64{100}})
		if !errors.Is(err, ErrContract) {
			t.Errorf("%s: error %v", name, err)
		}
		if n := res.Ledger.Total(); n < 0 || n > 5 {
			t.Errorf("%s: ledger %d", name, n)
		}
	}
}

func TestPanics(t *testing.T) {
	for name, f := range map[string]doFunc{
		"panic":  func(context.Context, int64, int64) (int64, error) { panic("out of cheese") },
		"goexit": func(context.Context, int64, int64) (int64, error) { runtime.Goexit(); return 0, nil },
	} {
		other := &counting{}
		within10s(t, func() {
			res, err := Run(context.Background(), Load{Sessions: []filewise.Session{other, f}, Chunk: 1, Window: time.Hour})
			var we *WorkerError
			if !errors.Is(err, ErrPanic) || !errors.As(err, &we) || we.Worker != 1 {
				t.Errorf("%s: error %v", name, err)
			}
			if name == "panic" && !strings.Contains(err.Error(), "out of cheese") {
				t.Errorf("%s: error %v", name, err)
			}
			if res.Ledger[0] != other.next {
				t.Errorf("%s: ledger %v", name, res.Ledger)
			}
		})
	}
}

func TestPanicOfEdge(t *testing.T) {
	for _, e := range []Edge{WindowStart, WindowEnd} {
		for _, warm := range []time.Duration{0, 2 * ms} {
			within10s(t, func() {
				l := Load{Sessions: []filewise.Session{&counting{}, &counting{}}, Chunk: 1, WarmUp: warm, Window: 2 * ms,
					Edge: func(_ context.Context, got Edge) {
						if got == e {
							panic("probe")
						}
					}}
				if _, err := Run(context.Background(), l); !errors.Is(err, ErrPanic) {
					t.Errorf("%v, warm-up %v: error %v", e, warm, err)
				}
			})
		}
	}
}

func TestCancel(t *testing.T) {
	why := errors.New("Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	deaf := &counting{} // does not look at its context
	var once atomic.Bool
	hearing := doFunc(func(ctx context.Context, first, n int64) (int64, error) {
		if first >= 1000 && once.CompareAndSwap(false, true) {
			cancel(why)
			<-ctx.Done()
			return 1, errDisk // what a driver makes of an interrupted call
		}
		return n, nil
	})
	within10s(t, func() {
		res, err := Run(ctx, Load{Sessions: []filewise.Session{deaf, hearing}, Chunk: 2, WarmUp: time.Hour, Window: time.Hour})
		if !errors.Is(err, why) || errors.Is(err, errDisk) || len(res.Failures) > 0 {
			t.Errorf("error %v, failures %v", err, res.Failures)
		}
		if res.Ledger[0] != deaf.next || res.Ledger[1] != 1001 {
			t.Errorf("ledger %v, want %d and 1001", res.Ledger, deaf.next)
		}
		if res.Edges[0] != nil || res.Edges[1] != nil {
			t.Errorf("edges of a run that ended in its warm-up: %v", res.Edges)
		}
	})
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &counting{}
	called := false
	_, err := Run(ctx, Load{Sessions: []filewise.Session{c}, Ops: []int64{1000}, Edge: func(context.Context, Edge) { called = true }})
	if !errors.Is(err, context.Canceled) || c.calls > 0 || called {
		t.Errorf("error %v, %d calls, edge called: %v", err, c.calls, called)
	}
}
