package probe

import (
	"math"
	"testing"
	"time"

	"filewise"
)

func TestNearnessToTheStoragesLimit(t *testing.T) {
	s := NewSet().Under([]Ceiling{{Volume: "fast", Device: "sda", ReadBytes: 100, Reads: 10, WriteBytes: 200, Writes: 10},
		{Volume: "elsewhere", Device: "sdb", ReadBytes: 1, Reads: 1, WriteBytes: 1, Writes: 1}, {Volume: "none", Device: "sda"}})
	d := func(name string, v float64) filewise.Delta {
		return filewise.Delta{Probe: "disk", Name: name, Value: v}
	}
	deltas := []filewise.Delta{d("sda bytes read", 20), d("sda reads", 8), d("sda bytes written", 200), d("sda writes", 2)}
	got := s.nearness(deltas, 2*time.Second) // reads: 4 of 10 requests/s; writes: 100 of 200 B/s
	if len(got) != 1 || got[0].Name != "fast"+filewise.StorageShare || math.Abs(got[0].Value-90) > 1e-9 {
		t.Errorf("%+v, want 90 %% of fast alone", got)
	}
}
