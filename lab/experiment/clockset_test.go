package experiment_test

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"filewise/lab/drive"
	"filewise/lab/experiment"
)

// setClock is the machine's clock, whose wall clock is set by days now and then, as date(1) does: the monotonic
// reading goes on.
type setClock struct{ readings int }

// Now returns the monotonic time under a wall clock that was set a day on, or back, after some readings.
func (c *setClock) Now() time.Time {
	c.readings++
	days := []int64{0, 1, -1}[c.readings/20%3]
	t := time.Now()
	// The seconds since 1885 are the upper bits of the first field if there is a monotonic reading
	// (time.Time's comment).
	wall := (*int64)(unsafe.Pointer(&t))
	*wall += days * 86400 << 30
	return t
}

func (c *setClock) Sleep(context.Context, time.Duration) error { return nil }

// A wall clock that is set in mid-trial is no time that a trial took.
func TestWallClockIsSet(t *testing.T) {
	c := new(setClock)
	before := c.Now()
	c.readings = 20
	if after := c.Now(); after.Round(0).Sub(before.Round(0)) < 23*time.Hour || after.Sub(before) > time.Minute {
		t.Fatalf("the clock of this test is not set: %v, %v", before, after)
	}
	w := stillWorld(t, func(int, experiment.Share) drive.Still { return drive.Still{} })
	w.plan.Budget = 2 * time.Hour
	w.runner.Clock = c
	trials, d := w.run(t)
	for _, tr := range trials {
		if tr.Elapsed < 0 || tr.Elapsed > time.Minute {
			t.Errorf("block %d of %s took %v", tr.Cell.Block, tr.Cell.Layout, tr.Elapsed)
		}
	}
	if len(trials) < 6 {
		t.Errorf("%d trials: %s", len(trials), d.Why)
	}
}
