package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"filewise"
	"filewise/internal/fault"
	"filewise/lab/probe"
)

// Runner measures the trials of a plan, one after the other, until the plan's Next ends the run.
type Runner struct {
	Plan     Plan
	Workload filewise.Workload
	Server   filewise.Server
	Clock    filewise.Clock
	Probes   []filewise.Probe // probes of the machine; the database has its own
	// Ceilings holds the limits of the volumes' storage. Empty means not known.
	Ceilings []probe.Ceiling
	// NoLatencies omits histograms from the trials, for simulations.
	NoLatencies bool
	// Record stores a finished trial. An error ends the run.
	Record func(context.Context, filewise.Trial) error
	// Guard is called every half second of real time while a trial runs. An error ends the run and the trial, which is not
	// recorded. An error that wraps ErrPostponed ends only the trial. Guard may be nil.
	Guard func() error
	// Await is called before each trial with the trial's expected duration by the pilots (0 means not known yet). It may
	// wait. An error ends the run. Await may be nil.
	Await func(ctx context.Context, expected time.Duration) error
	// Unchanged is called before each further block. It returns an error, which ends the run, if something changed that
	// must stay the same in a run. Unchanged may be nil.
	Unchanged func(context.Context) error
	// Ended is called after each trial that is done, before it is recorded. Its error is treated like Guard's. Ended may
	// be nil.
	Ended func(context.Context) error
	// Calibrate runs the plan's short fixed probe and returns the machine's speed, in any unit that is the same for all
	// trials. If nil, plans that calibrate cannot be run.
	Calibrate func(context.Context) (float64, error)
	// Stopped reports whether a process of the server is stopped (state T). It may be nil.
	Stopped func() bool
	// Notify receives events. It must not block. Notify may be nil.
	Notify func(Event)
	// Fix stores the plan, with what the pilots fixed, before block 1. If nil, the plan is not stored.
	Fix func(context.Context, Plan) error
	// Redesign makes the runner measure another design of the plan's ladder. It returns false if that design cannot be
	// had; the plan then stays. If nil, no ladder is climbed.
	Redesign func(context.Context, Plan) (bool, error)
	// Left receives an error about databases that could not be dropped after the last trial. If nil, the run returns that
	// error.
	Left func(error)
	// Drivers puts the load on the server from other processes. If nil, this process does.
	Drivers Drivers
	// Parallel is the number of an interleaved block's builds that are loaded or checked at the same time, while nothing is measured.
	// 0 means one after the other.
	Parallel int

	rehearsal rehearsal
	locks     *locks                     // of this run, for steps of an interleaved block that run concurrently
	builds    map[string]*build          // builds that stay between trials, by layout and name
	serial    int                        // serial number of the newest build
	leftovers int                        // databases in a row that could not be dropped
	loaded    map[string]filewise.Ledger // operation counts of builds that are copied, by layout
	copied    map[string]string          // names of builds that others are copies of, by layout
	shown     shown
}

// shown is the last judgement that was sent with an event, and the number of trials that it is of.
type shown struct {
	judgement Judgement
	trials    int
}

// locks are held while a layout is built, while the builds that stay are read or changed, and while an event is
// delivered.
type locks struct{ building, builds, telling sync.Mutex }

// ready waits until the next trials may be measured, and returns their cells.
func (r *Runner) ready(ctx context.Context, at standing, block *int) ([]filewise.Cell, error) {
	if err := r.keepBoundaries(ctx, at); err != nil {
		return nil, err
	}
	cells := at.together()
	if err := r.await(ctx, at.schedule, len(cells)); err != nil {
		return nil, err
	}
	return cells, r.unchanged(ctx, block, cells[0].Block)
}

// Run measures what the plan still needs after the trials that are done. It returns all trials and why the run ended.
// If ctx ends, the running trial is ended cleanly and not recorded, and Run returns the context's error.
func (r *Runner) Run(ctx context.Context, done []filewise.Trial) (_ []filewise.Trial, _ Decision, err error) {
	if r.Plan.Target.Mode == filewise.Managed || r.Plan.Target.Mode == filewise.External {
		if err := FitsOpenFiles(r.Plan.Program(r.Workload).Connections()); err != nil {
			return done, Decision{}, err
		}
	}
	r.locks = new(locks)
	r.builds, r.loaded, r.serial = make(map[string]*build), make(map[string]filewise.Ledger), lastSerial(done)
	r.copied, r.shown = map[string]string{}, shown{}
	defer func() { err = r.closed(ctx, err) }()
	judged := new(memo)
	var stop error
	block := -1
	for at := r.Plan.standingBy(done, judged); ; {
		if at.decision.Ending != GoesOn {
			return done, at.decision, nil
		}
		if err := ctx.Err(); err != nil {
			return done, at.decision, err
		}
		if climbed, err := r.climb(ctx, at); err != nil {
			return done, at.decision, err
		} else if climbed {
			judged = new(memo)
			at = r.Plan.standingBy(done, judged)
			continue
		}
		if short, err := r.fixShort(ctx, at); err != nil {
			return done, at.decision, err
		} else if short {
			judged = new(memo)
			at = r.Plan.standingBy(done, judged)
		}
		cells, err := r.ready(ctx, at, &block)
		if err != nil {
			return done, at.decision, err
		}
		trials, err := r.measure(ctx, cells, at.schedule)
		if errors.Is(err, ErrPostponed) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return done, at.decision, err
		}
		for _, t := range trials {
			// WithoutCancel keeps a measured trial even if a cancel arrives just now.
			if err := r.Record(context.WithoutCancel(ctx), t); err != nil {
				return done, at.decision, fmt.Errorf("record the trial of %s in block %d: %w", t.Cell.Layout, t.Cell.Block, err)
			}
			done = append(done, t)
			at = r.Plan.standingBy(done, judged)
			if err := at.stillStop(t); err != nil {
				stop = err // only after the other trials of its interleaved block
			}
			if err := r.publish(at, t); err != nil {
				return done, at.decision, err
			}
		}
		if stop != nil {
			return done, at.decision, stop
		}
	}
}

