package drive

import (
	"sync/atomic"
	"time"
)

// crossing is the state of one edge: who comes first claims it, and nobody waits
// for its probes but the reading of the next edge.
type crossing struct {
	claimed atomic.Bool
	at      time.Duration
	read    chan struct{}
}

// cross calls Edge for the first that comes, at a time since the start.
func (r *run) cross(e Edge, at time.Duration) {
	c := &r.edges[e]
	if !c.claimed.CompareAndSwap(false, true) {
		return
	}
	c.at = at
	defer close(c.read)
	if e == WindowEnd {
		r.phase.Store(int32(PhaseDrain))
		<-r.edges[WindowStart].read
		c.at = max(at, r.now()) // the probes of the start may have taken that long
	} else if r.from > 0 {
		r.phase.Store(int32(PhaseMeasure))
	}
	if r.load.Edge != nil {
		r.load.Edge(r.ctx, e)
	}
}

// crossedAt is the time of an edge, once all workers have ended; nil: never.
func (r *run) crossedAt(e Edge) *time.Duration {
	if !r.edges[e].claimed.Load() {
		return nil
	}
	at := r.edges[e].at
	return &at
}
