package dialect

import (
	"testing"
	"time"
)

// The page cleaner's sleep is a pause; a call that syncs a file, a pending write and an unknown time of calls are not.
func TestPause(t *testing.T) {
	still := map[string]string{dirtyPages: "7", pendingWrites: "0", pendingFsyncs: "0"}
	done := map[string]string{dirtyPages: "0", pendingWrites: "0", pendingFsyncs: "0"}
	pending := map[string]string{dirtyPages: "7", pendingWrites: "1", pendingFsyncs: "0"}
	const before, second = time.Minute, time.Second
	for _, c := range []struct {
		name         string
		status       map[string]string
		before, busy time.Duration // of calls to files, at the first sample and at the last
		want         time.Duration
	}{
		{"asleep", still, before, before + second/10, second},
		{"in a call", still, before, before + second, 0},
		{"a write is pending", pending, before, before, 0},
		{"calls are not timed", still, 0, 0, 0},
	} {
		var p pause
		var got time.Duration
		at := time.Now()
		for i := range 11 {
			got += p.next(at.Add(time.Duration(i)*second/10), c.status, c.before)
		}
		if got += p.next(at.Add(second+second/100), done, c.busy); got != c.want {
			t.Errorf("%s: paused for %v, want %v", c.name, got, c.want)
		}
	}
}
