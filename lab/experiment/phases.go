package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/lab/probe"
)

// phaseSteps returns the steps that measure the program's phases one after the other, with a check of the data after
// each.
func (l *life) phaseSteps() []step {
	var steps []step
	for i, phase := range l.program.Phases {
		check := func(ctx context.Context) error { return l.named(phase, l.check(ctx, i)) }
		steps = append(append(steps, l.measuringSteps(i)...), step{filewise.StageCheck, check})
	}
	return steps
}

// measuringSteps returns the steps that measure a phase: from bringing the caches to the demanded state until the work
// is durable.
func (l *life) measuringSteps(i int) []step {
	var steps []step
	phase := l.program.Phases[i]
	if phase.Cache != filewise.CacheAsIs {
		steps = append(steps, step{filewise.StageCool, func(ctx context.Context) error { return l.cool(ctx, phase) }})
	}
	steps = append(steps, step{filewise.StageMeasure, func(ctx context.Context) error { return l.named(phase, l.act(ctx, i)) }})
	if l.drains(phase) {
		steps = append(steps, step{filewise.StageDrain, l.drain})
	}
	return steps
}

// named adds the phase to an error, unless it is the only phase.
func (l *life) named(p filewise.Phase, err error) error {
	if err == nil || len(l.program.Phases) == 1 {
		return err
	}
	return fmt.Errorf("%s: %w", p.Operation, err)
}

// cool brings the caches to the state that the phase demands. It returns an error if the server cannot do that.
func (l *life) cool(ctx context.Context, p filewise.Phase) error {
	if p.Act == filewise.ActRestore { // what is restored is not in the server's files
		return l.evictBackups()
	}
	if l.db.Cool != nil && l.db.Restart == nil && p.Cache == filewise.CacheBufferCold {
		return l.db.Cool(ctx)
	}
	if l.db.Restart == nil {
		return filewise.Errorf(filewise.CodePreflight, "use --cache warm here", "%s needs a server that may be restarted: %w", p.Cache,
			filewise.ErrUnsupported)
	}
	if p.Cache == filewise.CacheStorageCold {
		if l.db.Evict == nil {
			return filewise.Errorf(filewise.CodePreflight, "use --cache buffer-cold here", "%s needs files that Filewise can see: %w", p.Cache,
				filewise.ErrUnsupported)
		}
		return l.db.Evict(ctx)
	}
	return l.db.Restart(ctx)
}

// evictBackups drops the pages of the last backup's files from the system's cache.
func (l *life) evictBackups() error {
	for _, b := range l.backups {
		err := filepath.WalkDir(b.Path, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			return errors.Join(filesystem.SyncFile(path), filesystem.EvictIn(filepath.Dir(b.Path), path))
		})
		if err != nil {
			return fmt.Errorf("emptying the cache of the backup: %w", err)
		}
	}
	return nil
}

// act runs a phase and measures it.
func (l *life) act(ctx context.Context, i int) error {
	switch phase := l.program.Phases[i]; phase.Act {
	case filewise.ActWork:
		return l.work(ctx, i)
	case filewise.ActBackup, filewise.ActRestore:
		return l.backupPhase(ctx, phase)
	default:
		return fmt.Errorf("act %q: %w", phase.Act, filewise.ErrUnsupported)
	}
}

// OperationOverall is the operation of the geometric mean of the throughputs of all phases.
const OperationOverall = "overall"

// OverallMeasure returns the geometric mean over a trial's phases as a measure, for reports. It returns false if a
// phase has no throughput.
func (p Plan) OverallMeasure(t filewise.Trial) (filewise.Measure, bool) {
	x, ok := p.overall(t)
	if !ok {
		return filewise.Measure{}, false
	}
	return filewise.Measure{Operation: OperationOverall, Unit: t.Measures[0].Unit, Work: x, Window: [2]time.Duration{0, time.Second}}, true
}

// overall returns the geometric mean over a trial's phases. It returns false if a phase has no throughput.
func (p Plan) overall(t filewise.Trial) (float64, bool) {
	if !p.Overall {
		return 0, false
	}
	sum := 0.0
	for _, operation := range p.Operations() {
		x, ok := t.Throughput(operation)
		if !ok {
			return 0, false
		}
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(p.Operations()))), true
}

