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
var lifecycleFamilies = []string{FamilyCheckpoint, FamilyShutdown, FamilyOpen, FamilyRecovery}

// lifecycleSteps fill the database with half of the work, time checkpoint,
// shutdown and open, do the other half, crash the server with that work dirty,
// and time the recovery.
func (l *life) lifecycleSteps() []step {
	half := l.runner.Plan.Work / 2
	return []step{
		{filewise.StageWarmUp, func(ctx context.Context) error { return l.fill(ctx, half) }},
		{filewise.StageMeasure, func(ctx context.Context) error {
			if l.db.Lifecycle == nil {
				return fmt.Errorf("the life cycle of this engine cannot be timed: %w", filewise.ErrUnsupported)
			}
			return l.timed(ctx,
				timing{FamilyCheckpoint, l.db.Lifecycle.Checkpoint},
				timing{FamilyShutdown, l.db.Lifecycle.Shutdown},
				timing{FamilyOpen, l.db.Lifecycle.Open})
		}},
		{filewise.StageWarmUp, func(ctx context.Context) error { return l.fill(ctx, l.runner.Plan.Work-half) }},
		{filewise.StageWarmUp, func(ctx context.Context) error { return l.db.Lifecycle.Crash(ctx) }},
		{filewise.StageMeasure, func(ctx context.Context) error {
			return l.timed(ctx, timing{FamilyRecovery, l.db.Lifecycle.Open})
		}},
		{filewise.StageCheck, l.check},
	}
}

type timing struct {
	family string
	do     func(context.Context) (time.Duration, error)
}

func (l *life) timed(ctx context.Context, timings ...timing) error {
	for _, t := range timings {
		took, err := t.do(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", t.family, err)
		}
		l.trial.Measures = append(l.trial.Measures, filewise.Measure{
			Family: t.family, Unit: "times", Window: [2]time.Duration{0, max(took, 1)}, Work: 1,
		})
	}
	return nil
}
