package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/drive"
	"filewise/probe"
)

// life is one trial on its way: build, settle, observe, warm-up and measure,
// drain, check, drop.
type life struct {
	runner   *Runner
	schedule Schedule
	trial    filewise.Trial
	program  filewise.Program
	layout   filewise.Layout
	build    *build
	db       *filewise.Database // of the build
	ledger   filewise.Ledger    // of everything in it that is committed
	ledgers  []filewise.Ledger  // of each phase, where the program has phases
	backups  []filewise.File    // of the last backup

	calibration *filewise.Measure // of the machine, right before

	turn, lead time.Duration // of a session, and what goes before each; 0: in one go
}

func (l *life) run(ctx context.Context) (err error) {
	if l.layout, err = l.runner.Plan.layout(l.trial.Cell.Layout); err != nil {
		return err
	}
	l.program = l.runner.Plan.Program(l.runner.Workload)
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

// noteWritten adds to every measure what was written in all, for which the files'
// roles have to be known.
func (l *life) noteWritten() {
	files := slices.Concat(l.trial.Files, l.trial.Final)
	for i := range l.trial.Measures {
		m := &l.trial.Measures[i]
		m.Deltas = append(m.Deltas, probe.Written(*m, files, l.embedded())...)
	}
}

func (l *life) embedded() bool { return l.runner.Plan.Target.Mode == filewise.Embedded }

// step is a stage of a trial between getting its database and giving it back.
type step struct {
	name string
	do   func(context.Context) error
}

func (l *life) steps() []step {
	steps := []step{{filewise.StageSettle, l.settle}, {filewise.StageObserve, l.observe}}
	if l.runner.Plan.Calibrate && !l.trial.Cell.Pilot {
		steps = append(steps, step{FamilyCalibration, l.calibrate})
	}
	if l.runner.Plan.Measure == MeasureLifecycle {
		return append(steps, l.lifecycleSteps()...)
	}
	if len(l.program.Phases) > 0 {
		return append(steps, l.phaseSteps()...)
	}
	return append(steps,
		step{filewise.StageMeasure, l.measure}, step{filewise.StageDrain, l.drain}, step{filewise.StageCheck, l.check})
}

// stage runs one step, books its time, and names it in its error.
func (l *life) stage(ctx context.Context, name string, do func(context.Context) error) error {
	clock := l.runner.Clock
	start, measures := clock.Now(), len(l.trial.Measures)
	l.runner.notify(Event{Kind: EventStage, Cell: l.trial.Cell, Stage: name})
	err := do(ctx)
	took := clock.Now().Sub(start)
	windowed := len(l.program.Phases) == 0 || l.runner.Plan.Window > 0
	if name == filewise.StageMeasure && len(l.trial.Measures) > measures && l.runner.Plan.Measure != MeasureLifecycle && windowed {
		took = l.splitMeasure(took)
	}
	l.trial.Stages = append(l.trial.Stages, filewise.Stage{Name: name, Took: took})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// splitMeasure books what of the drive was not within the window as warm-up
// (before it) and drain (the tail of the slowest connection), and returns the
// rest. The tail of fixed work is within its window.
func (l *life) splitMeasure(took time.Duration) time.Duration {
	at := len(l.trial.Measures) - 1
	for at > 0 && l.trial.Measures[at].Unit == filewise.UnitTimes { // latencies of the measure before
		at--
	}
	m := l.trial.Measures[at]
	window, tail := m.Window[1]-m.Window[0], m.Tail
	if l.runner.Plan.Window == 0 {
		tail = 0
	}
	l.trial.Stages = append(l.trial.Stages,
		filewise.Stage{Name: filewise.StageWarmUp, Took: took - window - tail},
		filewise.Stage{Name: filewise.StageDrain, Took: tail})
	return window
}

func (l *life) settle(ctx context.Context) error { return l.db.Settler.Settle(ctx) }

func (l *life) observe(ctx context.Context) (err error) {
	l.trial.Files, err = l.db.Observer.Observe(ctx)
	return err
}

// measure drives the workload through warm-up and window, with the probes read
// at the window's edges.
func (l *life) measure(ctx context.Context) (err error) {
	sessions, err := l.connect(ctx)
	defer func() { err = errors.Join(err, CloseAll(sessions)) }()
	if err != nil {
		return err
	}
	probes := l.probes()
	var edges [2]probe.Snapshot
	load := l.load(sessions)
	live := probe.NewLive(probes, load.Window)
	defer live.Close()
	load.Edge = func(ctx context.Context, e drive.Edge) { edges[e] = live.Edge(ctx) }
	l.measuring(Event{Live: load.Live, Probes: live, Family: l.program.Family, Unit: l.program.Unit})
	stop := probes.Watch(ctx, load.Window)
	result, err := drive.Run(ctx, load)
	stop()
	l.ledger = l.ledger.Plus(result.Ledger)
	l.retried(result.Measure.Errors, "while it was measured")
	if err != nil {
		return err
	}
	if result.Measure.Work == 0 {
		return filewise.Errorf(filewise.CodeTrials, "use a longer --window or fewer --connections",
			"none of %d connections committed anything within the window", len(sessions))
	}
	m := result.Measure
	m.Family, m.Unit, m.Connections = l.program.Family, l.program.Unit, len(sessions)
	m.Bytes = m.Work * float64(l.program.OpBytes)
	m.Deltas = windowDeltas(probes, edges, load, result)
	l.trial.Measures = []filewise.Measure{m}
	l.trial.Warnings = append(l.trial.Warnings, probe.Warnings(m.Deltas)...)
	return nil
}

// windowDeltas are the deltas of a window, or of fixed work, all of which lies between
// the readings.
func windowDeltas(probes *probe.Set, edges [2]probe.Snapshot, load drive.Load, r drive.Result) []filewise.Delta {
	a, b := edges[drive.WindowStart], edges[drive.WindowEnd]
	if load.Window == 0 {
		return probes.Delta(a, b)
	}
	w := probe.Window{From: r.Started.Add(r.Measure.Window[0]), To: r.Started.Add(r.Measure.Window[1])}
	for _, end := range r.Ends {
		w.Ends = append(w.Ends, r.Started.Add(end))
	}
	return probes.Within(a, b, w)
}

// probes are those of the database and of the machine.
func (l *life) probes() *probe.Set {
	return probe.NewSet(slices.Concat(l.db.Probes, l.runner.Probes)...).Under(l.runner.Ceilings).Embedded(l.embedded())
}

// measuring tells what of the running trial can be looked at.
func (l *life) measuring(e Event) {
	e.Kind, e.Cell, e.Stage = EventStage, l.trial.Cell, filewise.StageMeasure
	l.runner.notify(e)
}

// load is the plan's load: a window after the warm-up, or fixed work.
func (l *life) load(sessions []filewise.Session) drive.Load {
	p := l.runner.Plan
	load := drive.Load{
		Sessions: sessions, Clock: l.runner.Clock, SliceLength: p.SliceLength,
		Chunk: l.db.Chunk, Multiple: int64(l.program.CommitEvery), Live: new(drive.Live),
		Retry: l.program.Retry, Seed: p.Seed, NoLatencies: l.runner.NoLatencies,
		WarmUp: l.schedule.WarmUp, Window: p.Window,
	}
	switch {
	case l.turn > 0:
		load.WarmUp, load.Window = l.lead, l.turn
	case p.Window == 0:
		work := p.Work
		if l.trial.Cell.Pilot {
			work = p.pilotWork()
		}
		load.WarmUp, load.Ops = 0, opsOf(work/l.program.OpBytes, len(sessions))
	case l.trial.Cell.Pilot:
		load.WarmUp, load.Window = 0, p.PilotWindow
	}
	return load
}

// opsOf splits the operations evenly over the connections.
func opsOf(total int64, connections int) []int64 {
	ops := make([]int64, connections)
	for i := range ops {
		ops[i] = total / int64(connections)
		if int64(i) < total%int64(connections) {
			ops[i]++
		}
	}
	return ops
}

// drain waits until what was written is durable on the storage: a measure of
// its own.
func (l *life) drain(ctx context.Context) error {
	start := l.runner.Clock.Now()
	if err := l.db.Settler.Settle(ctx); err != nil {
		return err
	}
	l.trial.Measures[0].Sync = l.runner.Clock.Now().Sub(start)
	return nil
}

func (l *life) check(ctx context.Context) (err error) {
	if err = l.runner.Workload.Check(ctx, l.db.Querier, l.ledger); err != nil {
		return err
	}
	if l.trial.Final, err = l.db.Observer.Observe(ctx); err != nil {
		return err
	}
	if !l.trial.Cell.Pilot { // which does a part of the work only
		l.trial.Warnings = append(l.trial.Warnings, filewise.FillWarnings(l.trial.Final)...)
		l.trial.Warnings = append(l.trial.Warnings, l.outgrown()...)
	}
	return nil
}
