package drive

import (
	"math/rand/v2"
	"sync"
	"time"

	"filewise"
)

// openLoop serves arrivals until the window ends or the work is done. Latency counts from the intended start. So a call
// that waits for a worker, because the server was slow before, counts with its wait.
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

// waitFor waits until an intended start, and crosses edges on the way. It returns false if the run ends first.
func (w *worker) waitFor(due time.Duration) bool {
	r := w.r
	for {
		now := r.now()
		if now >= w.edgeAt {
			w.crossEdges(now)
			if now >= r.to {
				w.ended = max(w.ended, now) // the end of an idle worker is part of the window
				return false
			}
			now = max(r.now(), now) // probes were read meanwhile
		}
		if now >= due {
			return true
		}
		if !w.sleep(min(due, w.edgeAt) - now) {
			return false
		}
	}
}

// sleep waits for a duration. It returns false if the run has ended. With the machine's clock it reuses the worker's
// own timer, without an allocation.
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

// serve runs the operations of one arrival, with as many tries as allowed. It returns false if the worker must end.
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
			return !r.stop.Load() // at the window's end, waitFor crosses the edge
		}
	}
}

// missed counts an arrival that no worker took before the window's end. The arrival has waited at least that long;
// leaving it out would make latencies look better.
func (t *tally) missed(r *run, due time.Duration) {
	if due < r.from || due >= r.to {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unserved++
	t.record(&r.long, r.to-due)
}

// missRest counts the remaining arrivals that no worker has taken.
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

// Values of Arrivals.
const (
	Poisson Arrivals = "poisson" // independent of each other, like many users: gaps are exponential
	Uniform Arrivals = "uniform" // at equal distances
)

// arrivals returns the intended starts, which any free worker takes in turn. They follow from the seed alone and do not
// depend on the server: a slow server delays no intended start.
type arrivals struct {
	gap float64 // mean, in nanoseconds

	mu  sync.Mutex
	rng *rand.Rand // nil means uniform
	n   int64      // number taken so far
	at  float64    // last one, if Poisson, in nanoseconds from the start
}

// newArrivals returns the arrivals of calls of n operations, at a rate of operations per second.
func newArrivals(rate float64, n int64, kind Arrivals, seed uint64) *arrivals {
	a := &arrivals{gap: float64(n) / rate * float64(time.Second)}
	if kind != Uniform {
		a.rng = rand.New(rand.NewPCG(seed, 0x6172726976616c73)) // "arrivals"
	}
	return a
}

// next returns the next intended start, counted from the start of the run.
func (a *arrivals) next() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rng != nil {
		a.at += a.gap * a.rng.ExpFloat64()
		return time.Duration(a.at)
	}
	a.n++
	return time.Duration(a.gap * float64(a.n-1)) // multiplied, not summed up, so that no error accumulates
}
