package experiment_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
)

// held blocks the which-th build until its context ends, as a trial that goes on
// does, in real time.
type held struct {
	filewise.Server
	which, builds int
	holding       atomic.Bool
}

func (h *held) Build(ctx context.Context, l filewise.Layout, p filewise.Program) (*filewise.Database, error) {
	if h.builds++; h.builds == h.which {
		h.holding.Store(true)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.Server.Build(ctx, l, p)
}

// A trial that is postponed is not recorded, and measured again once that is let; what comes after is unaffected.
func TestPostponedTrialIsMeasuredAnew(t *testing.T) {
	truth := fake.Config{Throughput: byFiles(map[int]float64{1: 1000, 2: 1500}), Noise: 0.01, Seed: 2}
	w := newWorld(t, []int{1, 2}, truth)
	waits, server := 0, &held{Server: w.runner.Server, which: 4}
	w.runner.Server = server
	w.runner.Await = func(_ context.Context, expected time.Duration) error {
		waits++
		if (expected > 0) != (len(w.stored) >= 1) {
			t.Errorf("after %d trials, the next is expected to take %v", len(w.stored), expected)
		}
		return nil
	}
	w.runner.Guard = func() error {
		if server.holding.CompareAndSwap(true, false) {
			return fmt.Errorf("the window is over: %w", experiment.ErrPostponed)
		}
		return nil
	}
	trials, d := w.run(t)
	if d.Ending != experiment.Decided || waits != len(trials)+1 || cmp.Diff(trials, w.stored) != "" {
		t.Errorf("%+v after %d trials and %d waits", d, len(trials), waits)
	}
	for i, tr := range trials {
		if cell, _ := w.plan.Next(trials[:i]); tr.Cell != cell || tr.State != filewise.Done {
			t.Errorf("trial %d is %+v (%s), want %+v", i, tr.Cell, tr.Reason, cell)
		}
	}
}

// What Await refuses ends the run with all that is finished.
func TestAwaitEndsTheRun(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{})
	busy := errors.New("others are busy")
	w.runner.Plan = w.plan
	w.runner.Await = func(context.Context, time.Duration) error {
		if len(w.stored) == 3 {
			return busy
		}
		return nil
	}
	trials, _, err := w.runner.Run(t.Context(), nil)
	if !errors.Is(err, busy) || len(trials) != 3 || w.engine.Undropped() != 0 {
		t.Errorf("%d trials, %v", len(trials), err)
	}
}
