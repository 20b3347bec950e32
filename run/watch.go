package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"filewise"
	"filewise/internal/limit"
	"filewise/internal/maintenance"
	"filewise/lab/experiment"
)

// watch decides when trials may run: within the maintenance windows, while the activity of others is within the limits,
// and while there is space.
type watch struct {
	clock   filewise.Clock
	windows maintenance.Windows
	limits  []limit.Limit
	read    func(context.Context) ([]filewise.Gauge, error) // the activity of others. Nil means no others work on the server
	renew   func(context.Context) error                     // takes the server's lock again. Nil means there is no lock
	held    func(context.Context) error                     // checks that the lock is held. Nil means there is no lock
	space   func() error                                    // checks the space. Nil means not watched
	stopped func() bool                                     // a process of a managed server is stopped. Nil means unknown
	notify  func(experiment.Event)

	mu     sync.Mutex
	until  time.Time // end of the maintenance window in which the trial runs
	whole  bool      // the trial started at the beginning of its window
	asked  time.Time // when the limits were last checked
	unread int       // times in a row that the activity could not be read
	failed bool      // the last trial failed, so the server may be gone
	looked time.Time // when the lock, or the managed server, was last checked
	silent time.Time // since when a check has no answer. Zero means it has one
	lost   int       // trials in a row that the lock's loss ended
}

// newWatch returns a watch for the plan's limits and windows, and for the environment's needs.
func newWatch(env *Environment, p experiment.Plan, clock filewise.Clock, notify func(experiment.Event)) (*watch, error) {
	limits, err := limit.ParseAll(p.AbortIf)
	if err != nil {
		return nil, err
	}
	windows, err := maintenance.ParseAll(p.Maintenance)
	if err != nil {
		return nil, err
	}
	w := &watch{clock: clock, windows: windows, limits: limits, notify: notify}
	if here := env.Target.VolumesHere(); len(here) > 0 {
		w.space = guard(here)
	}
	if env.Target.Mode == filewise.Managed {
		w.stopped = env.stopped()
	}
	server := env.others
	if env.locked != nil {
		server, w.renew, w.held = env.Server, env.locked.renew, env.locked.held
	}
	if s, ok := server.(filewise.ExternalServer); ok {
		w.read = s.Activity
	}
	return w, nil
}

// stopped returns the error that ends a run for the sake of others. The run can be resumed.
func stopped(format string, args ...any) error {
	return filewise.Errorf(filewise.CodeStopped, "finished trials are stored; \"filewise resume\" goes on", format, args...)
}

// recorded is called with every trial that is stored.
func (w *watch) recorded(t filewise.Trial) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = w.failed || t.State == filewise.Failed
	w.lost = 0
}

// await waits until the next trial may start.
func (w *watch) await(ctx context.Context, expected time.Duration) error {
	waited, err := w.awaitWindow(ctx, expected)
	if err != nil {
		return err
	}
	w.mu.Lock()
	back := w.failed || waited
	w.failed, w.unread = false, 0
	w.mu.Unlock()
	lost := w.isHeld(ctx)
	if back || lost != nil {
		err := w.reach(ctx)
		if lost != nil && filewise.CodeOf(err) == filewise.CodeBusy {
			return heldByAnother(lost, err)
		}
		if err != nil {
			return err
		}
	}
	if len(w.limits) == 0 {
		return nil
	}
	return w.within(ctx, 0)
}

// guard is called repeatedly during a trial. Its error ends the trial.
func (w *watch) guard() error {
	if w.space != nil {
		if err := w.space(); err != nil {
			return err
		}
	}
	if err := w.windowOver(); err != nil {
		return err
	}
	if err := errors.Join(w.watchLock(), w.watchStopped()); err != nil {
		return err
	}
	const every = time.Second
	w.mu.Lock()
	due := len(w.limits) > 0 && w.clock.Now().Sub(w.asked) >= every
	w.mu.Unlock()
	if !due {
		return nil
	}
	return w.within(context.Background(), patience)
}

// How often, and with what patience, the server's activity is read.
const (
	answerWithin = 5 * time.Second // after this time it counts as unread
	patience     = 3               // failed readings in a row before the run stops
)

// within stops the run if a limit is passed, or if the activity was unreadable more than tolerated times in a row.
func (w *watch) within(ctx context.Context, tolerated int) error {
	gauges, err := w.activity(ctx)
	over := ""
	if err == nil {
		over, err = limit.Passed(w.limits, gauges)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = w.clock.Now()
	if err != nil {
		if w.unread++; w.unread > tolerated {
			return stopped("what others do on the server cannot be watched any more: %w", err)
		}
		return nil
	}
	w.unread = 0
	if over != "" {
		return stopped("%w: %s", errOthers, over)
	}
	return nil
}

var errOthers = errors.New("others need the server")

func (w *watch) activity(ctx context.Context) ([]filewise.Gauge, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return w.read(ctx)
}

// reach makes sure, after a failed trial, that the server answers and its lock is held. It gives a restarting server
// some time.
func (w *watch) reach(ctx context.Context) error {
	if w.renew == nil {
		return nil
	}
	var err error
	for try := range 6 {
		if try > 0 {
			if err := w.clock.Sleep(ctx, time.Duration(try)*time.Second); err != nil {
				return err
			}
		}
		if err = w.renewed(ctx); err == nil || filewise.CodeOf(err) == filewise.CodeBusy || ctx.Err() != nil {
			break
		}
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case filewise.CodeOf(err) == filewise.CodeBusy:
		return err
	}
	return filewise.Errorf(filewise.CodeStopped, "when it is back: filewise clean --target URL, then filewise resume; finished "+
		"trials are stored",
		"lost the connection to the server: %w", err)
}

// renewed takes the server's lock again, with a time limit.
func (w *watch) renewed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err := w.renew(ctx)
	w.answered(err)
	return err
}

// lookAgain is the longest sleep within a wait, since the wall clock may be changed.
const lookAgain = 20 * time.Second

// awaitWindow waits for a maintenance window that is long enough for the trial.
func (w *watch) awaitWindow(ctx context.Context, expected time.Duration) (waited bool, err error) {
	var announced time.Time
	for len(w.windows) > 0 {
		now := w.clock.Now().Round(0) // without the monotonic clock
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
		if why := w.whyWait(open, expected); !next.Equal(announced) {
			announced = next
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

// windowOver ends the trial at the end of its maintenance window, and it is measured again in the next. If a trial does
// not end within a whole window, the run stops, since it never would.
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
