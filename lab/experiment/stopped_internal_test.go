package experiment

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"filewise"
)

// A server that is stopped while something is timed as a whole, a drain or a backup, has stood still.
func TestServerStoppedWhileTimed(t *testing.T) {
	const stands, takes = 600 * time.Millisecond, 900 * time.Millisecond
	start := time.Now()
	l := &life{runner: &Runner{Clock: filewise.RealClock{}, Stopped: func() bool { return time.Since(start) < stands }}}
	if err := l.beating("drain", func() error { time.Sleep(takes); return nil }); err != nil {
		t.Fatal(err)
	}
	if s := l.still["drain"]; !s.Stopped || s.Server < stands/3 || s.Machine == 0 && s.Server > takes {
		t.Errorf("%+v", s)
	}
}

// A drop may take minutes, and once the run is interrupted half of one. First contact: Oracle 4.
func TestSlowDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run, interrupt := context.WithCancel(t.Context())
		ctx, done := dropping(run)
		defer done()
		time.Sleep(dropPatience - time.Second)
		interrupt()
		if synctest.Wait(); ctx.Err() != nil {
			t.Error("the drop ends with the run")
		}
		ctx, done = dropping(run)
		defer done()
		time.Sleep(dropTimeout - time.Second)
		if ctx.Err() != nil {
			t.Error("the drop has less than its time after an interrupt")
		}
		time.Sleep(2 * time.Second)
		if ctx.Err() == nil {
			t.Error("a drop goes on after an interrupt")
		}
	})
}
