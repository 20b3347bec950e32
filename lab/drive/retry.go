package drive

import (
	"errors"
	"fmt"
	"math/rand/v2"
	members "slices"
	"time"

	"filewise"
)

// Pauses before an operation is retried. They double, and are random, so that sessions that blocked each other do not
// meet again. A deadlock ends once its victim is rolled back, so the first pause is short.
const (
	firstPause  = time.Millisecond
	longestWait = 100 * time.Millisecond
	// maxTries bounds the failures of an operation in a row. With pauses of up to 100 ms, that is more than half a minute
	// without progress.
	maxTries = 500
)

// retry counts a worker's failures since its last progress.
type retry struct {
	tries int
	rng   *rand.Rand // nil until needed
}

// again pauses before the worker's next operation is retried. It returns false if the worker must end, because the
// error must not be retried or the run is over.
func (w *worker) again(err error, progress bool, kind int) bool {
	class := filewise.ClassOf(err)
	w.tally.failed(class, kind)
	var unvaried *filewise.Unvaried
	if !members.Contains(w.r.load.Retry, class) || class == filewise.ClassDuplicate && errors.As(err, &unvaried) {
		w.fail(err)
		return false
	}
	if progress {
		w.retry.tries = 0
	}
	if w.retry.tries++; w.retry.tries > maxTries {
		w.fail(fmt.Errorf("tried %d times in a row: %w", maxTries, err))
		return false
	}
	if class == filewise.ClassDuplicate { // no other session is in the way
		return true
	}
	pause := min(w.pause(), w.r.to-w.r.now())
	return pause <= 0 || w.r.load.Clock.Sleep(w.r.ctx, pause) == nil
}

// pause returns the next pause: 0.5 to 1.5 times a length that doubles with each try.
func (w *worker) pause() time.Duration {
	if w.retry.rng == nil {
		w.retry.rng = rand.New(rand.NewPCG(w.r.load.Seed, uint64(w.index)))
	}
	d := min(firstPause<<min(w.retry.tries-1, 20), longestWait)
	return d/2 + time.Duration(w.retry.rng.Int64N(int64(d)))
}

// WorkerError is the error that ended a worker.
type WorkerError struct {
	Worker    int
	Operation int64 // the worker's first operation not known to be committed
	Err       error
}

func (e *WorkerError) Error() string {
	if class := filewise.ClassOf(e.Err); class != filewise.ClassOther {
		return fmt.Sprintf("worker %d, operation %d (%s): %v", e.Worker, e.Operation, class, e.Err)
	}
	return fmt.Sprintf("worker %d, operation %d: %v", e.Worker, e.Operation, e.Err)
}

func (e *WorkerError) Unwrap() error { return e.Err }

// ErrContract is wrapped if a session reports an impossible number of committed operations.
var ErrContract = errors.New("the session broke its contract")

// ErrPanic is wrapped if a session or an Edge function panicked. What the call had committed by then is unknown and not
// in the ledger.
var ErrPanic = errors.New("panic")
