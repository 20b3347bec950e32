package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/host/machine"
	"filewise/lab/probe"
	"filewise/results/store"
)

// begin stores a new run with the facts of its machine and server, or takes a resumed one up. For a resumed run, these
// facts must not have changed.
func (m *measurement) begin(ctx context.Context, run store.Run) (store.Run, error) {
	if run.ID != 0 {
		if err := m.unchanged(ctx, run, false); err != nil {
			return run, err
		}
		return m.store.Resume(ctx, run.ID)
	}
	env := m.env
	server, err := env.Facts(ctx)
	if err != nil {
		return run, fmt.Errorf("facts of the server: %w", err)
	}
	run.Server = append(slices.Clone(server), scriptFacts(env.Scripts)...)
	run.Machine = env.machineFacts(ctx)
	run.Version = m.Version
	run.Warnings = env.Warnings()
	run.Started, run.Seal = time.Now().UTC(), sealOf(run.Plan)
	if run.ID, err = m.store.CreateRun(ctx, run); err != nil {
		return run, err
	}
	return m.store.Run(ctx, run.ID)
}

// scriptFacts returns the facts of all layouts. Each fact appears once.
func scriptFacts(scripts []filewise.Statements) []filewise.Fact {
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

// Warnings returns a report's warnings that hold for any result of the plan here: about volumes, layouts, server and
// engine, as far as known.
func (env *Environment) Warnings() []filewise.Warning {
	t := env.Plan.Target
	return slices.Concat(machine.Warnings(t.VolumesHere()), env.ScriptWarnings(), findingWarnings(env.findings),
		labelWarnings(t, env.Engine.Describe()))
}

// ScriptWarnings returns the warnings of all layouts. Each code and message appears once.
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

// probes returns this machine's probes. If the server is another machine, the probes are renamed, since they measure
// only the client.
func probes(t filewise.Target) []filewise.Probe {
	if t.Mode != filewise.External {
		return probe.System(t.Volumes)
	}
	all := probe.System(t.VolumesHere())
	if t.Address.Here() {
		return all
	}
	for i, p := range all {
		all[i] = clientProbe{p}
	}
	return all
}

// clientPrefix begins the names of probes that measure the client, not the server.
const clientPrefix = "client "

type clientProbe struct{ filewise.Probe }

// Name returns the probe's name with the prefix for the client.
func (p clientProbe) Name() string { return clientPrefix + p.Probe.Name() }

// clientWarnings returns warnings about the processors of a client that is not the server.
func clientWarnings(t filewise.Trial) []filewise.Warning {
	var out []filewise.Warning
	for _, m := range t.Measures {
		var ofClient []filewise.Delta
		for _, d := range m.Deltas {
			if name, ok := strings.CutPrefix(d.Probe, clientPrefix); ok {
				d.Probe = name
				ofClient = append(ofClient, d)
			}
		}
		for _, w := range probe.Warnings(ofClient) {
			w.Code, w.Message = "client-"+w.Code, "On the client, which is not the server: "+w.Message
			out = append(out, w)
		}
	}
	return out
}
