package drive

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// slices counts work by slices of time. Slice i holds the interval (i×length, (i+1)×length].
type slices struct {
	length time.Duration
	counts []int64
}

// newSlices allocates slices for the expected time. They grow if needed.
func newSlices(length, expected time.Duration) slices {
	return slices{length: length, counts: make([]int64, expected/length+2)}
}

func (s *slices) index(at time.Duration) int {
	if at <= 0 {
		return 0
	}
	return int((at - 1) / s.length)
}

func (s *slices) add(i int, n int64) {
	if i >= len(s.counts) {
		s.grow(i)
	}
	s.counts[i] += n
}

func (s *slices) grow(i int) {
	grown := make([]int64, max(2*len(s.counts), i+1))
	copy(grown, s.counts)
	s.counts = grown
}

// credit counts a call of n operations that lasted from start to end.
func (s *slices) credit(start, end time.Duration, n int64) {
	last := s.index(end)
	if n <= 1 || end <= start {
		s.add(last, n)
		return
	}
	var before int64
	for i := s.index(start + 1); i < last; i++ {
		upTo := share(n, time.Duration(i+1)*s.length-start, end-start)
		s.add(i, upTo-before)
		before = upTo
	}
	s.add(last, n-before)
}

// share returns n×part/whole, rounded down, for 0 ≤ part ≤ whole and whole > 0. The product of operations and
// nanoseconds can exceed 64 bits.
func share(n int64, part, whole time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(q)
}

// within returns the part of a call of n operations from start to end that lies in the interval (from, to]. A single
// operation is divided too. If operations are as long as the interval, whole ones would make a count of few, or of
// none.
func within(start, end time.Duration, n int64, from, to time.Duration) float64 {
	if end <= start {
		if end > from && end <= to {
			return float64(n)
		}
		return 0
	}
	overlap := min(end, to) - max(start, from)
	if overlap <= 0 {
		return 0
	}
	return float64(n) * float64(overlap) / float64(end-start)
}

// crossing is the state of one edge. The first worker to reach the edge claims it. Only the reading of the next edge
// waits for its probes.
type crossing struct {
	claimed atomic.Bool
	at      time.Duration
	read    chan struct{}
}

// cross calls Edge for the first worker that reaches the edge. At is the time since the start.
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
		c.at = max(at, r.now()) // reading probes at the start may have taken that long
	} else if r.from > 0 {
		r.phase.Store(int32(PhaseMeasure))
	}
	if r.load.Edge != nil {
		r.load.Edge(r.ctx, e)
	}
}

// crossedAt returns the time of an edge, after all workers have ended. Nil means it was never crossed.
func (r *run) crossedAt(e Edge) *time.Duration {
	if !r.edges[e].claimed.Load() {
		return nil
	}
	at := r.edges[e].at
	return &at
}
