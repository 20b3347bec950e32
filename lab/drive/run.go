package drive

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"filewise"
)

// run is one run of a load: the state that its workers share. While they work, it is only written at edges and on
// errors.
type run struct {
	load        Load
	ctx         context.Context
	start       time.Time     // set before the phase leaves PhaseIdle
	late        time.Duration // how long after start the workers began
	from, to    time.Duration // the window; fixed work has no end of its own
	workers     []*worker
	tallies     []*tally
	begin       chan struct{}
	arrivals    *arrivals     // of all workers together. Nil means closed loop or fixed work
	cut         atomic.Int64  // when Until ended the window, in ns. 0 means it did not
	stop        atomic.Bool   // set when no worker may start another call
	halted      chan struct{} // closed with stop
	halting     sync.Once
	phase       atomic.Int32
	edges       [2]crossing
	long        longCalls
	longService longCalls
	longTypes   []longCalls // by type of operation

	mu       sync.Mutex
	failures []*WorkerError
}

// Run runs the load to its end. If the context ends first, it returns the context's cause. Otherwise it returns the
// first error of a worker (code trials, a *WorkerError). The other workers finish their call before it returns. The
// Result is valid in every case, but a run that ended early is no measurement.
func Run(ctx context.Context, l Load) (Result, error) {
	if err := l.check(); err != nil {
		return Result{}, err
	}
	r := newRun(ctx, l.withDefaults())
	if l.Live != nil {
		l.Live.run.Store(r)
	}
	if ctx.Err() != nil {
		r.halt()
	}
	stopWatching := context.AfterFunc(ctx, r.halt)
	defer stopWatching()
	defer r.watchUntil()()
	heart := r.heart()
	edgeErr := r.work()
	cancelled := context.Cause(ctx)
	r.phase.Store(int32(PhaseOver))
	res, err := r.result()
	res.Still = r.still(heart, res.Measure)
	switch {
	case cancelled != nil:
		return res, fmt.Errorf("the run was ended after %d operations: %w", res.Ledger.Total(), cancelled)
	case len(r.failures) > 0:
		return res, filewise.Errorf(filewise.CodeTrials, "", "%w", r.failures[0])
	case edgeErr != nil:
		return res, edgeErr
	}
	return res, err
}

// watchUntil ends the window when the load's Until is closed. The returned function stops the watch.
func (r *run) watchUntil() func() {
	if r.load.Until == nil {
		return func() {}
	}
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-over:
		case <-r.load.Until:
			<-r.begin // from here on the start is known
			r.cut.Store(int64(max(r.now(), 1)))
			r.halt()
		}
	}()
	return func() { close(over); <-gone }
}

func newRun(ctx context.Context, l Load) *run {
	r := &run{load: l, ctx: ctx, begin: make(chan struct{}), halted: make(chan struct{}), to: math.MaxInt64}
	if l.Window > 0 {
		r.from, r.to = l.WarmUp, l.WarmUp+l.Window
	}
	if l.Rate > 0 && l.Window > 0 {
		r.arrivals = newArrivals(l.Rate, max(l.Chunk, l.Multiple), l.Arrivals, l.Seed)
	}
	r.longTypes = make([]longCalls, len(l.Types))
	for i := range r.edges {
		r.edges[i].read = make(chan struct{})
	}
	for range min(len(l.Sessions), maxTallies) {
		r.tallies = append(r.tallies, newTally(r))
	}
	for i := range l.Sessions {
		r.workers = append(r.workers, newWorker(r, i))
	}
	return r
}

// work starts all workers at once and waits for the last. It returns an error of an Edge function called outside of any
// worker, or of a late start.
func (r *run) work() error {
	var wg sync.WaitGroup
	for _, w := range r.workers {
		wg.Go(func() {
			<-r.begin
			w.run()
		})
	}
	var err error
	if r.from == 0 && !r.stop.Load() {
		err = r.crossHere(WindowStart, 0) // reading probes is not part of the window
	}
	if err == nil {
		err = r.awaitStart()
	} else {
		r.start = r.load.Clock.Now()
	}
	if err != nil {
		r.halt()
	}
	if r.load.WarmUp == 0 {
		r.phase.Store(int32(PhaseMeasure))
	} else {
		r.phase.Store(int32(PhaseWarmUp))
	}
	close(r.begin)
	wg.Wait()
	r.missRest()
	if r.load.Window == 0 && !r.stop.Load() {
		err = r.crossHere(WindowEnd, r.now())
	}
	return err
}

// crossHere crosses an edge outside of the workers. It returns a panic of Edge as an error.
func (r *run) crossHere(e Edge, at time.Duration) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w at %v: %v\n%s", ErrPanic, e, p, debug.Stack())
		}
	}()
	r.cross(e, at)
	return nil
}

func (r *run) now() time.Duration { return r.load.Clock.Now().Sub(r.start) }

func (r *run) fail(e *WorkerError) {
	r.mu.Lock()
	r.failures = append(r.failures, e)
	r.mu.Unlock()
	r.halt()
}

// halt makes all workers stop: none starts another call, and none waits for one.
func (r *run) halt() {
	r.stop.Store(true)
	r.halting.Do(func() { close(r.halted) })
}

func (r *run) total() int64 {
	var n int64
	for _, w := range r.workers {
		n += w.done.Load()
	}
	return n
}
