package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"filewise"
	"filewise/drive"
	"filewise/probe"
)

// phaseSteps measure the program's phases one after the other, each from the
// caches that it asks for, and check the data after each.
func (l *life) phaseSteps() []step {
	var steps []step
	l.ledgers = make([]filewise.Ledger, len(l.program.Phases))
	for i, phase := range l.program.Phases {
		if phase.Cache != filewise.CacheAsIs {
			steps = append(steps, step{filewise.StageSettle, func(ctx context.Context) error { return l.cool(ctx, phase) }})
		}
		steps = append(steps, step{filewise.StageMeasure, func(ctx context.Context) error { return l.named(phase, l.act(ctx, i)) }})
		if phase.Act == filewise.ActWork && !l.program.ReadOnly {
			steps = append(steps, step{filewise.StageDrain, func(ctx context.Context) error { return l.drainPhase(ctx) }})
		}
		steps = append(steps, step{filewise.StageCheck, func(ctx context.Context) error { return l.named(phase, l.checkPhase(ctx, i)) }})
	}
	return append(steps, step{filewise.StageCheck, l.finalFiles})
}

// named names the phase in an error.
func (l *life) named(p filewise.Phase, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", p.Family, err)
}

// cool brings the caches to the state that the phase starts from.
func (l *life) cool(ctx context.Context, p filewise.Phase) error {
	if l.db.Restart == nil {
		return filewise.Errorf(filewise.CodePreflight, "use --cache warm here", "%s needs a server that may be restarted: %w", p.Cache, filewise.ErrUnsupported)
	}
	if p.Cache == filewise.CacheStorageCold {
		if l.db.Evict == nil {
			return filewise.Errorf(filewise.CodePreflight, "use --cache buffer-cold here", "%s needs files that Filewise can see: %w", p.Cache, filewise.ErrUnsupported)
		}
		return l.db.Evict.Evict(ctx)
	}
	return l.db.Restart.Restart(ctx)
}

// act does a phase and measures it.
func (l *life) act(ctx context.Context, i int) error {
	switch phase := l.program.Phases[i]; phase.Act {
	case filewise.ActWork:
		return l.workPhase(ctx, i)
	case filewise.ActBackup, filewise.ActRestore:
		return l.backupPhase(ctx, phase)
	default:
		return fmt.Errorf("act %q: %w", phase.Act, filewise.ErrUnsupported)
	}
}

// workPhase drives the phase's operations through sessions of its own.
func (l *life) workPhase(ctx context.Context, i int) (err error) {
	phase := l.program.Phases[i]
	sessions, err := l.connectPhase(ctx, i)
	defer func() { err = errors.Join(err, CloseAll(sessions)) }()
	if err != nil {
		return err
	}
	if phase.Discard > 0 {
		if err := warmPhase(ctx, phase, sessions); err != nil {
			return err
		}
	}
	load := drive.Load{
		Sessions: sessions, Clock: l.runner.Clock, SliceLength: l.runner.Plan.SliceLength,
		Chunk: l.db.Chunk, Multiple: 1, Live: new(drive.Live),
		Retry: l.program.Retry, Seed: l.runner.Plan.Seed,
	}
	if err := l.shapePhase(&load, phase); err != nil {
		return err
	}
	probes := l.probes()
	var edges [2]probe.Snapshot
	live := probe.NewLive(probes, load.Window)
	defer live.Close()
	load.Edge = func(ctx context.Context, e drive.Edge) { edges[e] = live.Edge(ctx) }
	l.measuring(Event{Live: load.Live, Probes: live, Family: phase.Family, Unit: phase.Unit})
	stop := probes.Watch(ctx, load.Window)
	result, err := drive.Run(ctx, load)
	stop()
	l.ledgers[i] = result.Ledger
	l.retried(result.Measure.Errors, "in "+phase.Family)
	if err != nil {
		return err
	}
	if result.Measure.Work == 0 && phase.Ops == 0 {
		return filewise.Errorf(filewise.CodeTrials, "use a longer --window or fewer connections",
			"none of %d connections committed anything within the window", len(sessions))
	}
	m := result.Measure
	m.Family, m.Unit, m.Bytes = phase.Family, phase.Unit, m.Work*float64(phase.OpBytes)
	m.Connections, m.Paced = len(sessions), phase.Rate > 0 || phase.Pause != nil
	m.Deltas = windowDeltas(probes, edges, load, result)
	l.trial.Warnings = append(l.trial.Warnings, probe.Warnings(m.Deltas)...)
	return l.recorded(phase, m)
}

// shapePhase gives the load the phase's work: fixed, or as much as fits into the
// plan's window, of one type or of several.
func (l *life) shapePhase(load *drive.Load, phase filewise.Phase) error {
	p := l.runner.Plan
	switch {
	case phase.Ops > 0:
		load.Ops = opsOf(phase.Ops, len(load.Sessions))
	case phase.Window > 0:
		load.Window = phase.Window
	case l.trial.Cell.Pilot:
		load.Window = p.PilotWindow
	default:
		load.WarmUp, load.Window = l.schedule.WarmUp, p.Window
	}
	if phase.Client {
		load.Chunk = 1
	}
	load.Rate, load.Pause = phase.Rate, phase.Pause
	if len(phase.Types) == 0 {
		return nil
	}
	typed, ok := phase.Args.(filewise.TypedArgs)
	if !ok {
		return fmt.Errorf("%s has %d types of operations, and does not tell which is which", phase.Family, len(phase.Types))
	}
	load.Types, load.TypeOf = phase.Types, typed.TypeOf
	return nil
}

