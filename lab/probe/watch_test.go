package probe

import (
	"context"
	"errors"
	"testing"
	"time"

	"filewise"
)

// looker is a sampler that counts its looks, and fails at the last.
type looker struct {
	script
	looks chan time.Duration
	last  int
}

func (l *looker) Sample(_ context.Context, since time.Duration) error {
	l.looks <- since
	if l.last--; l.last == 0 {
		return errors.New("no rights any more")
	}
	return nil
}

// Samplers look until they are stopped, or fail.
func TestWatch(t *testing.T) {
	ends, goesOn := &looker{looks: make(chan time.Duration, 1000), last: 2}, &looker{looks: make(chan time.Duration, 1000)}
	stop := NewSet(ends, goesOn, &script{name: "no sampler"}).Watch(t.Context(), time.Second)
	for range 4 {
		if since := <-goesOn.looks; since <= 0 {
			t.Errorf("a look stands for %v", since)
		}
	}
	stop()
	if n := len(ends.looks); n != 2 {
		t.Errorf("%d looks, want 2: it failed at the second", n)
	}
	looked := len(goesOn.looks)
	stop()
	if len(goesOn.looks) != looked {
		t.Error("it looks on after it was stopped")
	}
}

// A short window gets as many looks as they may cost, a long one ten a second.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	for _, x := range []struct {
		window       time.Duration
		took         []time.Duration
		first, pause time.Duration
	}{
		{time.Second, []time.Duration{ms / 20}, 20 * ms, 20 * ms},
		{2 * time.Second, []time.Duration{ms / 20}, 40 * ms, 40 * ms},
		{30 * time.Second, []time.Duration{ms / 20}, 100 * ms, 100 * ms},
		{0, []time.Duration{ms / 20}, 100 * ms, 100 * ms},
		{time.Second, []time.Duration{ms / 8}, 20 * ms, 50 * ms},                                   // 1 % of one core
		{time.Second, []time.Duration{ms / 8, 30 * ms, 40 * ms}, 20 * ms, 50 * ms},                 // they had to wait for a processor
		{time.Second, []time.Duration{ms / 20, ms, ms, ms, ms, ms, ms, ms, ms}, 20 * ms, 400 * ms}, // it costs more than at first
		{time.Second, []time.Duration{30 * ms}, 20 * ms, 100 * ms},                                 // it may have waited
		{time.Second, []time.Duration{30 * ms, 40 * ms}, 20 * ms, 100 * ms},                        // or both
		{time.Second, []time.Duration{30 * ms, 40 * ms, ms}, 20 * ms, 400 * ms},                    // and that is short for a window
		{30 * time.Second, []time.Duration{30 * ms, 30 * ms, 30 * ms}, 100 * ms, 1000 * ms},
		{0, []time.Duration{30 * ms, 30 * ms, 30 * ms}, 100 * ms, 1000 * ms},
	} {
		p := &pace{window: x.window}
		first := p.first()
		var pause time.Duration
		for _, took := range x.took {
			pause = p.next(took)
		}
		if first != x.first || pause != x.pause {
			t.Errorf("window %v, looks of %v: pauses %v, %v, want %v, %v", x.window, x.took, first, pause, x.first, x.pause)
		}
	}
}

// What the system has becomes means over the looks; what it does not have is absent, and so is all if there were no
// looks.
func TestMemory(t *testing.T) {
	const gib = 1 << 30
	readings := []map[string]float64{{MemoryTotal: 8 * gib, MemoryDirty: 0}, {MemoryTotal: 8 * gib, MemoryDirty: 100},
		{MemoryTotal: 8 * gib, MemoryDirty: 400}}
	at := 0
	m := &memory{limit: 4 * gib, sums: map[string]float64{},
		read: func() (map[string]float64, error) { at++; return readings[min(at, 3)-1], nil }}
	s := NewSet(m)
	a := s.Read(t.Context())
	if d := s.Delta(a, s.Read(t.Context())); len(d) > 0 {
		t.Errorf("without a look: %v", d)
	}
	for _, since := range []time.Duration{time.Second, 2 * time.Second} {
		if err := m.Sample(t.Context(), since); err != nil {
			t.Fatal(err)
		}
	}
	deltas := s.Delta(a, s.Read(t.Context()))
	want := map[string]float64{MemoryTotal: 4 * gib, MemoryDirty: 300}
	for name, v := range want {
		if got, ok := Find(deltas, ProbeMemory, name); !ok || got != v {
			t.Errorf("%s: %v (%v), want %v", name, got, ok, v)
		}
	}
	if len(deltas) != len(want) {
		t.Errorf("%v", deltas)
	}
	for _, d := range deltas {
		if d.Unit != "B" || !IsMean(d) {
			t.Errorf("%+v", d)
		}
	}
	m = &memory{read: func() (map[string]float64, error) { return nil, errors.New("no such file") }}
	if _, err := m.Read(t.Context()); err == nil {
		t.Error("a system that tells nothing is no error")
	}
	var _ filewise.Sampler = m
}
