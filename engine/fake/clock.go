package fake

import (
	"context"
	"sync/atomic"
	"time"
)

// Epoch is when virtual time begins.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Clock is virtual time: it moves only when somebody sleeps or works. It is
// safe for concurrent use. Sleeping moves it for everybody, as in a program of
// one thread: do not sleep on it beside work.
type Clock struct {
	since  atomic.Int64
	bubble bool // sleeping and working is that of the process
}

// NewClock is a clock at Epoch.
func NewClock() *Clock { return &Clock{} }

// InBubble is the time of a bubble of testing/synctest, in which sleeping beside work is
// no matter, so that it is deterministic for any number of connections.
func InBubble() *Clock { return &Clock{bubble: true} }

// Now is the virtual time.
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
