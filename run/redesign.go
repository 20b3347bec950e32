package run

import (
	"context"
	"fmt"
	"slices"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/store"
)

// redesign returns a function that makes the runner measure another design of the run. The design is stored before its
// first pilot. If it does not fit here, the run goes on with its own design.
func (m *measurement) redesign(run *store.Run, runner *experiment.Runner) func(context.Context, experiment.Plan) (bool, error) {
	return func(ctx context.Context, p experiment.Plan) (bool, error) {
		next, err := Prepare(m.env.Engine, p)
		if err != nil || next.Preflight() != nil || !next.within(experiment.FreeShare) {
			return false, ctx.Err()
		}
		if err := m.env.take(ctx, next); err != nil {
			return false, err
		}
		facts, err := m.env.Facts(ctx)
		if err != nil {
			return false, fmt.Errorf("facts of the server: %w", err)
		}
		run.Plan, run.Server = p, append(slices.Clone(facts), scriptFacts(next.Scripts)...)
		runner.Workload, runner.Server, runner.Stopped = m.env.Workload, m.env.Server, m.env.stopped()
		return true, m.store.Redesign(ctx, run.ID, run.Plan, run.Server)
	}
}

// within reports whether the plan needs at most 1/share of each volume's free space.
func (env *Environment) within(share int64) bool {
	needs, err := env.Space()
	return err == nil && !slices.ContainsFunc(needs, func(n SpaceNeed) bool { return n.Free != nil && n.Need > *n.Free/share })
}

// take replaces the plan in the same place. A server that Filewise starts is reopened if the memory limit differs.
func (env *Environment) take(ctx context.Context, next *Environment) error {
	again := next.Plan.Target.Memory != env.Target.Memory
	env.Plan, env.Workload, env.Scripts = next.Plan, next.Workload, next.Scripts
	if !again || env.Target.Mode != filewise.Managed {
		return nil
	}
	if err := env.closeFrom(env.opened); err != nil {
		return err
	}
	env.Target.Memory, env.Target.OnStart, env.Target.OnLoad = next.Plan.Target.Memory, env.started, nil
	if err := env.limitMemory(); err != nil {
		return err
	}
	return env.open(ctx)
}
