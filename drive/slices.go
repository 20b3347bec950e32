package drive

import (
	"math/bits"
	"time"
)

// slices counts the work of one worker by slices of time: slice i holds the
// interval (i×length, (i+1)×length].
type slices struct {
	length time.Duration
	counts []int64
}

// newSlices makes room for the expected time; more is made when it is needed.
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

// credit counts a call of n operations that took the time from start to end.
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

// share is n×part/whole, rounded down, for 0 ≤ part ≤ whole and whole > 0. The
// product of operations and nanoseconds can be beyond 64 bits.
func share(n int64, part, whole time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(q)
}

// within is how much of a call of n operations from start to end lies in the
// interval (from, to]. One operation is divided like several: of operations as long
// as the interval, whole ones would be a count of few, or of none.
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
