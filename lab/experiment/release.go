package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"filewise"
	"filewise/internal/progress"
)

// release gives the trial's database back. It drops a build for one trial, and a build on which something failed. It
// stops the server of a loaded build until the next trial.
func (l *life) release(ctx context.Context, cause error) error {
	if l.build == nil || l.build.db == nil {
		return nil
	}
	ctx, cancel := dropping(ctx)
	defer cancel()
	b := l.build
	if err := errors.Join(l.closeDone(), l.closeOpen()); err != nil && cause == nil {
		return errors.Join(err, l.release(ctx, err))
	}
	if b.name != "" && cause == nil {
		rest := b.rest
		if l.program.ReadOnly {
			rest = b.sleep
		}
		err := l.stage(ctx, filewise.StageStop, rest)
		if err == nil {
			l.build = nil
		}
		return err
	}
	l.runner.locks.builds.Lock()
	maps.DeleteFunc(l.runner.builds, func(_ string, other *build) bool { return other == b })
	l.runner.locks.builds.Unlock()
	l.build = nil
	err := l.stage(ctx, filewise.StageDrop, b.db.Drop)
	if cause != nil {
		return err
	}
	return l.leftOver(err)
}

// mostLeftOver is the number of databases in a row that may fail to be dropped. One more fails the trial.
const mostLeftOver = 3

// leftOver adds a warning that the database of a trial could not be dropped. The trial still counts, because it was
// measured and checked before: another program may hold a file open, or the server be busy.
func (l *life) leftOver(err error) error {
	r := l.runner
	r.locks.builds.Lock()
	defer r.locks.builds.Unlock()
	if err == nil {
		r.leftovers = 0
		return nil
	}
	if r.leftovers++; r.leftovers > mostLeftOver {
		return fmt.Errorf("%s in a row could not be dropped: %w", filewise.Counted(r.leftovers, "database"), err)
	}
	l.trial.Warnings = append(l.trial.Warnings, filewise.Warning{Code: "left-over",
		Message: fmt.Sprintf("The trial counts, but its database could not be dropped: %s.", strings.TrimSuffix(err.Error(), ".")),
		Remedy:  "Run “filewise clean” (on a server by URL with its --target) once the cause is gone."})
	return nil
}

// dropping returns a context for a clean-up: it has dropPatience, or dropTimeout once the run is interrupted.
func dropping(ctx context.Context) (context.Context, func()) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropPatience)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(dropTimeout, cancel) })
	return bounded, func() { stop(); cancel() }
}

// rest stops the build's server, so that it does not disturb other trials. It may crash the server, because the next
// reset discards its state.
func (b *build) rest(ctx context.Context) error {
	if b.db.Lifecycle == nil {
		return settle(ctx, b.db)
	}
	return b.db.Lifecycle.Crash(ctx)
}

// sleep stops the server of a build whose data stay as they are, with a clean shutdown.
func (b *build) sleep(ctx context.Context) error {
	if b.db.Lifecycle == nil {
		return settle(ctx, b.db)
	}
	b.resting = true
	_, err := b.db.Lifecycle.Shutdown(ctx)
	return err
}

// wake restarts the server of a build that sleeps.
func (b *build) wake(ctx context.Context) error {
	_, err := b.db.Lifecycle.Open(ctx)
	b.resting = err != nil
	return err
}

// dropBuilds drops all loaded builds at the end of a run.
func (r *Runner) dropBuilds(ctx context.Context) error {
	ctx, cancel := dropping(ctx)
	defer cancel()
	step := progress.Begin(ctx, "dropping databases", int64(len(r.builds)), "databases")
	defer step.End()
	var errs []error
	for _, b := range r.builds {
		errs = append(errs, b.db.Drop(ctx))
		step.Add(1)
	}
	r.builds = nil
	return errors.Join(errs...)
}
