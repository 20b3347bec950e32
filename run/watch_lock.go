package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/experiment"
)

// How the server's measuring lock is looked at.
const (
	lookEvery  = 2 * time.Second  // while a trial runs
	lookWithin = 30 * time.Second // on a busy server; a look that is given up may cost the connection
	mostLost   = 3                // trials in a row that are ended by the lock's loss, before the run is
)

// isHeld asks the server for its lock; the error says that it may be another's.
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

// watchLock ends a trial whose lock was lost, since another run may measure beside
// it. Where the server is gone the trial fails by itself, and is recorded.
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

// heldByAnother is the end of a run whose lock another one has got.
func heldByAnother(lost, busy error) error {
	return filewise.Errorf(filewise.CodeBusy, "wait until it has ended; whatever is finished is stored, and \"filewise resume\" goes on",
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
