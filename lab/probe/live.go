package probe

import (
	"context"
	"sync"
	"time"

	"filewise"
)

// Live reads a set of probes at the edges of a window, and lets a display look at the counters in between. Looks cost
// the measured server something. So they are rare and not close to the window's end; without a viewer there are none.
// Live is safe for concurrent use.
type Live struct {
	set    *Set
	window time.Duration // planned. 0 means not known

	mu     sync.Mutex // held while the probes are read
	start  *Snapshot
	closed bool
	took   time.Duration // duration of the last look
	looked time.Time     // end of the last look
	last   []filewise.Delta
	since  time.Duration // time from the window's start to the last look
}

// NewLive returns a Live for a window of a planned length. 0 means not known.
func NewLive(set *Set, window time.Duration) *Live { return &Live{set: set, window: window} }

// Pace of looks: at most one per second, and at most 1 % of the time.
const (
	lookEvery = time.Second
	lookShare = 100
	lookClear = 250 * time.Millisecond // distance from the window's planned end
	lookMost  = 2 * time.Second        // after this a look is given up
)

// Edge reads the set. The first call opens the window, the second call closes it. It waits for a look that is in
// progress.
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

// Close ends all looks, even if the window was never closed.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// Deltas returns the changes since the window's start, and the time of the latest look. The call itself looks if a look
// is due. It returns false if there is no look yet.
func (l *Live) Deltas(ctx context.Context) (deltas []filewise.Delta, since time.Duration, ok bool) {
	if !l.mu.TryLock() { // another call is reading; the next call gets the result
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

// due reports whether a look is due: not too soon after the last one, and not too near the window's end.
func (l *Live) due(now time.Time) bool {
	if l.start == nil || l.closed || now.Sub(l.looked) < max(lookEvery, lookShare*l.took) {
		return false
	}
	left := l.window - now.Sub(l.start.At)
	return l.window == 0 || left > max(lookClear, 2*l.took)
}
