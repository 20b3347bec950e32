package experiment

import (
	"testing"
	"time"
)

// Of a rare type the 90th percentile tells, and a handful of operations nothing.
func TestExceeds(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		count    int64
		p90, p99 time.Duration
		want     bool
	}{
		{100, 1 * ms, 11 * ms, true},
		{100, 1 * ms, 10 * ms, false},
		{99, 1 * ms, 11 * ms, false},
		{99, 11 * ms, 12 * ms, true},
		{20, 11 * ms, 12 * ms, true},
		{19, 11 * ms, 12 * ms, false},
		{0, 0, 0, false},
	} {
		if got := (Latency{Count: c.count, P90: c.p90, P99: c.p99}).exceeds(10 * ms); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