// backupPhase times a backup, or the restore of the backup before.
func (l *life) backupPhase(ctx context.Context, phase filewise.Phase) error {
	if l.db.Backup == nil {
		return fmt.Errorf("this engine makes no backups: %w", filewise.ErrUnsupported)
	}
	probes := l.probes()
	live := probe.NewLive(probes, 0)
	defer live.Close()
	before := live.Edge(ctx)
	l.measuring(Event{Probes: live, Operation: phase.Operation, Unit: phase.Unit})
	stop := probes.Watch(ctx, 0)
	var took time.Duration
	record, err := l.underLoad(ctx, phase, func() (err error) {
		start := l.runner.Clock.Now()
		err = l.beating(phase.Operation, func() (err error) {
			if phase.Act == filewise.ActBackup {
				l.backups, err = l.db.Backup.Backup(ctx)
				return err
			}
			return l.db.Backup.Restore(ctx)
		})
		took = l.runner.Clock.Now().Sub(start)
		if l.db.BackupTook != nil && err == nil {
			took = l.db.BackupTook()
		}
		return err
	})
	stop()
	if err != nil {
		return err
	}
	l.trial.Measures = append(l.trial.Measures, filewise.Measure{
		Operation: phase.Operation, Unit: phase.Unit, Connections: 1, Window: [2]time.Duration{0, max(took, 1)}, Work: 1,
		Bytes: float64(phase.OpBytes), Deltas: probes.Delta(before, live.Edge(ctx)),
	})
	return record()
}

// lastMeasure returns the last measure that is not a latency; measures of latency follow the measure they belong to. It
// returns nil if there is none.
func (l *life) lastMeasure() *filewise.Measure {
	for i := len(l.trial.Measures) - 1; i >= 0; i-- {
		if m := &l.trial.Measures[i]; m.Unit != filewise.UnitTimes {
			return m
		}
	}
	return nil
}

// check compares the data with what the phases so far should have left; the engine verifies a restore. After the last
// phase it also observes the files.
func (l *life) check(ctx context.Context, i int) error {
	if err := l.compare(ctx, i); err != nil {
		return err
	}
	if i < len(l.program.Phases)-1 {
		return nil
	}
	return l.finish(ctx)
}

func (l *life) compare(ctx context.Context, i int) error {
	switch act := l.program.Phases[i].Act; {
	case act == filewise.ActRestore:
		if l.turn == nil || !l.verified { // one of an interleaved block's restores
			if err := l.db.Backup.Verify(ctx); err != nil {
				return err
			}
			l.verified = true
		}
		return l.db.Backup.Discard(ctx)
	case act == filewise.ActBackup && !l.program.Restores():
		return l.db.Backup.Discard(ctx)
	}
	return l.runner.Workload.Check(ctx, l.db, i, l.ledgers[:i+1])
}

// countExtents counts the fragments of a managed server's files. Others are not counted: this process locks an embedded
// engine's files, and a server by URL has its files in its own file system.
func (l *life) countExtents() {
	if l.runner.Plan.Target.Mode != filewise.Managed {
		return
	}
	for i := range l.trial.Final {
		if n, ok := filesystem.Extents(l.trial.Final[i].Path); ok {
			l.trial.Final[i].Extents = &n
		}
	}
}

// finish observes the files after all phases. It warns if the work has filled or outgrown them.
func (l *life) finish(ctx context.Context) (err error) {
	if l.trial.Final, err = l.db.Observe(ctx); err != nil {
		return err
	}
	l.trial.Final = append(l.trial.Final, l.backups...)
	l.countExtents()
	if l.program.Appends() && !l.trial.Cell.Pilot { // a pilot does only a part of the work
		l.trial.Warnings = append(l.trial.Warnings, filewise.FillWarnings(l.trial.Final)...)
		l.trial.Warnings = append(l.trial.Warnings, l.outgrown()...)
	}
	return nil
}
