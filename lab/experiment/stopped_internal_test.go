package experiment

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"filewise"
	"filewise/lab/drive"
)

// A server that is stopped while something is timed as a whole, a drain or a backup, has stood still. Times are counted
// in checks of its processes, because a busy machine can hold up the test itself.
func TestServerStoppedWhileTimed(t *testing.T) {
	const stands, takes = 5, 6
	var checks atomic.Int64
	l := &life{runner: &Runner{Clock: filewise.RealClock{}, Stopped: func() bool { return checks.Add(1) <= stands }}}
	err := l.beating("drain", func() error {
		for start := time.Now(); checks.Load() < takes; time.Sleep(time.Millisecond) {
			if time.Since(start) > time.Minute {
				return errors.New("the server's processes are not checked")
			}
		}
		return nil
	})
	if s := l.still["drain"]; err != nil || !s.Stopped || s.Server < drive.StillLimit(0)/5 {
		t.Errorf("%+v, %v", s, err)
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
