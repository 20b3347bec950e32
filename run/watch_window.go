package run

import (
	"context"
	"fmt"
	"time"

	"filewise/experiment"
)

// lookAgain is how long a wait sleeps at most: the wall clock may be set.
const lookAgain = 20 * time.Second

// awaitWindow waits for a window in which the trial can end, too.
func (w *watch) awaitWindow(ctx context.Context, expected time.Duration) (waited bool, err error) {
	var told time.Time
	for len(w.windows) > 0 {
		now := w.clock.Now().Round(0) // by the wall clock
		until, open := w.windows.At(now)
		if open && !now.Add(expected).After(until) {
			w.mu.Lock()
			w.until, w.whole = until, waited
			w.mu.Unlock()
			return waited, nil
		}
		next := w.windows.Next(now)
		if longest := w.windows.Longest(now); next.IsZero() || expected > longest {
			return waited, stopped("a trial takes about %v, and no maintenance window (%s) is as long", expected.Round(time.Second), w.windows)
		}
		if why := w.whyWait(open, expected); !next.Equal(told) {
			told = next
			w.notify(experiment.Event{Kind: experiment.EventWaiting, Why: why, Until: next})
		}
		waited = true
		if err := w.clock.Sleep(ctx, min(next.Sub(now), lookAgain)); err != nil {
			return waited, err
		}
	}
	return waited, nil
}

func (w *watch) whyWait(open bool, expected time.Duration) string {
	if open {
		return fmt.Sprintf("a trial of about %v would not end within the maintenance window (%s)", expected.Round(time.Second), w.windows)
	}
	return fmt.Sprintf("outside the maintenance window (%s)", w.windows)
}

// windowOver ends the trial at the end of its window; it is measured anew in the
// next. One that has not ended in a whole window never will.
func (w *watch) windowOver() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.windows) == 0 || w.until.IsZero() || w.clock.Now().Round(0).Before(w.until) {
		return nil
	}
	if w.whole {
		return stopped("a trial did not end within a whole maintenance window (%s)", w.windows)
	}
	return fmt.Errorf("the maintenance window (%s) is over: %w", w.windows, experiment.ErrPostponed)
}
