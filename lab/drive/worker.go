package drive

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"filewise"
)

// worker drives one session. Only its own goroutine writes to it; while it runs, others read only done. The padding
// keeps the counters of two workers out of one cache line (and out of the pair of lines that processors fetch
// together).
type worker struct {
	_       [128]byte
	done    atomic.Int64 // operations committed
	r       *run
	index   int
	session filewise.Session
	ops     int64 // operations to do
	chunk   int64
	edge    Edge // the next edge
	edgeAt  time.Duration
	tally   *tally
	retry   retry
	// Open loop (arrivals is nil in a closed loop): the arrivals to serve, and the intended start of the present call.
	arrivals *arrivals
	due      time.Duration
	timer    *time.Timer   // created with the first pause
	work     float64       // within the window
	ended    time.Duration // end of the last call
	commit   time.Duration // end of the last call that committed something
	_        [128]byte
}

func newWorker(r *run, i int) *worker {
	w := &worker{r: r, index: r.load.First + i, session: r.load.Sessions[i], ops: math.MaxInt64,
		chunk: r.load.Chunk, tally: r.tallies[i%len(r.tallies)], arrivals: r.arrivals}
	if r.load.Window == 0 {
		w.ops = r.load.Ops[i]
	}
	if w.chunk == 0 {
		w.chunk = r.load.Multiple
	}
	if l := r.load; l.Rate > 0 && l.Window == 0 {
		w.arrivals = newArrivals(l.Rate/float64(len(l.Sessions)), w.chunk, l.Arrivals, l.Seed+uint64(w.index))
	}
	return w
}

// run works until the end. It reports a panic, or an exit of the goroutine, as a failure.
func (w *worker) run() {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			w.fail(fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack()))
		} else if !returned {
			w.fail(fmt.Errorf("%w: the session ended its goroutine", ErrPanic))
		}
	}()
	w.setEdge(WindowStart)
	if w.r.from == 0 {
		w.setEdge(WindowEnd)
	}
	if w.arrivals != nil {
		w.openLoop()
	} else {
		w.loop()
	}
	returned = true
}

// loop is the closed loop: the next call starts when the last has ended. It reads the clock once per call.
func (w *worker) loop() {
	r := w.r
	prev := r.now()
	for !r.stop.Load() {
		n := min(w.chunk, w.ops-w.done.Load())
		if n <= 0 {
			return
		}
		if r.load.Pause != nil && w.retry.tries == 0 {
			if !w.waitFor(prev + r.load.Pause(w.index, w.done.Load())) {
				return
			}
			prev = r.now()
		}
		committed, err := w.session.Do(r.ctx, w.done.Load(), n)
		now := max(r.now(), prev)
		if !w.account(prev, now, n, committed, err) {
			return
		}
		if err != nil { // it is retried: the time counts for the retry
			if committed > 0 {
				prev = now
			}
			w.ended = max(r.now(), now)
			if paused := w.ended; paused >= w.edgeAt {
				w.crossEdges(paused)
				if paused >= r.to {
					return
				}
			}
			continue
		}
		if r.load.Chunk == 0 {
			w.chunk = nextChunk(n, now-prev, r.load.Multiple)
		}
		if now >= w.edgeAt {
			w.crossEdges(now)
			if now >= r.to {
				return
			}
			now = max(r.now(), now) // probes were read meanwhile
		}
		prev = now
	}
}

// account counts a call. It returns false if the worker must end.
func (w *worker) account(start, end time.Duration, n, committed int64, err error) bool {
	kind := w.typeOf(w.done.Load())
	if committed < 0 || committed > n {
		w.fail(fmt.Errorf("%w: %d of %d operations committed: %w", ErrContract, committed, n, orUnknown(err)))
		return false
	}
	w.ended = end
	if committed > 0 {
		w.done.Store(w.done.Load() + committed)
		w.commit = end
	}
	// A failure that committed nothing has no latency: the latency of its operation ends when it succeeds.
	timed, since, work := end > w.r.from && start < w.r.to, start, 0.0
	if timed {
		work = within(start, end, committed, w.r.from, w.r.to)
		w.work += work
	}
	if w.arrivals != nil {
		timed, since = w.due >= w.r.from && w.due < w.r.to, w.due
	}
	w.tally.call(w.r, span{start, end, since}, committed, timed && (committed > 0 || err == nil), part{kind, work})
	switch {
	case err == nil && committed < n:
		w.fail(fmt.Errorf("%w: only %d of %d operations committed, without an error", ErrContract, committed, n))
		return false
	case err == nil:
		w.retry.tries = 0
		return true
	case w.r.ctx.Err() != nil: // the cancel caused the error, which Run reports
		return false
	}
	return w.again(err, committed > 0, kind)
}

// typeOf returns the type of an operation, or 0 if there are no types.
func (w *worker) typeOf(i int64) int {
	if w.r.load.TypeOf == nil {
		return 0
	}
	return w.r.load.TypeOf(w.index, i)
}

func (w *worker) fail(err error) {
	w.r.fail(&WorkerError{Worker: w.index, Operation: w.done.Load(), Err: err})
}

func (w *worker) setEdge(e Edge) {
	w.edge = e
	switch e {
	case WindowStart:
		w.edgeAt = w.r.from
	case WindowEnd:
		w.edgeAt = w.r.to
	default:
		w.edgeAt = math.MaxInt64
	}
}

// crossEdges crosses the edges at or before now. It crosses both if the call was longer than the window.
func (w *worker) crossEdges(now time.Duration) {
	for now >= w.edgeAt && w.edge <= WindowEnd {
		w.r.cross(w.edge, now)
		w.setEdge(w.edge + 1)
	}
}

func orUnknown(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

// Bounds of how long an adapted call should take. It is long enough that the overhead of a call does not matter, and
// short enough for slices, a cancel and a live view.
const (
	chunkLow    = 50 * time.Millisecond
	chunkTarget = 100 * time.Millisecond
	chunkHigh   = 200 * time.Millisecond
	chunkGrowth = 4 // largest growth from one call to the next: the first calls are the least typical
	chunkMax    = 1 << 24
)

// nextChunk returns the number of operations for the next call, after a call of n operations that took that long.
func nextChunk(n int64, took time.Duration, multiple int64) int64 {
	if took >= chunkLow && took <= chunkHigh {
		return n
	}
	next := n * chunkGrowth
	if took > 0 {
		next = min(next, int64(float64(n)*float64(chunkTarget)/float64(took)))
	}
	next = min(next, max(chunkMax, multiple))
	return max(next/multiple, 1) * multiple
}
