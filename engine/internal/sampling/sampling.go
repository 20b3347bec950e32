// Package sampling estimates wait times from samples of what sessions wait for, for servers that do not sum their waits
// themselves.
package sampling

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"filewise"
)

// Event is something that sessions or server processes wait for.
type Event struct {
	Name       string
	Class      filewise.WaitClass
	Background bool // a process of the server's own waits, and no session waits for that process
}

// Seen counts the waiting sessions or processes per event in one sample.
type Seen map[Event]int // number of waiters

// patience limits the duration of one sample.
const patience = 5 * time.Second

// Sampler sums the waits that its samples see. Each sample covers the time since the one before. A reading extends the
// latest sample to the moment of the reading. It implements filewise.Sampler.
type Sampler struct {
	look func(context.Context) (Seen, error)
	now  func() time.Time

	mu       sync.Mutex
	latest   Seen
	at       time.Time     // the sums are complete until then
	since    time.Duration // the time that the latest sample covers
	early    time.Duration // the part already added after the latest sample
	seconds  map[Event]float64
	looks    int
	failures int
	why      error // the latest failure
	reported [2]int
}

// New returns a sampler that samples with look. A sample has 5 s, and the end of a window does not interrupt it, so
// that its connection stays usable.
func New(look func(context.Context) (Seen, error)) *Sampler {
	return &Sampler{look: look, now: time.Now, seconds: make(map[Event]float64)}
}

// Name returns the probe's name.
func (s *Sampler) Name() string { return filewise.ProbeWaits }

// Sample takes one sample, which covers the time since.
func (s *Sampler) Sample(ctx context.Context, since time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	seen, err := s.look(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failures++
		s.why = err
		return err
	}
	s.looks++
	s.latest, s.at, s.since = seen, s.now(), since
	s.add(max(since-s.early, 0))
	s.early = 0
	return nil
}

func (s *Sampler) add(d time.Duration) {
	for e, n := range s.latest {
		s.seconds[e] += float64(n) * d.Seconds()
	}
}

// upToNow adds the latest sample for the time since it was taken. If samples are few, that time is a large part of a
// window. A sample is never extended by more than the time that it covers.
func (s *Sampler) upToNow() {
	now := s.now()
	if d := min(now.Sub(s.at), s.since-s.early); s.latest != nil && d > 0 {
		s.add(d)
		s.at, s.early = now, s.early+d
	}
}

// Read returns the waiting time of every event of sessions, and the number of samples. It returns an error if a sample
// failed since the last reading, because the sums then have a gap.
func (s *Sampler) Read(context.Context) ([]filewise.Counter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.upToNow()
	all, err := s.counters(0, false)
	if err != nil {
		return nil, err
	}
	return append(all, filewise.Counter{Name: "looks", Unit: "looks", Value: float64(s.looks)}), nil
}

// counters returns the counters of sessions or of the background, in the order of their names.
func (s *Sampler) counters(reader int, background bool) ([]filewise.Counter, error) {
	if s.reported[reader] != s.failures {
		s.reported[reader] = s.failures
		return nil, fmt.Errorf("looking at what is waited for: %w", s.why)
	}
	var all []filewise.Counter
	for _, e := range slices.SortedFunc(maps.Keys(s.seconds), func(a, b Event) int { return cmp.Compare(a.Name, b.Name) }) {
		if e.Background == background {
			all = append(all, filewise.Counter{Name: e.Name, Unit: "s", Value: s.seconds[e], Class: e.Class})
		}
	}
	return all, nil
}

// Background returns the probe for the server's own processes: the waiting time of every event.
func (s *Sampler) Background() filewise.Probe {
	return filewise.ProbeOf(filewise.ProbeBackground, func(context.Context) ([]filewise.Counter, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.upToNow()
		return s.counters(1, true)
	})
}
