package run

import (
	"context"
	"fmt"
	"strings"

	"filewise"
	"filewise/host/machine"
	"filewise/results/archive"
	"filewise/results/store"
)

// unchanged refuses to continue a run on another machine, file system or server than its trials were measured on. If
// measuring is set, a server that does not answer is no reason to refuse.
func (m *measurement) unchanged(ctx context.Context, run store.Run, measuring bool) error {
	server, err := m.env.Facts(ctx)
	if err != nil && !measuring {
		return fmt.Errorf("facts of the server: %w", err)
	}
	changed := changes(run, store.Run{Machine: m.env.machineFacts(ctx), Server: server})
	if len(changed) == 0 {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, fmt.Sprintf("bring back what it was, and continue: filewise resume %d; or measure again: "+
		"filewise run", run.ID), "run %d cannot go on, for its trials would not be comparable: %s", run.ID, strings.Join(changed, "; "))
}

// changes lists the changes of facts that must stay the same in a run.
func changes(before, now store.Run) (out []string) {
	for _, u := range archive.Unlike(before, now) {
		out = append(out, fmt.Sprintf("%s was %s, and is %s", u.What, u.Before, u.After))
	}
	for _, f := range before.Machine {
		is := filewise.ValueOf(now.Machine, f.Name, f.Value)
		if is != f.Value && (strings.HasSuffix(f.Name, ": mount point") || strings.HasSuffix(f.Name, archive.DeviceIdentity)) {
			out = append(out, fmt.Sprintf("%s was %s, and is %s", f.Name, f.Value, is))
		}
	}
	return out
}

// machineFacts returns the facts of this machine, which is only the client if the server is elsewhere.
func (env *Environment) machineFacts(ctx context.Context) []filewise.Fact {
	t := env.Plan.Target
	facts := append(machine.Facts(ctx, t.VolumesHere()), env.facts...)
	if t.Mode == filewise.External && !t.Address.Here() {
		for i := range facts {
			facts[i].Name = "client: " + facts[i].Name
		}
	}
	return facts
}
