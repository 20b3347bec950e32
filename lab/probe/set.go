package probe

import (
	"context"
	"math"
	"time"

	"filewise"
)

// Set holds all probes of a trial: the operating system's and the engine's.
type Set struct {
	probes   []filewise.Probe
	ceilings []Ceiling
	embedded bool
}

// NewSet returns a set of the probes that are not nil.
func NewSet(probes ...filewise.Probe) *Set {
	s := &Set{}
	for _, p := range probes {
		if p != nil {
			s.probes = append(s.probes, p)
		}
	}
	return s
}

// Embedded sets whether the server is part of this process.
func (s *Set) Embedded(is bool) *Set {
	s.embedded = is
	return s
}

// Snapshot is one reading of all probes.
type Snapshot struct {
	At       time.Time // before the first probe was read
	readings []reading // in the set's order of probes
}

type reading struct {
	probe    string
	at       time.Time // middle of the reading
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

// Delta returns the changes of all counters from a to b, and the values that follow from them, such as shares of CPU
// time and the utilisation of devices.
func (s *Set) Delta(a, b Snapshot) []filewise.Delta {
	d, _ := s.Explain(a, b)
	return d
}

// Explain returns what Delta returns, and the absent counters with their reasons.
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

// Window describes the work between two readings.
type Window struct {
	From, To time.Time
	// Ends holds the times at which each session's work ended. Most are after To, because a call that began in the window
	// is completed.
	Ends []time.Time
}

// offWindow is the smallest relative difference from the window at which waits are scaled.
const offWindow = 0.03

// Within returns Delta for a window. A probe may be read late at an edge. Sessions then worked noticeably longer or
// shorter between its two readings than the window lasts. If so, their waits are scaled to the window, because waits
// are shares of its time. Amounts are not scaled: if reading is late, the machine is held up, and so is the work. Bytes
// of log per row should be the same in all trials. They differed by 4.7 % as read, and by 5.8 % when scaled.
func (s *Set) Within(a, b Snapshot, w Window) []filewise.Delta {
	deltas := s.Delta(a, b)
	factors := make(map[string]float64, len(a.readings))
	for i := range min(len(a.readings), len(b.readings)) {
		factors[a.readings[i].probe] = w.factor(a.readings[i].at, b.readings[i].at)
	}
	for i, d := range deltas {
		if f, ok := factors[d.Probe]; ok && d.Class != "" && d.Unit == "s" {
			deltas[i].Value *= f
		}
	}
	return deltas
}

// factor returns the window's length divided by how long the sessions worked on average between two readings. It
// returns 1 if the two hardly differ, or differ so much that a factor is meaningless.
func (w Window) factor(a, b time.Time) float64 {
	if a.Before(w.From) {
		a = w.From
	}
	var worked time.Duration
	for _, end := range w.Ends {
		if end.Before(w.To) { // it waited for its next commit
			end = w.To
		}
		if end.After(b) {
			end = b
		}
		worked += max(end.Sub(a), 0)
	}
	f := float64(w.To.Sub(w.From)) * float64(len(w.Ends)) / float64(worked)
	if worked <= 0 || math.Abs(f-1) <= offWindow || f > 2 || f < 0.5 {
		return 1
	}
	return f
}
