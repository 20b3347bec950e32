package probe

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"filewise"
)

// script is a probe that returns one reading after the other.
type script struct {
	name     string
	readings [][]filewise.Counter
	errs     []error
	next     int
}

func (s *script) Name() string { return s.name }

func (s *script) Read(context.Context) ([]filewise.Counter, error) {
	i := s.next
	s.next++
	if i < len(s.errs) && s.errs[i] != nil {
		return nil, s.errs[i]
	}
	return s.readings[i], nil
}

func cpuReading(user, idle, iowait, steal float64) []filewise.Counter {
	return []filewise.Counter{counter("user", "s", user), counter("nice", "s", 0), counter("system", "s", 0),
		counter("idle", "s", idle), counter("iowait", "s", iowait), counter("steal", "s", steal)}
}

func TestSetDelta(t *testing.T) {
	cpu := &script{name: "cpu", readings: [][]filewise.Counter{cpuReading(100, 100, 100, 100), cpuReading(160, 120, 110, 110)}}
	disk := &script{name: "disk",
		readings: [][]filewise.Counter{{counter("sda busy time", "ms", 1000), counter("sda time of all requests", "ms", 1000)},
			{counter("sda busy time", "ms", 1500), counter("sda time of all requests", "ms", 7000)}}}
	pressure := &script{name: "pressure", readings: [][]filewise.Counter{{counter("io some", "µs", 5)}, {counter("io some", "µs", 5e5+5)}}}
	broken := &script{name: "broken", readings: [][]filewise.Counter{nil, {counter("x", "B", 1)}}, errs: []error{errors.New("no rights")}}
	s := NewSet(cpu, nil, disk, pressure, broken)
	a := s.Read(t.Context())
	b := s.Read(t.Context())
	b.At = a.At.Add(2 * time.Second)
	deltas, absent := s.Explain(a, b)
	for _, want := range []filewise.Delta{
		{Probe: "cpu", Name: "user", Unit: "s", Value: 60}, {Probe: "cpu", Name: UserShare, Unit: "%", Value: 60},
		{Probe: "cpu", Name: SystemShare, Unit: "%", Value: 0}, {Probe: "cpu", Name: IdleShare, Unit: "%", Value: 20},
		{Probe: "cpu", Name: IOWaitShare, Unit: "%", Value: 10}, {Probe: "cpu", Name: StealShare, Unit: "%", Value: 10},
		{Probe: "cpu", Name: BusyShare, Unit: "%", Value: 70},
		{Probe: "disk", Name: "sda busy time", Unit: "ms", Value: 500}, {Probe: "disk", Name: "sda utilisation", Unit: "%", Value: 25},
		{Probe: "disk", Name: "sda mean queue", Unit: "requests at a time", Value: 3}, {Probe: "pressure", Name: "io some stalled share",
			Unit: "%", Value: 25},
	} {
		if got, ok := Find(deltas, want.Probe, want.Name); !ok || math.Abs(got-want.Value) > 1e-9 {
			t.Errorf("%s %s: %v (%v), want %v", want.Probe, want.Name, got, ok, want.Value)
		}
	}
	if _, ok := Find(deltas, "broken", "x"); ok {
		t.Error("a delta of a probe that could not be read at the window's start")
	}
	if len(absent) != 1 || absent[0].Probe != "broken" || !strings.Contains(absent[0].Reason, "no rights") {
		t.Errorf("absent %+v", absent)
	}
}

// iowait can go backwards (man 5 proc_stat): then the sum is unknown, and with
// it every share.
func TestNoSharesWithoutAllTimes(t *testing.T) {
	cpu := &script{name: "cpu", readings: [][]filewise.Counter{cpuReading(1, 1, 5, 0), cpuReading(9, 1, 4, 0)}}
	s := NewSet(cpu)
	deltas := s.Delta(s.Read(t.Context()), s.Read(t.Context()))
	if v, ok := Find(deltas, "cpu", BusyShare); ok {
		t.Errorf("busy share %v", v)
	}
	if v, ok := Find(deltas, "cpu", "user"); !ok || v != 8 {
		t.Errorf("user %v, %v", v, ok)
	}
	if w := Warnings(deltas); len(w) > 0 {
		t.Errorf("warnings %v", w)
	}
}

