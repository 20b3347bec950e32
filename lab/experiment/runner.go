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
	"filewise/lab/drive"
	"filewise/lab/probe"
)

// Runner measures the trials of a plan, one after the other, until the plan's Next reports that there is enough.
type Runner struct {
	Plan     Plan
	Workload filewise.Workload
	Server   filewise.Server
	Clock    filewise.Clock
	Probes   []filewise.Probe // of the machine; the database brings its own
	// Ceilings are the limits of the volumes' storage. None means not known.
	Ceilings []probe.Ceiling
	// NoLatencies leaves histograms out of the trials, for simulations.
	NoLatencies bool
	// Record stores a finished trial; when it fails, the run ends.
	Record func(context.Context, filewise.Trial) error
	// Guard is called every half second of real time while a trial runs. Its error ends the run and the trial, which
	// is not recorded; an error that wraps ErrPostponed ends the trial only. May be nil.
	Guard func() error
	// Await is called before each trial with how long that will take by the pilots
	// (0: not known yet). It may wait; its error ends the run. May be nil.
	Await func(ctx context.Context, expected time.Duration) error
	// Unchanged is called before each further block. Its error, about something that must stay the same in a run and
	// did not, ends the run. May be nil.
	Unchanged func(context.Context) error
	// Ended is called after each trial that is done, before it is recorded; its error is taken as Guard's. May be
	// nil.
	Ended func(context.Context) error
	// Calibrate is the plan's short fixed probe of the machine: its speed, in any unit that is the same for all
	// trials. Nil means such plans cannot be run.
	Calibrate func(context.Context) (float64, error)
	// Stopped reports that a process of the server is stopped (state T). May be nil.
	Stopped func() bool
	// Notify receives events; it must not block. May be nil.
	Notify func(Event)
	// Fix stores the plan with what the pilots fixed of it, before block 1. If nil, it is not stored.
	Fix func(context.Context, Plan) error
	// Redesign makes the runner measure another design, which the plan's ladder leads to. False means it cannot be
	// had, and the plan stays. Nil means no ladder is climbed.
	Redesign func(context.Context, Plan) (bool, error)
	// Left receives databases that could not be dropped after the last trial. Nil means that is an error of the run.
	Left func(error)
	// Drivers put the load on the server in place of this process. Nil means it does itself.
	Drivers Drivers
	// Parallel is the number of a session's builds that are loaded or checked at a time, while nothing is measured. 0
	// means one after the other.
	Parallel int

	rehearsal rehearsal
	locks     *locks                     // of a run, for steps of a session that run side by side
	builds    map[string]*build          // that stay between trials, by layout and instance
	serial    int                        // of the newest build
	leftovers int                        // databases that could not be dropped, in a row
	loaded    map[string]filewise.Ledger // of builds that are copied, by layout
	copied    map[string]string          // names of builds of which others are copies, by layout
}

// locks are held while a layout is built, while the builds that stay are looked at or changed, and while an event is
// delivered.
type locks struct{ building, builds, telling sync.Mutex }

// EventKind is an event's subject.
type EventKind string

// The kinds of events.
const (
	EventStage    EventKind = "stage"    // a trial entered a stage of its life
	EventRecorded EventKind = "recorded" // a trial is stored; Judgement is up to date
	EventDesign   EventKind = "design"   // the run goes on with another design: Plan, for the reason Why
	EventWaiting  EventKind = "waiting"  // no trial may start before Until. Zero means until it is released
)

// Event is something that happened in a run.
type Event struct {
	Kind      EventKind
	Cell      filewise.Cell
	Stage     string
	Live      *drive.Live // the running trial's progress
	Probes    *probe.Live // its counters
	Family    string      // of what is measured now, and the unit of its work
	Unit      string
	Trial     *filewise.Trial
	Judgement Judgement
	Why       string
	Until     time.Time
	Plan      *Plan
}

// Waits names what the next trial waits for, and until when.
func (e Event) Waits() string {
	if e.Until.IsZero() {
		return e.Why
	}
	return fmt.Sprintf("%s: waiting until %s", e.Why, e.Until.Local().Format("Mon 2006-01-02 15:04"))
}

func (r *Runner) notify(e Event) {
	if r.Notify != nil {
		r.locks.telling.Lock()
		defer r.locks.telling.Unlock()
		r.Notify(e)
	}
}

// ready waits until what is next may be measured, and returns it.
func (r *Runner) ready(ctx context.Context, at standing, block *int) ([]filewise.Cell, error) {
	if err := r.keepBoundaries(ctx, at); err != nil {
		return nil, err
	}
	cells := at.session()
	if err := r.await(ctx, at.schedule, len(cells)); err != nil {
		return nil, err
	}
	return cells, r.unchanged(ctx, block, cells[0].Block)
}

