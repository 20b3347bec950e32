package workload

import (
	"context"

	"filewise"
)

// Operations of a backup.
const (
	OperationBackup  = "backup"
	OperationDump    = "dump"
	OperationRestore = "restore"
)

// NewDump returns the workload of scenario dump. It is like the workload of scenario backup, except that the engine's
// program for logical dumps makes the backups.
func NewDump(p Params, seed uint64) (filewise.Workload, error) {
	if p.Own {
		return own{"dump", OperationDump, p}, nil
	}
	w, err := NewBackup(p, seed)
	if err == nil {
		w.(*backup).name, w.(*backup).operation = "dump", OperationDump
	}
	return w, err
}

// NewBackup returns the workload of scenario backup. It backs up the tables of scan into the layout's backup files, and
// restores them unless the files are discarded. The sections of an engine's backup.sql are tables, indexes and check.
func NewBackup(p Params, seed uint64) (filewise.Workload, error) {
	if p.Own {
		return own{"backup", OperationBackup, p}, nil
	}
	if err := enoughRows(p.Rows); err != nil {
		return nil, err
	}
	if p.Cache != "" { // in plans of earlier versions
		if err := checkCache(p.Cache); err != nil {
			return nil, err
		}
	}
	if p.ConcurrentLoad < 0 || p.ConcurrentLoad > MaxConnections {
		return nil, filewise.Errorf(filewise.CodeUsage, within("--concurrent-load", p.ConcurrentLoad, MaxConnections),
			"--concurrent-load %d is not between 1 and %d connections", p.ConcurrentLoad, MaxConnections)
	}
	return &backup{name: "backup", operation: OperationBackup, params: p, fragments: newFragments(p, seed)}, nil
}

type backup struct {
	name      string
	operation string // of the backup phase
	params    Params
	*fragments
}

type backupParams struct{ Rows int64 }

// Program describes the workload to an engine. One operation is one backup or one restore of the whole database.
func (w *backup) Program() filewise.Program {
	bytes := w.params.Rows * fragTables * fragRowBytes
	cache := filewise.CacheAsIs
	if w.params.Cache != CacheWarm {
		cache = filewise.Cache(w.params.Cache)
	}
	p := filewise.Program{
		Workload: w.name, SQLOf: "scan", ReadOnly: true,
		Params: backupParams{w.params.Rows}, Tables: w.tables(),
		Phases: []filewise.Phase{
			{Operation: w.operation, Unit: w.operation + "s", Act: filewise.ActBackup, Logical: w.operation == OperationDump, Args: noArgs{},
				Connections: 1, CommitEvery: 1, Ops: 1, OpBytes: bytes, Cache: cache},
			{Operation: OperationRestore, Unit: "restores", Act: filewise.ActRestore, Args: noArgs{}, Connections: 1, CommitEvery: 1, Ops: 1,
				OpBytes: bytes, Cache: cache},
		},
	}
	if w.params.ConcurrentLoad > 0 {
		p.Phases[0].ConcurrentLoad = OperationForeground
		p.Phases = append([]filewise.Phase{w.foreground()}, p.Phases...)
	}
	if w.params.Discard { // nothing is left to restore
		p.Phases = p.Phases[:len(p.Phases)-1]
	}
	return p
}

// Check compares the tables with what was loaded, before the first phase. A backup changes nothing, and the engine's
// Backuper verifies a restore.
func (w *backup) Check(ctx context.Context, q filewise.Querier, phase int, _ []filewise.Ledger) error {
	return w.checkLoaded(ctx, q, phase)
}