// unchanged calls Unchanged once per block. It skips the block that the run begins or resumes with.
func (r *Runner) unchanged(ctx context.Context, asked *int, block int) error {
	before := *asked
	*asked = block
	if r.Unchanged == nil || before < 0 || before == block {
		return nil
	}
	return r.Unchanged(ctx)
}

// closed drops the builds that stay between trials. If the run had no error, an error of dropping goes to Left.
func (r *Runner) closed(ctx context.Context, err error) error {
	left := r.dropBuilds(ctx)
	if err == nil && left != nil && r.Left != nil {
		r.Left(left)
		return nil
	}
	return errors.Join(err, left)
}

// fixShort removes operations that the pilots found too short from the plan's share of the error. It reports whether
// there are any.
func (r *Runner) fixShort(ctx context.Context, at standing) (bool, error) {
	next, short := at.tooShort()
	if !short {
		return false, nil
	}
	if r.Fix != nil {
		if err := r.Fix(ctx, next); err != nil {
			return false, fmt.Errorf("store what the pilots fixed: %w", err)
		}
	}
	r.Plan = next
	return true, nil
}

// publish sends the event of a recorded trial.
func (r *Runner) publish(at standing, t filewise.Trial) error {
	if r.Notify == nil && at.err == nil {
		return nil
	}
	if n := len(at.trials); at.err != nil || at.decision.Ending != GoesOn || judgesAgain(n, r.shown.trials) {
		j, err := at.judge()
		if err != nil {
			return err
		}
		r.shown = shown{j, n}
	}
	r.notify(Event{Kind: EventRecorded, Cell: t.Cell, Trial: &t, Judgement: r.shown.judgement})
	return nil
}

// judgesAgain reports whether a run is judged after this many trials for those who watch it, if it was last judged after
// before. A judgement takes time by all trials, so in a long run it waits until the trials have grown by 2 %.
func judgesAgain(trials, before int) bool {
	return trials <= 200 || before == 0 || trials < before || 50*(trials-before) >= trials
}

// longDesign is the number of blocks from which boundaries are stored with the run.
const longDesign = 60

// keepBoundaries stores the boundaries of a long run once its pilots have fixed the number of blocks.
func (r *Runner) keepBoundaries(ctx context.Context, at standing) error {
	if _, open := at.nextPilot(); open || at.schedule.MaxBlocks < longDesign || r.Fix == nil || r.Plan.JudgedBy() < extendedFrom {
		return nil
	}
	cfg, arms := at.plan.judging(at.schedule, nil, at.plan.OperationConfidence())
	if cfg.Knows(len(arms)) {
		return nil
	}
	d, err := cfg.Design(len(arms))
	if err != nil {
		return err
	}
	r.Plan.Boundaries = append(slices.Clone(r.Plan.Boundaries), d)
	if err := r.Fix(ctx, r.Plan); err != nil {
		return fmt.Errorf("store the boundaries: %w", err)
	}
	return nil
}

// smallerDesigns counts how often climb halves the data of a design that the host has no space for.
const smallerDesigns = 6

// climb replaces the plan by another design of the ladder, if the pilots demand one. If that design cannot be had, not
// with less data either, climb removes the ladder. It reports whether the plan has changed.
func (r *Runner) climb(ctx context.Context, at standing) (bool, error) {
	if r.Redesign == nil {
		return false, nil
	}
	next, ok := at.climb()
	if !ok {
		return false, nil
	}
	if err := r.dropBuilds(ctx); err != nil {
		return false, err
	}
	r.builds, r.loaded = make(map[string]*build), make(map[string]filewise.Ledger)
	ok, err := r.Redesign(ctx, next)
	for range smallerDesigns { // less data than the budget loads can fit
		if ok || err != nil {
			break
		}
		less := *at.plan.Ladder
		less.MostBytes /= 2
		at.plan.Ladder = &less
		if smaller, climbs := at.climb(); climbs && !slices.Equal(smaller.Command, next.Command) {
			next = smaller
			ok, err = r.Redesign(ctx, next)
		}
	}
	if err != nil {
		return false, err
	}
	if !ok {
		next = at.plan
		next.Ladder = nil
	}
	if r.Plan = next; ok {
		r.notify(Event{Kind: EventDesign, Why: next.Rungs[len(next.Rungs)-1].Climbed(), Plan: &next})
	}
	return true, nil
}

