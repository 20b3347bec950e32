package experiment

import (
	"context"
	"fmt"
	"time"

	"filewise"
)

// Families of the life cycle: what is timed of a database that the workload has
// filled. One operation is one time, so that throughput is its inverse.
const (
	FamilyCheckpoint = "checkpoint" // everything dirty written to the data files
	FamilyShutdown   = "shutdown"   // clean
	FamilyOpen       = "open"       // after a clean shutdown, until the first answer
	FamilyRecovery   = "recovery"   // open after a crash in the middle of the work
)

// lifecycleFamilies are in the order in which they are timed.
var lifecycleFamilies = []string{FamilyShutdown, FamilyOpen, FamilyCheckpoint, FamilyRecovery}

// lifecycleSteps do a third of the work each time before a shutdown, a
// checkpoint and a crash, so that each finds that much dirty.
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
		took, err := t.do(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", t.family, err)
		}
		l.trial.Measures = append(l.trial.Measures, filewise.Measure{
			Family: t.family, Unit: filewise.UnitTimes, Window: [2]time.Duration{0, max(took, 1)}, Work: 1,
		})
	}
	return nil
}
