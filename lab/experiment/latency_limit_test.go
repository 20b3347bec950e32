package experiment

import (
	"testing"
	"time"

	"filewise/lab/verdict"
)

// Of a rare type the 90th percentile decides, and a handful of operations decides nothing.
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

// Whose latency the verdict's first lines speak of.
func TestWinner(t *testing.T) {
	apart := []verdict.Estimate{{}, {Lo: 0.1}, {Lo: -0.1}}
	for name, c := range map[string]struct {
		analysis verdict.Analysis
		want     int
	}{
		"recommended":                {verdict.Analysis{Recommended: 2, Leader: 1, Estimates: apart}, 2},
		"the baseline is to be kept": {verdict.Analysis{Recommended: 0, Leader: 0, Estimates: apart}, -1},
		"undecided, in front":        {verdict.Analysis{Recommended: -1, Leader: 1, Estimates: apart}, 1},
		"in front, and not proven":   {verdict.Analysis{Recommended: -1, Leader: 2, Estimates: apart}, -1},
		"carried over":               {verdict.Analysis{Recommended: -1, Leader: 1, Estimates: apart, CarryOver: true}, -1},
	} {
		if got := winner(verdict.Result{Analyses: []verdict.Analysis{c.analysis}}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := winner(verdict.Result{}); got != -1 {
		t.Errorf("without an analysis: %d", got)
	}
}
