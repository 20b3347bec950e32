// Package sampling makes waits of what sessions are seen to wait for at the moment,
// for servers that do not add their waits up themselves.
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

// Event is something that is waited for.
type Event struct {
	Name       string
	Class      filewise.WaitClass
	Background bool // by a process of the server's own, for which no session waits
}

// Seen holds what one look saw.
type Seen map[Event]int // how many wait

// patience bounds one look.
const patience = 5 * time.Second

// Sampler adds up what its looks see: each stands for the time since the one
// before, and the latest, at a reading, for the time until then. It implements
// filewise.Sampler.
type Sampler struct {
	look func(context.Context) (Seen, error)
	now  func() time.Time

	mu       sync.Mutex
	latest   Seen
	at       time.Time     // until when all is added up
	since    time.Duration // that the latest look stood for
	early    time.Duration // added up since it
	seconds  map[Event]float64
	looks    int
	failures int
	why      error // of the last failure
	told     [2]int
}

// New makes a sampler. A look is never cut short by the end of a window, so that
// its connection stays usable; it has 5 s.
func New(look func(context.Context) (Seen, error)) *Sampler {
	return &Sampler{look: look, now: time.Now, seconds: make(map[Event]float64)}
}

// Name returns the probe's name.
func (s *Sampler) Name() string { return filewise.ProbeWaits }

// Sample looks once.
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

// upToNow adds what the latest look saw until now: if looks are few, the time from
// it to the edge of a window is much of it. It covers nothing for longer than it
// stood for.
func (s *Sampler) upToNow() {
	now := s.now()
	if d := min(now.Sub(s.at), s.since-s.early); s.latest != nil && d > 0 {
		s.add(d)
		s.at, s.early = now, s.early+d
	}
}

// Read returns the time of every event that sessions were seen to wait for, and
// the number of looks. A look that failed since the reading before is an error: the
// sums have a hole.
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
	if s.told[reader] != s.failures {
		s.told[reader] = s.failures
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

// Background returns the probe of what the server's own processes were seen to wait for: the time of every event.
func (s *Sampler) Background() filewise.Probe {
	return filewise.ProbeOf(filewise.ProbeBackground, func(context.Context) ([]filewise.Counter, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.upToNow()
		return s.counters(1, true)
	})
}
