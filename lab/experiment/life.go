package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/probe"
)

// newLife returns a trial of the cell that has not begun.
func newLife(r *Runner, c filewise.Cell, s Schedule) *life {
	l := &life{runner: r, schedule: s, program: r.Plan.Program(r.Workload), begun: r.Clock.Now()}
	l.trial = filewise.Trial{Cell: c, State: filewise.Done, Started: l.begun.UTC()}
	l.ledgers = make([]filewise.Ledger, len(l.program.Phases))
	return l
}

// life is one trial in progress: build, settle, observe, warm-up and measure, drain, check, drop.
type life struct {
	runner   *Runner
	schedule Schedule
	trial    filewise.Trial
	program  filewise.Program
	layout   filewise.Layout
	build    *build
	db       *filewise.Database // of the build
	ledgers  []filewise.Ledger  // operations committed per phase
	backups  []filewise.File    // files of the last backup
	verified bool               // a restore was compared with the database

	begun time.Time // has a monotonic clock, unlike Trial.Started: the wall clock may be set meanwhile

	calibration *filewise.Measure // of the machine, right before the trial
	empty       time.Duration     // duration of a drain with nothing to write
	last        filewise.Settled  // what the last drain did
	edge        *edge             // of the window before a drain. Nil means there is none
	done        func() error      // closes connections that wait for a drain. Nil means there are none

	planned map[string]filewise.Delta // by operation: the processes planned for its query. Nil means not known

	still map[string]drive.Still // by operation: standstills while it was measured

	open map[int][]filewise.Session // by phase: connections kept for the next turn. Nil means none are kept
	turn *turn                      // the current turn of an interleaved block. Nil means the trial is measured in one go
}

func (l *life) run(ctx context.Context) (err error) {
	if l.layout, err = l.runner.Plan.layout(l.trial.Cell.Layout); err != nil {
		return err
	}
	if err = l.acquire(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.release(ctx, err)) }()
	for _, s := range l.steps() {
		if err = l.stage(ctx, s.name, s.do); err != nil {
			return err
		}
	}
	l.noteCalibration()
	l.noteWritten()
	return nil
}

// noteWritten adds the total bytes written to every measure. It needs the roles of the files, which are known at the
// end.
func (l *life) noteWritten() {
	files := slices.Concat(l.trial.Files, l.trial.Final)
	for i := range l.trial.Measures {
		m := &l.trial.Measures[i]
		m.Deltas = append(m.Deltas, probe.Written(*m, files, l.embedded())...)
	}
}

func (l *life) embedded() bool { return l.runner.Plan.Target.Mode == filewise.Embedded }

// step is a stage of a trial after its database is acquired and before it is released.
type step struct {
	name string
	do   func(context.Context) error
}

func (l *life) steps() []step {
	steps := []step{{filewise.StageSettle, l.settleTwice}, {filewise.StageObserve, l.observe}}
	if l.runner.Plan.Calibrate && !l.trial.Cell.Pilot {
		steps = append(steps, step{OperationCalibration, l.calibrate})
	}
	if l.runner.Plan.cycles() {
		return append(steps, l.cycleSteps()...)
	}
	if l.runner.Plan.Measure == MeasureLifecycle {
		return append(steps, l.lifecycleSteps()...)
	}
	return append(steps, l.phaseSteps()...)
}

// stage runs one step, records its duration, and names the step in its error.
func (l *life) stage(ctx context.Context, name string, do func(context.Context) error) error {
	clock := l.runner.Clock
	start, measures := clock.Now(), len(l.trial.Measures)
	l.runner.notify(Event{Kind: EventStage, Cell: l.trial.Cell, Stage: name})
	err := do(ctx)
	took := clock.Now().Sub(start)
	if name == filewise.StageMeasure && len(l.trial.Measures) > measures && l.runner.Plan.driven() {
		took = l.splitMeasure(took)
	}
	l.trial.Stages = append(l.trial.Stages, filewise.Stage{Name: name, Took: took})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// driven reports whether the plan's window or work, rather than each phase, sets how long a trial's measures last.
func (p Plan) driven() bool {
	return p.Measure != MeasureLifecycle && (p.Window > 0 || p.Work > 0)
}

// splitMeasure books the time outside the window as warm-up (before it) and drain (the tail of the slowest connection),
// and returns the rest. Fixed work has its tail within the window.
func (l *life) splitMeasure(took time.Duration) time.Duration {
	m := l.lastMeasure()
	window, tail := m.Window[1]-m.Window[0], m.Tail
	if l.runner.Plan.Window == 0 {
		tail = 0
	}
	l.trial.Stages = append(l.trial.Stages,
		filewise.Stage{Name: filewise.StageWarmUp, Took: took - window - tail},
		filewise.Stage{Name: filewise.StageDrain, Took: tail})
	return window
}

func (l *life) settle(ctx context.Context) error { return settle(ctx, l.db) }

// settlePatience bounds the wait for a server to write its dirty pages. It suffices for as many as a server may hold,
// on the slowest storage.
const settlePatience = time.Hour

func settle(ctx context.Context, db *filewise.Database) error {
	limited, cancel := context.WithTimeout(ctx, settlePatience)
	defer cancel()
	err := db.Settle(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the server's checkpoint has not ended within %v: %w", settlePatience, err)
	}
	return err
}

func (l *life) observe(ctx context.Context) (err error) {
	if l.trial.Files, err = l.db.Observe(ctx); err != nil {
		return err
	}
	return l.plans(ctx)
}

// plans records how many processes the server plans for each query, as far as their plans can be read.
func (l *life) plans(ctx context.Context) error {
	if l.db.ParallelWorkers == nil || !l.program.ReadOnly || l.program.Custom != nil {
		return nil
	}
	l.planned = map[string]filewise.Delta{}
	for i, phase := range l.program.Phases {
		if phase.Act != filewise.ActWork || !phase.Client || len(phase.Args.Args(nil, 0, 0)) > 0 {
			continue
		}
		n, err := l.db.ParallelWorkers(ctx, i)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			l.trial.Warnings = append(l.trial.Warnings, filewise.Warning{Code: "plan-unread",
				Message: fmt.Sprintf("Parallel plans are not recorded, since the plan of %s could not be read: %v.", phase.Operation, err)})
			return nil
		}
		l.planned[phase.Operation] = filewise.Delta{Probe: filewise.ProbePlan, Name: filewise.ParallelWorkers, Unit: filewise.UnitPlanned,
			Value: float64(n)}
	}
	return nil
}

// probes returns the probes of the database and of the machine.
func (l *life) probes() *probe.Set {
	return probe.NewSet(slices.Concat(l.db.Probes, l.runner.Probes)...).Under(l.runner.Ceilings).Embedded(l.embedded())
}

// measuring sends an event of the measuring stage. The event holds the parts of the running trial that can be shown.
func (l *life) measuring(e Event) {
	e.Kind, e.Cell, e.Stage = EventStage, l.trial.Cell, filewise.StageMeasure
	l.runner.notify(e)
}
