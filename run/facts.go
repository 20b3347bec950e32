package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/machine"
	"filewise/plan"
	"filewise/store"
)

// begin stores the run, new or resumed, with what it runs on.
func (m *measurement) begin(ctx context.Context, run store.Run) (store.Run, error) {
	if run.ID != 0 {
		return m.store.Resume(ctx, run.ID)
	}
	env := m.env
	server, err := env.Server.Facts(ctx)
	if err != nil {
		return run, fmt.Errorf("facts of the server: %w", err)
	}
	run.Server = append(slices.Clone(server), scriptFacts(env.Scripts)...)
	t := run.Plan.Target
	run.Machine = append(machine.Facts(ctx, t.VolumesHere()), env.facts...)
	if t.Mode == filewise.External && !t.Address.Here() {
		for i := range run.Machine {
			run.Machine[i].Name = "client: " + run.Machine[i].Name
		}
	}
	run.Version = m.Version
	run.Warnings = env.Warnings()
	run.Started = time.Now().UTC()
	if run.ID, err = m.store.CreateRun(ctx, run); err != nil {
		return run, err
	}
	return m.store.Run(ctx, run.ID)
}

// scriptFacts are those of all layouts, each once.
func scriptFacts(scripts []filewise.Script) []filewise.Fact {
	var out []filewise.Fact
	for _, s := range scripts {
		for _, f := range s.Facts {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// Warnings are what a report has to say of any result of the plan here, as far as it is
// known: of volumes, layouts, server and engine.
func (env *Environment) Warnings() []filewise.Warning {
	t := env.Plan.Target
	return slices.Concat(machine.Warnings(t.VolumesHere()), env.ScriptWarnings(), findingWarnings(env.findings),
		labelWarnings(t, plan.Describe(env.Engine)))
}

// ScriptWarnings are those of all layouts, each code and message once.
func (env *Environment) ScriptWarnings() []filewise.Warning {
	var out []filewise.Warning
	for _, s := range env.Scripts {
		for _, w := range s.Warnings {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}
