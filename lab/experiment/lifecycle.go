package experiment

import (
	"context"
	"fmt"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// Families of the life cycle: the operations timed on a database that the workload has filled. One operation is one
// duration, so throughput is its inverse.
const (
	FamilyCheckpoint = "checkpoint" // write all dirty pages to the data files
	FamilyShutdown   = "shutdown"   // shut down cleanly
	FamilyOpen       = "open"       // start after a clean shutdown, until the first answer
	FamilyRecovery   = "recovery"   // start after a crash in the middle of the work
)

// lifecycleFamilies lists the families in the order in which they are timed.
var lifecycleFamilies = []string{FamilyShutdown, FamilyOpen, FamilyCheckpoint, FamilyRecovery}

// cycleFamilies lists the families timed on a server that Filewise may not stop. There the database goes offline and
// comes back. It is not crashed, so there is no recovery to time.
var cycleFamilies = []string{FamilyShutdown, FamilyOpen, FamilyCheckpoint}

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
	err := l.beating(FamilyShutdown, func() (err error) { offline, online, err = l.db.Cycle(ctx); return err })
	if err != nil {
		return fmt.Errorf("offline and online: %w", err)
	}
	l.time(FamilyShutdown, offline)
	l.time(FamilyOpen, online)
	return nil
}

// checkpointed times a checkpoint, without the settler's other work if the engine times it separately.
func (l *life) checkpointed(ctx context.Context) error {
	var took time.Duration
	if err := l.beating(FamilyCheckpoint, func() (err error) { took, err = l.settled(ctx); return err }); err != nil {
		return fmt.Errorf("%s: %w", FamilyCheckpoint, err)
	}
	l.time(FamilyCheckpoint, took)
	return nil
}

// time adds the measure of one timed operation.
func (l *life) time(family string, took time.Duration) {
	l.trial.Measures = append(l.trial.Measures, filewise.Measure{
		Family: family, Unit: filewise.UnitTimes, Window: [2]time.Duration{0, max(took, 1)}, Work: 1,
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
			return []timing{{FamilyShutdown, x.Shutdown}, {FamilyOpen, x.Open}}
		}),
		load(third),
		measure(func(x filewise.Lifecycle) []timing { return []timing{{FamilyCheckpoint, x.Checkpoint}} }),
		load(l.runner.Plan.Work - 2*third),
		{filewise.StageStop, func(ctx context.Context) error { return l.db.Lifecycle.Crash(ctx) }},
		measure(func(x filewise.Lifecycle) []timing { return []timing{{FamilyRecovery, x.Open}} }),
		{filewise.StageCheck, func(ctx context.Context) error { return l.check(ctx, 0) }},
	}
}

type timing struct {
	family string
	do     func(context.Context) (time.Duration, error)
}

func (l *life) timed(ctx context.Context, timings func(filewise.Lifecycle) []timing) error {
	if l.db.Lifecycle == nil {
		return fmt.Errorf("the life cycle of this engine cannot be timed: %w", filewise.ErrUnsupported)
	}
	for _, t := range timings(l.db.Lifecycle) {
		var took time.Duration
		if err := l.beating(t.family, func() (err error) { took, err = t.do(ctx); return err }); err != nil {
			return fmt.Errorf("%s: %w", t.family, err)
		}
		l.time(t.family, took)
	}
	return nil
}

// ProveBackups makes the plan restore and compare every backup of a user's database. Each part becomes a family.
func (p *Plan) ProveBackups() error {
	p.Params.Proof = true
	w, err := workload.NewDump(p.Params, p.Seed)
	if err == nil {
		p.Phases = w.Program().Families()
	}
	return err
}
