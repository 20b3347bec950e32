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

// serverLock is the measuring lock of an external server. Its connection may be lost; then the lock must be taken
// again.
type serverLock struct {
	target filewise.Target
	server filewise.ExternalServer
	holder filewise.Holder
	mu     sync.Mutex
	lock   filewise.Lock
}

func (l *serverLock) take(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock, err := Ask(ctx, l.target, "the measuring lock", func(ctx context.Context) (filewise.Lock, error) {
		return l.server.Lock(ctx, l.holder)
	}, func(late filewise.Lock) { _ = late.Release() })
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

// errNotHeld reports that a lost lock could not be taken again.
var errNotHeld = errors.New("the server's measuring lock is not held")

// held asks the server whether the lock is still held.
func (l *serverLock) held(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return errNotHeld
	}
	return l.lock.Held(ctx)
}

// renew takes the lock again after its connection may have been lost.
func (l *serverLock) renew(ctx context.Context) error {
	_ = l.giveBack() // if the connection is lost, the lock is released already
	err := l.take(ctx)
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// How often, and how long, the server's measuring lock is checked.
const (
	lookEvery  = 2 * time.Second  // while a trial runs
	lookWithin = 30 * time.Second // on a busy server; giving up a check may cost the connection
	mostLost   = 3                // trials in a row ended by the lock's loss, before the run ends
	mostSilent = time.Minute      // of checks without an answer, before the run ends. A server that did nothing for less counts
)

// isHeld asks the server whether the lock is still held. The error may mean that another process has it.
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
	w.answered(err)
	return err
}

// answered ends a silence unless a check has failed.
func (w *watch) answered(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.silent = time.Time{}
	}
}

// watchStopped ends a run whose managed server stays stopped (SIGSTOP, a frozen cgroup): no trial would ever end.
func (w *watch) watchStopped() error {
	w.mu.Lock()
	due := w.stopped != nil && w.clock.Now().Sub(w.looked) >= lookEvery
	if due {
		w.looked = w.clock.Now()
	}
	w.mu.Unlock()
	if !due {
		return nil
	}
	if w.stopped() {
		return w.unanswered(errors.New("a process of it is stopped (state T)"))
	}
	w.answered(nil)
	return nil
}

// unanswered ends the run if the server has been silent for mostSilent.
func (w *watch) unanswered(why error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	if w.silent.IsZero() {
		w.silent = now
	}
	if now.Sub(w.silent) < mostSilent {
		return nil
	}
	return filewise.Errorf(filewise.CodeStopped, "let the server go on, or start it again, then filewise resume; finished trials are stored",
		"the server has not answered for %v: %w", now.Sub(w.silent).Round(time.Second), why)
}

// watchLock ends a trial whose lock was lost, since another run may have measured at the same time. If the server is
// gone, the trial fails by itself and is recorded; if it stays silent, no trial would ever end.
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
		return w.unanswered(err)
	}
	return w.unguarded(why)
}

// ended checks the lock again after a finished trial. The trial counts only if the lock was held to its end.
func (w *watch) ended(ctx context.Context) error {
	why := w.isHeld(ctx)
	if why == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	err := w.renewed(ctx)
	if filewise.CodeOf(err) == filewise.CodeBusy {
		return heldByAnother(why, err)
	}
	if err != nil { // before the next trial, reach tries longer
		w.mu.Lock()
		w.failed = true
		w.mu.Unlock()
	}
	return w.unguarded(why)
}

// heldByAnother returns the error that ends a run whose lock another run has got.
func heldByAnother(lost, busy error) error {
	return filewise.Errorf(filewise.CodeBusy, "wait for it, then continue with filewise resume; finished trials are stored",
		"the server's measuring lock was lost (%w), and another has it: %w", lost, busy)
}

// unguarded postpones a trial that ran without the lock for a while. If that happens in mostLost trials in a row, the
// run stops.
func (w *watch) unguarded(why error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost++; w.lost >= mostLost {
		return stopped("the server's measuring lock was lost in %d trials in a row: %w", w.lost, why)
	}
	return fmt.Errorf("the server's measuring lock was lost: %w", errors.Join(experiment.ErrPostponed, why))
}
