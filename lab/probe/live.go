package probe

import (
	"context"
	"sync"
	"time"

	"filewise"
)

// Live reads a set at the edges of a window and lets a display look at the counters in between. Looks cost the
// measured server something, so they are rare and short of the window's end; without a viewer there is no cost. It is
// safe for concurrent use.
type Live struct {
	set    *Set
	window time.Duration // planned. 0 means not known

	mu     sync.Mutex // held while the probes are read
	start  *Snapshot
	closed bool
	took   time.Duration // of the last look
	looked time.Time     // when it ended
	last   []filewise.Delta
	since  time.Duration // from the window's start to the last look
}

// NewLive makes one for a window of a planned length. 0 means not known.
func NewLive(set *Set, window time.Duration) *Live { return &Live{set: set, window: window} }

// The pace of looks: at most one a second and one part in a hundred of the time.
const (
	lookEvery = time.Second
	lookShare = 100
	lookClear = 250 * time.Millisecond // of the window's planned end
	lookMost  = 2 * time.Second        // after which a look is given up
)

// Edge reads the set: the first call opens the window, the second closes it. It
// waits for a look that is under way.
func (l *Live) Edge(ctx context.Context) Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.set.Read(ctx)
	if l.start == nil {
		l.start = &s
	} else {
		l.closed = true
	}
	return s
}

// Close ends all looking, also at a window that was never closed.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// Deltas returns the counters' changes since the window's start, and the moment of the latest look; this call looks
// when it is time to. ok is false when there was none.
func (l *Live) Deltas(ctx context.Context) (deltas []filewise.Delta, since time.Duration, ok bool) {
	if !l.mu.TryLock() { // another call is reading; the next one has the result
		return nil, 0, false
	}
	defer l.mu.Unlock()
	if now := time.Now(); l.due(now) {
		ctx, cancel := context.WithTimeout(ctx, lookMost)
		defer cancel()
		s := l.set.Read(ctx)
		l.looked = time.Now()
		l.took = l.looked.Sub(now)
		l.last, l.since = l.set.Delta(*l.start, s), s.At.Sub(l.start.At)
	}
	return l.last, l.since, l.last != nil
}

// due reports whether a look now would neither come too often nor too near the end.
func (l *Live) due(now time.Time) bool {
	if l.start == nil || l.closed || now.Sub(l.looked) < max(lookEvery, lookShare*l.took) {
		return false
	}
	left := l.window - now.Sub(l.start.At)
	return l.window == 0 || left > max(lookClear, 2*l.took)
}
