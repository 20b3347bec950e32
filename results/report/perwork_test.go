package report

import (
	"math"
	"testing"

	"filewise/internal/say"
)

func TestPerWork(t *testing.T) {
	for want, s := range map[string]float64{"0": 0, "7.93 ns": 7.93e-9, "1.00 µs": 1e-6, "590 µs": 590e-6, "1.59 ms": 1.59e-3, "12.0 s": 12,
		say.Absent: math.NaN()} {
		if got := perWork(s); got != want {
			t.Errorf("perWork(%v) = %q, want %q", s, got, want)
		}
	}
}
