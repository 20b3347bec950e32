package drive

import (
	"math/rand/v2"
	"sync"
	"time"

	"filewise"
)

// openLoop serves arrivals until the window ends or the work is done. Latency counts from the
// intended start: what waits for a worker, because the server was slow before,
// has waited.
func (w *worker) openLoop() {
	for !w.r.stop.Load() && w.done.Load() < w.ops {
		due := w.arrivals.next()
		if !w.waitFor(due) {
			if !w.r.stop.Load() {
				w.tally.missed(w.r, due)
			}
			return
		}
		if !w.serve(due) {
			return
		}
	}
}

// waitFor waits until an intended start, and crosses the edges on the way. False means the run is over before.
func (w *worker) waitFor(due time.Duration) bool {
	r := w.r
	for {
		now := r.now()
		if now >= w.edgeAt {
			w.crossEdges(now)
			if now >= r.to {
				w.ended = max(w.ended, now) // an idle end is a part of the window
				return false
			}
			now = max(r.now(), now) // probes were read in between
		}
		if now >= due {
			return true
		}
		if !w.sleep(min(due, w.edgeAt) - now) {
			return false
		}
	}
}

// sleep waits. False means the run has ended. A timer of the worker's own serves the machine's clock, without an
// allocation.
func (w *worker) sleep(d time.Duration) bool {
	if _, machine := w.r.load.Clock.(filewise.RealClock); !machine {
		return w.r.load.Clock.Sleep(w.r.ctx, d) == nil && !w.r.stop.Load()
	}
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	select {
	case <-w.timer.C:
		return true
	case <-w.r.halted:
		w.timer.Stop()
		return false
	}
}

// serve does the operations of one arrival, in as many tries as are allowed. False means the worker has to end.
func (w *worker) serve(due time.Duration) bool {
	r := w.r
	w.due = due
	start := r.now()
	for left := min(w.chunk, w.ops-w.done.Load()); ; {
		committed, err := w.session.Do(r.ctx, w.done.Load(), left)
		end := max(r.now(), start)
		if !w.account(start, end, left, committed, err) {
			return false
		}
		if err == nil {
			return true
		}
		left -= committed
		w.ended = max(r.now(), end)
		if left == 0 || r.stop.Load() || w.ended >= r.to {
			return !r.stop.Load() // at the window's end, waitFor crosses it
		}
	}
}

// missed counts an arrival that no worker came to before the window's end: it has
// waited at least that long, and leaving it out would flatter the latencies.
func (t *tally) missed(r *run, due time.Duration) {
	if due < r.from || due >= r.to {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unserved++
	t.record(&r.long, r.to-due)
}

// missRest counts the arrivals that no worker has taken.
func (r *run) missRest() {
	cut := time.Duration(r.cut.Load())
	if r.arrivals == nil || r.stop.Load() && cut == 0 {
		return
	}
	if cut > 0 { // all workers have ended
		r.to = min(r.to, cut)
	}
	for due := r.arrivals.next(); due < r.to; due = r.arrivals.next() {
		r.tallies[0].missed(r, due)
	}
}

// Arrivals is the distribution of the intended starts of an open loop.
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
	rng *rand.Rand // nil means uniform
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