// connectPhase opens the phase's sessions.
func (l *life) connectPhase(ctx context.Context, i int) ([]filewise.Session, error) {
	c, ok := l.db.Connector.(filewise.PhaseConnector)
	if !ok {
		return nil, fmt.Errorf("phases: %w", filewise.ErrUnsupported)
	}
	n := l.program.Phases[i].Connections
	if n == 0 {
		n = l.program.Connections
	}
	return Connect(ctx, phaseConnector{c, i}, n)
}

// phaseConnector opens connections for one phase.
type phaseConnector struct {
	filewise.PhaseConnector
	phase int
}

// Connect opens the connection of a worker.
func (c phaseConnector) Connect(ctx context.Context, worker int) (filewise.Session, error) {
	return c.ConnectPhase(ctx, c.phase, worker)
}

// warmPhase has each connection do what is not measured.
func warmPhase(ctx context.Context, phase filewise.Phase, sessions []filewise.Session) error {
	for _, s := range sessions {
		if done, err := s.Do(ctx, 0, phase.Discard); err != nil {
			return fmt.Errorf("%d of %d operations before the measured ones: %w", done, phase.Discard, err)
		}
	}
	return nil
}

// FamilyOverall is the geometric mean of the throughputs of all phases.
const FamilyOverall = "overall"

// OverallMeasure is that mean as a measure of a trial, for reports; false when a
// phase has none.
func (p Plan) OverallMeasure(t filewise.Trial) (filewise.Measure, bool) {
	x, ok := p.overall(t)
	if !ok {
		return filewise.Measure{}, false
	}
	return filewise.Measure{Family: FamilyOverall, Unit: t.Measures[0].Unit, Work: x, Window: [2]time.Duration{0, time.Second}}, true
}

// overall is that mean of a trial; false when a phase has none.
func (p Plan) overall(t filewise.Trial) (float64, bool) {
	if !p.Overall {
		return 0, false
	}
	sum := 0.0
	for _, family := range p.Phases {
		x, ok := t.Throughput(family)
		if !ok {
			return 0, false
		}
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(p.Phases))), true
}

// backupPhase times a backup, or the restore of the backup before it.
func (l *life) backupPhase(ctx context.Context, phase filewise.Phase) error {
	if l.db.Backup == nil {
		return fmt.Errorf("this engine makes no backups: %w", filewise.ErrUnsupported)
	}
	probes := l.probes()
	live := probe.NewLive(probes, 0)
	defer live.Close()
	before := live.Edge(ctx)
	l.measuring(Event{Probes: live, Family: phase.Family, Unit: phase.Unit})
	stop := probes.Watch(ctx, 0)
	var took time.Duration
	record, err := l.beside(ctx, phase, func() (err error) {
		start := l.runner.Clock.Now()
		if phase.Act == filewise.ActBackup {
			l.backups, err = l.db.Backup.Backup(ctx)
		} else {
			err = l.db.Backup.Restore(ctx)
		}
		took = l.runner.Clock.Now().Sub(start)
		return err
	})
	stop()
	if err != nil {
		return err
	}
	l.trial.Measures = append(l.trial.Measures, filewise.Measure{
		Family: phase.Family, Unit: phase.Unit, Connections: 1, Window: [2]time.Duration{0, max(took, 1)}, Work: 1,
		Bytes: float64(phase.OpBytes), Deltas: probes.Delta(before, live.Edge(ctx)),
	})
	return record()
}

// drainPhase waits until what the last phase wrote is durable on the storage.
func (l *life) drainPhase(ctx context.Context) error {
	start := l.runner.Clock.Now()
	if err := l.db.Settler.Settle(ctx); err != nil {
		return err
	}
	took := l.runner.Clock.Now().Sub(start)
	for i := len(l.trial.Measures) - 1; i >= 0; i-- { // latencies stand behind the measure that they are of
		if m := &l.trial.Measures[i]; m.Unit != filewise.UnitTimes {
			m.Sync = took
			return nil
		}
	}
	return nil
}

// checkPhase compares the data with what the phases so far should have left; a
// restore is verified by the engine.
func (l *life) checkPhase(ctx context.Context, i int) error {
	if l.program.Phases[i].Act == filewise.ActRestore {
		if err := l.db.Backup.Verify(ctx); err != nil {
			return err
		}
		return l.db.Backup.Discard(ctx)
	}
	if l.program.Phases[i].Act == filewise.ActBackup && !l.program.Restores() {
		return l.db.Backup.Discard(ctx)
	}
	w, ok := l.runner.Workload.(filewise.PhasedWorkload)
	if !ok {
		return fmt.Errorf("the workload cannot check its phases: %w", filewise.ErrUnsupported)
	}
	return w.CheckPhase(ctx, l.db.Querier, i, l.ledgers[:i+1])
}

// finalFiles observes the files after all phases.
func (l *life) finalFiles(ctx context.Context) (err error) {
	l.trial.Final, err = l.db.Observer.Observe(ctx)
	l.trial.Final = append(l.trial.Final, l.backups...)
	return err
}
