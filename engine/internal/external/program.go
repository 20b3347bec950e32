package external

import (
	"fmt"

	"filewise"
	"filewise/engine/internal/operations"
)

// CheckPhases refuses what no workload of several phases can do on an existing server of
// an engine whose SQL has these sections; cools: its builds can leave the buffer cache alone.
func CheckPhases(engine string, l filewise.Layout, p filewise.Program, has func(section string) bool, cools bool) error {
	refuse := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "%s on %s: %w", fmt.Sprintf(format, args...), engine, filewise.ErrUnsupported)
	}
	missing := operations.Missing(p, has)
	switch {
	case p.Appends():
		return nil
	case l.AddedLater != "":
		return refuse("use scenario inserts", "files added later in workload %s", p.Workload)
	case l.Indexes != "" && p.Unindexed():
		return refuse("add --index key", "indexes %s in workload %s, which has no index", l.Indexes, p.Workload)
	case missing != "":
		return refuse("choose another scenario", "section %q of workload %s", missing, p.Workload)
	}
	for _, phase := range p.Phases {
		if phase.Cache != filewise.CacheAsIs && !(cools && phase.Cache == filewise.CacheBufferCold) {
			return refuse("use --cache warm", "cache %s (those of an existing server serve all of its users, and Filewise empties none of them)",
				phase.Cache)
		}
	}
	return nil
}
