package probe

import (
	"math"
	"testing"
	"time"

	"filewise"
)

// What was read late covers another time than the window: it is made the window's.
func TestWithin(t *testing.T) {
	start := time.Now()
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	w := Window{From: at(1), To: at(2), Ends: []time.Time{at(2.2), at(1.9)}} // the second waited for its commit
	for _, x := range []struct {
		name       string
		a, b, want float64
	}{
		{"in time", 1, 2, 100},
		{"hardly late", 1.01, 2.02, 100},
		{"late at the start", 1.2, 2, 125},
		{"late at the end: one has ended", 1, 2.4, 100 / 1.1},
		{"before the work began", 0.5, 2, 100},
		{"of another time", 2.3, 2.4, 100},
		{"hardly anything of it", 1.7, 2, 100},
	} {
		waits := &script{name: filewise.ProbeWaits, readings: [][]filewise.Counter{{counter("looks", "looks", 0)},
			{counter("looks", "looks", 100), {Name: "write lock", Unit: "s", Value: 100, Class: filewise.WaitLock}}}}
		disk := &script{name: "disk", readings: [][]filewise.Counter{{counter("sda bytes written", "B", 0)},
			{counter("sda bytes written", "B", 100)}}}
		cpu := &script{name: "cpu", readings: [][]filewise.Counter{cpuReading(0, 0, 0, 0), cpuReading(100, 100, 0, 0)}}
		s := NewSet(waits, cpu, disk)
		a, b := s.Read(t.Context()), s.Read(t.Context())
		for i := range a.readings {
			a.readings[i].at, b.readings[i].at = at(x.a), at(x.b)
		}
		deltas := s.Within(a, b, w)
		for _, want := range []struct {
			probe, name string
			value       float64
		}{
			{filewise.ProbeWaits, "write lock", x.want}, {filewise.ProbeWaits, "looks", 100},
			{"cpu", "user", 100}, {"cpu", BusyShare, 50}, {"disk", "sda bytes written", 100},
		} {
			if got, ok := Find(deltas, want.probe, want.name); !ok || math.Abs(got-want.value) > 1e-6 {
				t.Errorf("%s: %s %v (%v), want %v", x.name, want.name, got, ok, want.value)
			}
		}
	}
}