// measure measures the trials of the cells: a single trial in one go, or an interleaved block's trials together.
func (r *Runner) measure(ctx context.Context, cells []filewise.Cell, s Schedule) ([]filewise.Trial, error) {
	if r.Plan.TakesTurns() && (r.Plan.Interleaved || !cells[0].Pilot) {
		return r.interleave(ctx, cells, s)
	}
	t, err := r.trial(ctx, cells[0], s)
	return []filewise.Trial{t}, err
}

// trial runs one trial and returns it, done or failed. An error means that the run ends: by the context, the guard, or
// a full volume, for example.
func (r *Runner) trial(ctx context.Context, cell filewise.Cell, s Schedule) (filewise.Trial, error) {
	life := newLife(r, cell, s)
	guarded, stop := r.guard(ctx)
	err := life.run(guarded)
	stop()
	if fatal := r.fatal(ctx, guarded, life, err); fatal != nil {
		return life.trial, fatal
	}
	if err != nil {
		life.trial.State, life.trial.Reason, life.trial.Remedy = filewise.Failed, err.Error(), filewise.RemedyOf(err)
		if len(life.trial.Final) == 0 {
			life.trial.Final = slices.DeleteFunc(slices.Clone(life.backups), func(f filewise.File) bool { return !f.Stays })
		}
	} else {
		if r.Ended != nil {
			if err := r.Ended(ctx); err != nil {
				return life.trial, err
			}
		}
		life.weigh()
	}
	life.trial.Elapsed = r.Clock.Now().Sub(life.begun)
	return life.trial, nil
}

// fatal returns an error if the trial ended for a reason that ends the run: the run's context, the guard, a full
// volume, or a mistake in the user's SQL. Otherwise it returns nil.
func (r *Runner) fatal(ctx, guarded context.Context, l *life, err error) error {
	switch cause := context.Cause(guarded); {
	case ctx.Err() != nil:
		return ctx.Err()
	case cause != nil && !errors.Is(cause, context.Canceled):
		return cause
	case err == nil:
		return nil
	}
	if f, ok := fault.Of(err); ok && (!f.Passes || l.trial.Cell.Attempt >= r.Plan.Attempts) {
		return filewise.Errorf(f.Code, f.Remedy+"; then continue with this trial: filewise resume", "%s: the trial of %s: %w", f.What,
			l.trial.Cell.Layout, err)
	}
	var failing *Failing
	switch {
	case errors.As(err, &failing):
		return failing.advised(l.trial.Cell.Layout)
	case errors.Is(err, ErrVoid) && l.trial.Cell.Attempt >= r.Plan.Attempts: // the drivers failed, not the layout
		return filewise.Errorf(filewise.CodeStopped, "see that all of them run and are idle; then continue with this trial: filewise resume",
			"the drivers have failed %s: %w", filewise.Counted(l.trial.Cell.Attempt, "time"), err)
	case l.mistaken(err) && filewise.CodeOf(err) == filewise.CodePreflight: // the user's dump failed; its error has a remedy
		return fmt.Errorf("%s cannot be built, nor could it be again: %w", l.trial.Cell.Layout, err)
	case l.mistaken(err):
		return filewise.Errorf(filewise.CodeUsage,
			"correct the SQL at that place of the study file, or give the account the right that it lacks, and run it again",
			"the study's SQL fails on %s, and would again: %w", l.trial.Cell.Layout, err)
	}
	return r.hostFault()
}

// mistaken reports whether err is a mistake in the user's SQL that would recur. The set-up is the same in every build,
// and so are statements without random values. So a constraint that they violate once they would violate again.
func (l *life) mistaken(err error) bool {
	var unvaried *filewise.Unvaried
	class := filewise.ClassOf(err)
	again := l.db == nil || errors.As(err, &unvaried)
	violated := class == filewise.ClassConstraint || class == filewise.ClassDuplicate
	return l.program.Custom != nil && (class == filewise.ClassMistake || violated && again)
}

// Program returns the workload's program with the plan's fixed work or window, and with the data that builds are loaded
// with.
func (p Plan) Program(w filewise.Workload) filewise.Program {
	program := w.Program()
	program.Preload, program.Cycles = p.Preload, p.cycles()
	if p.Work > 0 {
		program.WorkBytes = p.Preload + p.Work
	} else {
		program.Window = p.Window
	}
	return program
}

// layout returns the plan's layout of that name. It returns an error if there is none.
func (p Plan) layout(name string) (filewise.Layout, error) {
	if i := slices.IndexFunc(p.Layouts, func(l filewise.Layout) bool { return l.Name == name }); i >= 0 {
		return p.Layouts[i], nil
	}
	return filewise.Layout{}, fmt.Errorf("the plan has no layout %q", name)
}

// Bounds of a trial's clean-up. The next start finds what it leaves behind.
const (
	dropPatience = 10 * time.Minute // while the run goes on, for a server with much to drop
	dropTimeout  = 30 * time.Second // after an interrupt
)