// Run measures what the plan still needs after the trials that are done, and returns all trials and why it ended.
// When ctx ends, the running trial is ended cleanly and not recorded, and Run returns the context's error.
func (r *Runner) Run(ctx context.Context, done []filewise.Trial) (_ []filewise.Trial, _ Decision, err error) {
	if r.Plan.Target.Mode == filewise.Managed || r.Plan.Target.Mode == filewise.External {
		if err := FitsOpenFiles(r.Plan.Program(r.Workload).Connections()); err != nil {
			return done, Decision{}, err
		}
	}
	r.locks = new(locks)
	r.builds, r.loaded, r.serial = make(map[string]*build), make(map[string]filewise.Ledger), lastSerial(done)
	r.copied = map[string]string{}
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
			// What was measured is kept even when a cancel arrives just now.
			if err := r.Record(context.WithoutCancel(ctx), t); err != nil {
				return done, at.decision, fmt.Errorf("record the trial of %s in block %d: %w", t.Cell.Layout, t.Cell.Block, err)
			}
			done = append(done, t)
			at = r.Plan.standingBy(done, judged)
			if err := at.stillStop(t); err != nil {
				stop = err // after the others of its session
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

// unchanged checks whether what must be the same still is, once in each block except the one that the run begins or
// goes on with.
func (r *Runner) unchanged(ctx context.Context, asked *int, block int) error {
	before := *asked
	*asked = block
	if r.Unchanged == nil || before < 0 || before == block {
		return nil
	}
	return r.Unchanged(ctx)
}

// closed drops what stays between trials. After a run without an error that is a matter of Left's.
func (r *Runner) closed(ctx context.Context, err error) error {
	left := r.dropBuilds(ctx)
	if err == nil && left != nil && r.Left != nil {
		r.Left(left)
		return nil
	}
	return errors.Join(err, left)
}

// fixShort gives families that the pilots found too short no share, and reports whether there are any.
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
	j, err := at.judge()
	if err == nil {
		r.notify(Event{Kind: EventRecorded, Cell: t.Cell, Trial: &t, Judgement: j})
	}
	return err
}

// longDesign is from how many blocks on boundaries are stored with the run.
const longDesign = 60

// keepBoundaries stores the boundaries of a long run as soon as its pilots have fixed the number of blocks.
func (r *Runner) keepBoundaries(ctx context.Context, at standing) error {
	if _, open := at.nextPilot(); open || at.schedule.MaxBlocks < longDesign || r.Fix == nil || r.Plan.JudgedBy() < extendedFrom {
		return nil
	}
	cfg, arms := at.plan.judging(at.schedule, nil, at.plan.FamilyConfidence())
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

// climb goes on with another design if the pilots demand one and it can be had.
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

// measure takes the cells' trials: one in one go, or a session's together.
func (r *Runner) measure(ctx context.Context, cells []filewise.Cell, s Schedule) ([]filewise.Trial, error) {
	if r.Plan.TakesTurns() && (r.Plan.Sessions || !cells[0].Pilot) {
		return r.session(ctx, cells, s)
	}
	t, err := r.trial(ctx, cells[0], s)
	return []filewise.Trial{t}, err
}

// trial takes one trial through its life and returns it, done or failed. The
// error is of what ends the run: the context, the guard, a full volume.
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

// fatal is the error of what ends the run, if that ended the trial: the run's
// context, the guard, a full volume, a mistake in SQL that the user has brought.
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
		return filewise.Errorf(f.Code, f.Remedy+"; then \"filewise resume\" goes on with this trial", "%s: the trial of %s: %w", f.What,
			l.trial.Cell.Layout, err)
	}
	var failing *Failing
	switch {
	case errors.As(err, &failing):
		return failing.advised(l.trial.Cell.Layout)
	case errors.Is(err, ErrVoid) && l.trial.Cell.Attempt >= r.Plan.Attempts: // no layout is to blame
		return filewise.Errorf(filewise.CodeStopped, "see that all of them run and are idle; then \"filewise resume\" goes on with this trial",
			"the drivers have failed %s: %w", filewise.Counted(l.trial.Cell.Attempt, "time"), err)
	case l.mistaken(err) && filewise.CodeOf(err) == filewise.CodePreflight: // their dump, whose error has the remedy
		return fmt.Errorf("%s cannot be built, nor could it be again: %w", l.trial.Cell.Layout, err)
	case l.mistaken(err):
		return filewise.Errorf(filewise.CodeUsage,
			"correct the SQL at that place of the study file, or give the account the right that it lacks, and run it again",
			"the study's SQL fails on %s, and would again: %w", l.trial.Cell.Layout, err)
	}
	return r.hostFault()
}

// mistaken recognizes a mistake in SQL that the user has brought. Its set-up is the same in every build, as are
// statements without chance, so that what these violate they would violate again.
func (l *life) mistaken(err error) bool {
	var unvaried *filewise.Unvaried
	class := filewise.ClassOf(err)
	again := l.db == nil || errors.As(err, &unvaried)
	violated := class == filewise.ClassConstraint || class == filewise.ClassDuplicate
	return l.program.Custom != nil && (class == filewise.ClassMistake || violated && again)
}

// Program is the workload's program with the plan's fixed work or window, and what builds
// are loaded with before.
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

// layout finds a layout of the plan by name.
func (p Plan) layout(name string) (filewise.Layout, error) {
	if i := slices.IndexFunc(p.Layouts, func(l filewise.Layout) bool { return l.Name == name }); i >= 0 {
		return p.Layouts[i], nil
	}
	return filewise.Layout{}, fmt.Errorf("the plan has no layout %q", name)
}

// Bounds of the clean-up of a trial. What it leaves is found by the next start.
const (
	dropPatience = 10 * time.Minute // of a server with much to drop, as long as the run goes on
	dropTimeout  = 30 * time.Second // after an interrupt
)
