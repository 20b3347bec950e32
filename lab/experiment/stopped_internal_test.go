package experiment

import (
	"testing"
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
