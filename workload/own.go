package workload

import (
	"context"

	"filewise"
)

// own is backups of a database of the user's, which is only read.
type own struct {
	name, family string
	params       Params
}

// Program describes the workload to an engine.
func (w own) Program() filewise.Program {
	p := filewise.Program{Workload: w.name, ReadOnly: true, Phases: []filewise.Phase{{Family: w.family, Unit: w.family + "s",
		Act: filewise.ActBackup, Logical: w.family == FamilyDump, Args: noArgs{}, Connections: 1, CommitEvery: 1, Ops: 1}}}
	if w.params.Proof {
		p.Phases = append(p.Phases, filewise.Phase{Family: FamilyRestore, Unit: "restores", Act: filewise.ActRestore, Args: noArgs{},
			Connections: 1, CommitEvery: 1, Ops: 1})
	}
	return p
}

// Check has nothing to compare with: what was restored is compared by the engine's Backuper.
func (own) Check(context.Context, filewise.Querier, int, []filewise.Ledger) error { return nil }
