package drive

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Arrivals says how the intended starts of an open loop follow each other.
type Arrivals string

// The kinds of arrivals.
const (
	Poisson Arrivals = "poisson" // independent of each other, as of many users: gaps are exponential
	Uniform Arrivals = "uniform" // at equal distances
)

// arrivals are the intended starts, which any free worker takes in turn. They
// follow from the seed alone, and are fixed before anything is known of the
// server: that it is slow delays no intended start.
type arrivals struct {
	gap float64 // mean, in nanoseconds

	mu  sync.Mutex
	rng *rand.Rand // nil: uniform
	n   int64      // taken so far
	at  float64    // the last one, of Poisson's, in nanoseconds from the start
}

// newArrivals are calls of n operations, at a rate of operations per second.
func newArrivals(rate float64, n int64, kind Arrivals, seed uint64) *arrivals {
	a := &arrivals{gap: float64(n) / rate * float64(time.Second)}
	if kind != Uniform {
		a.rng = rand.New(rand.NewPCG(seed, 0x6172726976616c73)) // "arrivals"
	}
	return a
}

// next is the next intended start, from the start of the run.
func (a *arrivals) next() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rng != nil {
		a.at += a.gap * a.rng.ExpFloat64()
		return time.Duration(a.at)
	}
	a.n++
	return time.Duration(a.gap * float64(a.n-1)) // not summed up: no error accumulates
}
