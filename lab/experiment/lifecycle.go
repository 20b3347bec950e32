package experiment

import (
	"context"
	"fmt"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// Operations of the life cycle: the operations timed on a database that the workload has filled. One operation is one
// duration, so throughput is its inverse.
const (
	OperationCheckpoint = "checkpoint" // write all dirty pages to the data files
	OperationShutdown   = "shutdown"   // shut down cleanly
	OperationOpen       = "open"       // start after a clean shutdown, until the first answer
	OperationRecovery   = "recovery"   // start after a crash in the middle of the work
)

// lifecycleOperations lists the operations in the order in which they are timed.
var lifecycleOperations = []string{OperationShutdown, OperationOpen, OperationCheckpoint, OperationRecovery}

// cycleOperations lists the operations timed on a server that Filewise may not stop. There the database goes offline and
// comes back. It is not crashed, so there is no recovery to time.
var cycleOperations = []string{OperationShutdown, OperationOpen, OperationCheckpoint}

// cycles reports whether the life cycle runs on databases on a server by URL.
func (p Plan) cycles() bool {
	return p.Measure == MeasureLifecycle && p.Target.Mode == filewise.External
}

// cycleSteps returns the steps of a life cycle on a server by URL. Half of the work runs before the database goes
// offline, and half before a checkpoint.
func (l *life) cycleSteps() []step {
	half := l.runner.Plan.Work / 2
	load := func(bytes int64) step {
		return step{filewise.StageWork, func(ctx context.Context) error { return l.fill(ctx, bytes) }}
	}
	return []step{
		load(half),
		{filewise.StageMeasure, l.cycled},
		load(l.runner.Plan.Work - half),
		{filewise.StageMeasure, l.checkpointed},
		{filewise.StageCheck, func(ctx context.Context) error { return l.check(ctx, 0) }},
	}
}

// cycled measures how long the database takes to go offline and to come back online.
func (l *life) cycled(ctx context.Context) error {
	if l.db.Cycle == nil {
		return fmt.Errorf("databases of this engine do not go offline by themselves: %w", filewise.ErrUnsupported)
	}
	var offline, online time.Duration
	err := l.beating(OperationShutdown, func() (err error) { offline, online, err = l.db.Cycle(ctx); return err })
	if err != nil {
		return fmt.Errorf("offline and online: %w", err)
	}
	l.time(OperationShutdown, offline)
	l.time(OperationOpen, online)
	return nil
}

// checkpointed times a checkpoint, without the settler's other work if the engine times it separately.
func (l *life) checkpointed(ctx context.Context) error {
	var took time.Duration
	if err := l.beating(OperationCheckpoint, func() (err error) { took, err = l.settled(ctx); return err }); err != nil {
		return fmt.Errorf("%s: %w", OperationCheckpoint, err)
	}
	l.time(OperationCheckpoint, took)
	return nil
}

// time adds the measure of one timed operation.
func (l *life) time(operation string, took time.Duration) {
	l.trial.Measures = append(l.trial.Measures, filewise.Measure{
		Operation: operation, Unit: filewise.UnitTimes, Window: [2]time.Duration{0, max(took, 1)}, Work: 1,
	})
}

// lifecycleSteps returns the steps of a life cycle. A third of the work runs before each of shutdown, checkpoint and
// crash, so that each finds equally much dirty data.
func (l *life) lifecycleSteps() []step {
	third := l.runner.Plan.Work / 3
	load := func(bytes int64) step {
		return step{filewise.StageWork, func(ctx context.Context) error { return l.fill(ctx, bytes) }}
	}
	measure := func(timings func(filewise.Lifecycle) []timing) step {
		return step{filewise.StageMeasure, func(ctx context.Context) error { return l.timed(ctx, timings) }}
	}
	return []step{
		load(third),
		measure(func(x filewise.Lifecycle) []timing {
			return []timing{{OperationShutdown, x.Shutdown}, {OperationOpen, x.Open}}
		}),
		load(third),
		measure(func(x filewise.Lifecycle) []timing { return []timing{{OperationCheckpoint, x.Checkpoint}} }),
		load(l.runner.Plan.Work - 2*third),
		{filewise.StageStop, func(ctx context.Context) error { return l.db.Lifecycle.Crash(ctx) }},
		measure(func(x filewise.Lifecycle) []timing { return []timing{{OperationRecovery, x.Open}} }),
		{filewise.StageCheck, func(ctx context.Context) error { return l.check(ctx, 0) }},
	}
}

type timing struct {
	operation string
	do        func(context.Context) (time.Duration, error)
}

func (l *life) timed(ctx context.Context, timings func(filewise.Lifecycle) []timing) error {
	if l.db.Lifecycle == nil {
		return fmt.Errorf("the life cycle of this engine cannot be timed: %w", filewise.ErrUnsupported)
	}
	for _, t := range timings(l.db.Lifecycle) {
		var took time.Duration
		if err := l.beating(t.operation, func() (err error) { took, err = t.do(ctx); return err }); err != nil {
			return fmt.Errorf("%s: %w", t.operation, err)
		}
		l.time(t.operation, took)
	}
	return nil
}

// ProveBackups makes the plan restore and compare every backup of a user's database. Each part becomes an operation.
func (p *Plan) ProveBackups() error {
	p.Params.Proof = true
	w, err := workload.NewDump(p.Params, p.Seed)
	if err == nil {
		p.Phases = w.Program().Operations()
	}
	return err
}
