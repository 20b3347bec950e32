package drive

import (
	"errors"
	"fmt"

	"filewise"
)

// WorkerError is the error that ended a worker.
type WorkerError struct {
	Worker    int
	Operation int64 // the worker's first operation that is not known to be committed
	Err       error
}

func (e *WorkerError) Error() string {
	if class := filewise.ClassOf(e.Err); class != filewise.ClassOther {
		return fmt.Sprintf("worker %d, operation %d (%s): %v", e.Worker, e.Operation, class, e.Err)
	}
	return fmt.Sprintf("worker %d, operation %d: %v", e.Worker, e.Operation, e.Err)
}

func (e *WorkerError) Unwrap() error { return e.Err }

// ErrContract is wrapped when a session reports an impossible number of
// committed operations.
var ErrContract = errors.New("the session broke its contract")

// ErrPanic is wrapped when a session or an Edge function panicked. What the call
// had committed by then is unknown and not in the ledger.
var ErrPanic = errors.New("panic")
