package probes

import "testing"

// Every release counts its checkpoints by other columns; one that has none is not
// one that made none.
func TestCheckpointsIn(t *testing.T) {
	for name, x := range map[string]struct {
		values map[string]any
		want   float64
		ok     bool
	}{
		"15": {map[string]any{"checkpoints_timed": 3.0, "checkpoints_req": 2.0}, 5, true},
		"17": {map[string]any{"num_timed": 3.0, "num_requested": 4.0}, 7, true},
		"18": {map[string]any{"num_timed": 30.0, "num_requested": 4.0, "num_done": 5.0}, 5, true},
		"?":  {map[string]any{"num_timed": 3.0}, 0, false},
	} {
		if n, ok := checkpointsIn(x.values); n != x.want || ok != x.ok {
			t.Errorf("PostgreSQL %s: %v, %v, want %v, %v", name, n, ok, x.want, x.ok)
		}
	}
}
