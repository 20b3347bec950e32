package probe

import (
	"context"
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
	at       time.Time // amid the reading
	counters []filewise.Counter
	err      error
}

// Read reads all probes. A probe that fails is absent from the deltas.
func (s *Set) Read(ctx context.Context) Snapshot {
	snap := Snapshot{At: time.Now(), readings: make([]reading, len(s.probes))}
	for i, p := range s.probes {
		begin := time.Now()
		c, err := p.Read(ctx)
		snap.readings[i] = reading{probe: p.Name(), at: begin.Add(time.Since(begin) / 2), counters: c, err: err}
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

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
