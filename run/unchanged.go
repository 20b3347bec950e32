package run

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/machine"
	"filewise/store"
)

// sameParts are the ends of names of facts about the machine that must be the same in all of a run. Free space
// and versions of the kernel may change.
var sameParts = []string{"cores", "memory", "memory limit of the container", ": file system", ": mount point",
	": mount options", ": device"}

// setting matches the names of a server's version and settings, which must be the same, too.
var setting = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// unchanged refuses to go on with a run on another machine, file system or server than its trials were measured on.
// What an older Filewise did not store is not compared.
func (m *measurement) unchanged(ctx context.Context, run store.Run) error {
	server, err := m.env.Facts(ctx)
	if err != nil {
		return fmt.Errorf("facts of the server: %w", err)
	}
	changed := changes(run.Machine, m.env.machineFacts(ctx), sameHere)
	changed = append(changed, changes(run.Server, server, sameThere)...)
	if len(changed) == 0 {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, "bring back what it was and resume again, or measure anew: filewise run",
		"run %d cannot go on, for its trials would not be comparable: %s", run.ID, strings.Join(changed, "; "))
}

func sameHere(f filewise.Fact) bool {
	return slices.ContainsFunc(sameParts, func(part string) bool {
		return strings.TrimPrefix(f.Name, "client: ") == part || part[0] == ':' && strings.HasSuffix(f.Name, part)
	})
}

// sameThere leaves out paths and ports, which a managed server is given anew.
func sameThere(f filewise.Fact) bool {
	return setting.MatchString(f.Name) && f.Name != "port" && f.Name != "server" && !strings.ContainsAny(f.Value, `/\`)
}

// changes are the facts that both have and that differ.
func changes(before, after []filewise.Fact, wanted func(filewise.Fact) bool) (out []string) {
	for _, f := range before {
		i := slices.IndexFunc(after, func(g filewise.Fact) bool { return g.Name == f.Name })
		if i >= 0 && wanted(f) && wanted(after[i]) && unsized(f.Value) != unsized(after[i].Value) {
			out = append(out, fmt.Sprintf("%s was %s, and is %s", f.Name, f.Value, after[i].Value))
		}
	}
	return out
}

// sized are mount options by which room is made for a run that ran out of it.
var sized = regexp.MustCompile(`,(size|nr_inodes)=[^,]*`)

func unsized(value string) string { return sized.ReplaceAllString(value, "") }

// machineFacts are those of this machine, which is only the client of a server elsewhere.
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
