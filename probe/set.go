package probe

import (
	"context"
	"sync"
	"time"

	"filewise"
)

// Set is all probes of a trial: those of the operating system and the engine's.
type Set struct {
	probes   []filewise.Probe
	ceilings []Ceiling
	embedded bool
}

// NewSet makes a set; nil probes are left out.
func NewSet(probes ...filewise.Probe) *Set {
	s := &Set{}
	for _, p := range probes {
		if p != nil {
			s.probes = append(s.probes, p)
		}
	}
	return s
}

// Embedded says that the server is part of this process.
func (s *Set) Embedded(is bool) *Set {
	s.embedded = is
	return s
}

// Snapshot is one reading of all probes.
type Snapshot struct {
	At       time.Time // before the first probe was read
	readings []reading // by the set's order of probes
}

type reading struct {
	probe    string
	counters []filewise.Counter
	err      error
}

// Read reads all probes. A probe that fails is absent from the deltas.
func (s *Set) Read(ctx context.Context) Snapshot {
	snap := Snapshot{At: time.Now(), readings: make([]reading, len(s.probes))}
	for i, p := range s.probes {
		c, err := p.Read(ctx)
		snap.readings[i] = reading{probe: p.Name(), counters: c, err: err}
	}
	return snap
}

// Delta is how far all counters moved from a to b, and what follows from them
// (shares of the processors' time, utilisation of devices).
func (s *Set) Delta(a, b Snapshot) []filewise.Delta {
	d, _ := s.Explain(a, b)
	return d
}

// Explain is Delta with what is absent, and why.
func (s *Set) Explain(a, b Snapshot) ([]filewise.Delta, []Absence) {
	var deltas []filewise.Delta
	var absent []Absence
	for i := range min(len(a.readings), len(b.readings)) {
		before, after := a.readings[i], b.readings[i]
		if err := firstError(before.err, after.err); err != nil {
			absent = append(absent, Absence{Probe: after.probe, Reason: err.Error()})
			continue
		}
		d, gone := Deltas(after.probe, before.counters, after.counters)
		deltas, absent = append(deltas, d...), append(absent, gone...)
	}
	elapsed := b.At.Sub(a.At)
	deltas = derive(deltas, elapsed)
	deltas = append(deltas, own(deltas, s.embedded)...)
	return append(deltas, s.nearness(deltas, elapsed)...), absent
}

// The pace of samples. A look takes the server some 0.2 ms of a processor: at ten
// a second that is a fifth of the one percent that waits may cost. Where it takes
// longer, by the clock, looks are rarer; but most of that is waiting for a processor
// where the work takes all, so not much rarer.
const (
	sampleEvery  = 100 * time.Millisecond
	sampleRarest = 250 * time.Millisecond
	sampleShare  = 100 // a look takes at most one part in so many of the time, up to sampleRarest
)

// Watch has the set's samplers look now and then until stop is called or ctx
// ends. A sampler whose look fails stops looking; its counters stay as they are.
func (s *Set) Watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	for _, p := range s.probes {
		if sampler, ok := p.(filewise.Sampler); ok {
			watching.Go(func() { watch(ctx, sampler) })
		}
	}
	return func() { cancel(); watching.Wait() }
}

func watch(ctx context.Context, s filewise.Sampler) {
	pause, last := sampleEvery, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		begin := time.Now()
		if s.Sample(ctx, begin.Sub(last)) != nil {
			return
		}
		last = begin
		pause = min(max(sampleEvery, sampleShare*time.Since(begin)), sampleRarest)
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
