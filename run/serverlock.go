package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"filewise"
	"filewise/lab/experiment"
)

// serverLock is the measuring lock of an external server. Its connection may be lost, so
// that it has to be taken again.
type serverLock struct {
	locker filewise.Locker
	holder filewise.Holder
	mu     sync.Mutex
	lock   filewise.Lock
}

func (l *serverLock) take(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock, err := l.locker.Lock(ctx, l.holder)
	if err == nil {
		l.lock = lock
	}
	return err
}

// giveBack releases the lock if it is held.
func (l *serverLock) giveBack() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	lock := l.lock
	l.lock = nil
	return lock.Release()
}

// errNotHeld: the lock could not be taken again after it was lost.
var errNotHeld = errors.New("the server's measuring lock is not held")

// held checks with the server that the lock is held still.
func (l *serverLock) held(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return errNotHeld
	}
	return l.lock.Held(ctx)
}

// renew takes the lock again, after its connection may have been lost.
func (l *serverLock) renew(ctx context.Context) error {
	_ = l.giveBack() // a lost connection has released it
	err := l.take(ctx)
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// How the server's measuring lock is looked at.
const (
	lookEvery  = 2 * time.Second  // while a trial runs
	lookWithin = 30 * time.Second // on a busy server; a look that is given up may cost the connection
	mostLost   = 3                // trials in a row that are ended by the lock's loss, before the run is
)

// isHeld checks with the server for its lock; the error reports that it may be another's.
func (w *watch) isHeld(ctx context.Context) error {
	if w.held == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	err := w.held(ctx)
	w.mu.Lock()
	w.looked = w.clock.Now()
	w.mu.Unlock()
	return err
}

// watchLock ends a trial whose lock was lost, since another run may measure at the same time. If the server is gone
// the trial fails by itself, and is recorded.
func (w *watch) watchLock() error {
	w.mu.Lock()
	due := w.held != nil && w.clock.Now().Sub(w.looked) >= lookEvery
	w.mu.Unlock()
	if !due {
		return nil
	}
	ctx := context.Background()
	why := w.isHeld(ctx)
	if why == nil {
		return nil
	}
	if err := w.renewed(ctx); filewise.CodeOf(err) == filewise.CodeBusy {
		return heldByAnother(why, err)
	} else if err != nil {
		return nil //nolint:nilerr // the server is gone: the trial fails by itself
	}
	return w.unguarded(why)
}

// ended looks once more after a trial that is done: it counts only if the lock was
// held to its end.
func (w *watch) ended(ctx context.Context) error {
	why := w.isHeld(ctx)
	if why == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	err := w.renewed(ctx)
	if filewise.CodeOf(err) == filewise.CodeBusy {
		return heldByAnother(why, err)
	}
	if err != nil { // before the next trial it is tried with more patience
		w.mu.Lock()
		w.failed = true
		w.mu.Unlock()
	}
	return w.unguarded(why)
}

// heldByAnother returns the end of a run whose lock another one has got.
func heldByAnother(lost, busy error) error {
	return filewise.Errorf(filewise.CodeBusy, "wait until it has ended; finished trials are stored, and \"filewise resume\" goes on",
		"the server's measuring lock was lost (%w), and another has it: %w", lost, busy)
}

// unguarded postpones a trial that ran for a while without the lock. When no trial
// keeps it, the run stops.
func (w *watch) unguarded(why error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost++; w.lost >= mostLost {
		return stopped("the server's measuring lock was lost in %d trials in a row: %w", w.lost, why)
	}
	return fmt.Errorf("the server's measuring lock was lost: %w", errors.Join(experiment.ErrPostponed, why))
}
