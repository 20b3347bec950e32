package run

import (
	"context"

	"filewise"
)

// checkDump refuses layouts that cannot hold the tables of the dump that fills builds.
func (env *Environment) checkDump(ctx context.Context) error {
	program := env.Plan.Program(env.Workload)
	if !program.Restored() {
		return nil
	}
	r, ok := env.Engine.(filewise.Restorer)
	if !ok {
		return filewise.Errorf(filewise.CodeUsage, "give a set-up in the study file instead", "a dump is not restored on %s: %w",
			env.Engine.Name(), filewise.ErrUnsupported)
	}
	return r.CheckDump(ctx, env.Target, env.Plan.Layouts, program)
}
