package experiment

import (
	"testing"
	"time"

	"filewise/lab/workload"
)

// Fixed work of few transactions is cut into no more turns than these: in a turn without
// a commit nothing would be measured.
func TestTurnsHaveWhatToCommit(t *testing.T) {
	p := Plan{Work: 45000 * 600, Params: workload.Params{RowBytes: 600, Connections: 16, CommitEvery: 100}}
	for measured, want := range map[time.Duration]int{time.Second: 5, time.Minute: 28} {
		if got := p.roundsOf(costs{measured: measured}); got != want {
			t.Errorf("%v of work: %d rounds, want %d", measured, got, want)
		}
	}
}
