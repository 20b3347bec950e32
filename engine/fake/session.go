package fake

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"filewise"
)

// session is one connection. Its work takes virtual time: n operations at the
// build's throughput.
type session struct {
	d      *database
	phase  filewise.Phase
	worker int
	faulty bool
	closed bool
}

// Do commits n operations, transaction by transaction if the work can fail,
// else at once: the fake's own cost must not hide its callers' cost.
func (s *session) Do(ctx context.Context, first, n int64) (int64, error) {
	switch {
	case s.closed:
		return 0, errors.New("the connection is closed")
	case first < 0 || n < 0 || s.phase.Limit > 0 && n > s.phase.Limit-first:
		return 0, filewise.Errorf(filewise.CodeUsage, "use fewer rows", "operations from %d, %d of them: the limit is %d", first, n,
			s.phase.Limit)
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.d.begin()
	if freeze := s.d.e.config.Freeze; freeze != nil {
		s.d.e.clock.Advance(freeze(s.d.l, s.d.e.clock.Now()))
	}
	every := n
	if s.faulty {
		every = max(int64(s.phase.CommitEvery), 1)
	}
	for done := int64(0); done < n; done += every {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		every = min(every, n-done)
		if s.faulty {
			if f := s.d.e.faultAfter(filewise.StageMeasure, s.d.l.Name, s.d.build, s.d.done.Load()); f != nil {
				return done, f.err(filewise.StageMeasure, s.d.l.Name)
			}
		}
		s.d.e.clock.Advance(s.takes(every))
		if s.phase.Appends { // others leave no rows: their workloads check nothing here
			s.d.committed[s.worker].add(first+done, every)
		}
		committed := s.d.done.Add(every)
		if x := s.d.e.config.CheckpointEvery; x > 0 && committed-s.d.written.Load() >= x {
			s.d.write()
		}
	}
	return n, nil
}

// takes returns the virtual time that n operations need now.
func (s *session) takes(n int64) time.Duration {
	x := s.d.throughput
	if set := s.d.e.config.Settling; set > 0 && s.d.e.clock.Now().Sub(s.d.since) < set {
		x /= 2
	}
	if s.d.e.config.Turn != nil {
		x *= s.d.turn
	}
	return time.Duration(float64(n) / x * float64(time.Second))
}

// Close ends the connection. Closing again does nothing.
func (s *session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.d.sessions.Add(-1)
	return s.d.e.call(context.Background(), "disconnect", s.d.l.Name)
}

// Epoch marks when virtual time begins.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Clock is virtual time: it moves only when someone sleeps or works. It is
// safe for concurrent use. Sleeping moves it for all, as in a program of
// one thread: do not sleep on it while work runs.
type Clock struct {
	since  atomic.Int64
	bubble bool // sleeping and working are the process's
}

// NewClock returns a clock at Epoch.
func NewClock() *Clock { return &Clock{} }

// InBubble returns the clock of a testing/synctest bubble. Sleeping during work costs no time there, so the engine is
// deterministic for any number of connections.
func InBubble() *Clock { return &Clock{bubble: true} }

// Now returns the virtual time.
func (c *Clock) Now() time.Time {
	if c.bubble {
		return time.Now()
	}
	return Epoch.Add(time.Duration(c.since.Load()))
}

// Advance moves the time on; negative durations are ignored.
func (c *Clock) Advance(d time.Duration) {
	if c.bubble {
		time.Sleep(d)
	} else if d > 0 {
		c.since.Add(int64(d))
	}
}

// Sleep moves the time on by d at once, unless the context has ended.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.Advance(d)
	return nil
}
