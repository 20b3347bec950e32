package experiment

import (
	"context"
	"errors"
	"time"

	"filewise"
)

// ErrPostponed: the trial was ended and is not recorded; it is measured anew as
// soon as Runner.Await lets it.
var ErrPostponed = errors.New("postponed")

// await is before the trials that are measured together.
func (r *Runner) await(ctx context.Context, s Schedule, trials int) error {
	if r.Await == nil {
		return nil
	}
	return r.Await(ctx, time.Duration(trials)*s.TrialTime)
}

// guardInterval is how often the guard is asked.
const guardInterval = 500 * time.Millisecond

// guard returns a context that ends with the guard's error.
func (r *Runner) guard(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if r.Guard == nil {
		return ctx, func() { cancel(nil) }
	}
	go func() {
		tick := time.NewTicker(guardInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if err := r.Guard(); err != nil {
					cancel(err)
				}
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// hostFault asks the guard once more after a failure: a trial that failed because a volume
// has just gone is the host's fault, and is measured again.
func (r *Runner) hostFault() error {
	if r.Guard == nil {
		return nil
	}
	if err := r.Guard(); filewise.CodeOf(err) == filewise.CodePreflight {
		return err
	}
	return nil
}