func TestWarnings(t *testing.T) {
	share := func(name string, v float64) filewise.Delta {
		return filewise.Delta{Probe: "cpu", Name: name, Unit: "%", Value: v}
	}
	tests := []struct {
		name   string
		deltas []filewise.Delta
		codes  string
	}{
		{"nothing known", nil, ""},
		{"at the limits", []filewise.Delta{share(BusyShare, 85), share(StealShare, 5)}, ""},
		{"busy", []filewise.Delta{share(BusyShare, 99), share(StealShare, 0)}, ""},
		{"stolen", []filewise.Delta{share(BusyShare, 40), share(StealShare, 5.1)}, WarnNeighbour},
		{"both", []filewise.Delta{share(BusyShare, 99), share(StealShare, 20)}, WarnNeighbour},
		{"another probe's", []filewise.Delta{{Probe: "disk", Name: BusyShare, Value: 99}}, ""},
	}
	for _, tt := range tests {
		var codes []string
		for _, w := range Warnings(tt.deltas) {
			codes = append(codes, w.Code)
			if w.Message == "" || w.Remedy == "" {
				t.Errorf("%s: %+v", tt.name, w)
			}
		}
		if got := strings.Join(codes, " "); got != tt.codes {
			t.Errorf("%s: warnings %q, want %q", tt.name, got, tt.codes)
		}
	}
}

// On the real machine: what this test writes is in the deltas.
func TestSystem(t *testing.T) {
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skip("no /proc/self/io here: ", err)
	}
	dir := t.TempDir()
	s := NewSet(System([]filewise.Volume{{Name: "main", Dir: dir}})...)
	a := s.Read(t.Context())
	const bytes = 1 << 20
	if err := os.WriteFile(dir+"/f", make([]byte, bytes), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.probes {
		if looks, ok := p.(filewise.Sampler); ok {
			if err := looks.Sample(t.Context(), time.Second); err != nil {
				t.Error(err)
			}
		}
	}
	b := s.Read(t.Context())
	deltas, absent := s.Explain(a, b)
	for _, name := range []string{MemoryTotal, MemoryCached} {
		if v, ok := Find(deltas, ProbeMemory, name); !ok || v < bytes {
			t.Errorf("memory, %s: %v, %v", name, v, ok)
		}
	}
	if v, ok := Find(deltas, "process", "bytes written by calls"); !ok || v < bytes {
		t.Errorf("%v bytes written, %v; deltas %v, absent %v", v, ok, deltas, absent)
	}
	if _, ok := Find(deltas, "process", "user"); !ok {
		t.Errorf("no CPU time of this process: %v", deltas)
	}
	if _, ok := Find(deltas, "cpu", "idle"); !ok {
		t.Errorf("no times of the processors: %v, absent %v", deltas, absent)
	}
}

func TestSystemWithoutDevice(t *testing.T) {
	s := NewSet(System([]filewise.Volume{{Name: "none", Dir: "/proc"}, {Name: "gone", Dir: "/no/such/directory"}})...)
	_, absent := s.Explain(s.Read(t.Context()), s.Read(t.Context()))
	found := false
	for _, a := range absent {
		found = found || a.Probe == "disk" && strings.Contains(a.Reason, "no block device")
	}
	if !found {
		t.Errorf("absent %+v", absent)
	}
}

func TestReadAfterCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := NewSet(System(nil)...)
	deltas, absent := s.Explain(s.Read(ctx), s.Read(ctx))
	if len(deltas) > 0 || len(absent) != 6 {
		t.Errorf("deltas %v, absent %v", deltas, absent)
	}
}

func BenchmarkRead(b *testing.B) {
	s := NewSet(System([]filewise.Volume{{Name: "main", Dir: b.TempDir()}})...)
	for b.Loop() {
		s.Read(b.Context())
	}
}
