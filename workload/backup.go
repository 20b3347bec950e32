package workload

import (
	"context"

	"filewise"
)

// Families of a backup.
const (
	FamilyBackup  = "backup"
	FamilyRestore = "restore"
)

// NewBackup makes the workload of scenario backup: the tables of scan, backed up
// into the layout's backup files, and restored from them. The sections of an
// engine's backup.sql are tables, indexes and check.
func NewBackup(p Params, seed uint64) (filewise.Workload, error) {
	if p.Rows < fragBatchRows || p.Rows > maxDMLRows {
		return nil, filewise.Errorf(filewise.CodeUsage, "give at least one batch of rows", "--rows %d is not between %d and %d", p.Rows, fragBatchRows, maxDMLRows)
	}
	return &backup{params: p, fragments: newFragments(p, seed)}, nil
}

type backup struct {
	params Params
	*fragments
}

// Program describes the workload to an engine. One operation is one backup or
// one restore of everything.
func (w *backup) Program() filewise.Program {
	bytes := w.params.Rows * fragTables * fragRowBytes
	return filewise.Program{
		Workload: "backup", Family: FamilyBackup, Unit: "backups", Connections: 1, CommitEvery: 1,
		OpBytes: bytes, ReadOnly: true, Args: noArgs{},
		Vars: map[string]any{"Rows": w.params.Rows},
		Phases: []filewise.Phase{
			{Family: FamilyBackup, Unit: "backups", Act: filewise.ActBackup, Connections: 1, Ops: 1, OpBytes: bytes},
			{Family: FamilyRestore, Unit: "restores", Act: filewise.ActRestore, Connections: 1, Ops: 1, OpBytes: bytes},
		},
	}
}

// Check compares the tables with what was loaded; the restored ones are compared
// by the engine's Backuper.
func (w *backup) Check(ctx context.Context, q filewise.Querier, _ filewise.Ledger) error {
	return w.check(ctx, q)
}

// CheckPhase has nothing to compare: a backup changes nothing, and a restore is
// verified by the engine.
func (w *backup) CheckPhase(context.Context, filewise.Querier, int, []filewise.Ledger) error {
	return nil
}
