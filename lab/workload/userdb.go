package workload

import (
	"context"
	"time"

	"filewise"
)

// own is the workload of backing up a database of the user, which is only read.
type own struct {
	name, operation string
	params          Params
}

// Program describes the workload to an engine.
func (w own) Program() filewise.Program {
	p := filewise.Program{Workload: w.name, ReadOnly: true, Phases: []filewise.Phase{{Operation: w.operation, Unit: w.operation + "s",
		Act: filewise.ActBackup, Logical: w.operation == OperationDump, Args: noArgs{}, Connections: 1, CommitEvery: 1, Ops: 1}}}
	if w.params.Proof {
		p.Phases = append(p.Phases, filewise.Phase{Operation: OperationRestore, Unit: "restores", Act: filewise.ActRestore, Args: noArgs{},
			Connections: 1, CommitEvery: 1, Ops: 1})
	}
	return p
}

// Check does nothing, because the engine's Backuper compares what was restored.
func (own) Check(context.Context, filewise.Querier, int, []filewise.Ledger) error { return nil }

// dumpBudget is longer than the budgets of other scenarios. Rows are restored at a fraction of the speed of files,
// together with their indexes.
const dumpBudget = 8 * time.Minute

// dumpScenario returns the scenario for servers whose users dump rows instead of files.
func dumpScenario() Scenario {
	return Scenario{
		Name:  "dump",
		Title: "Logical dump and restore, by number of jobs",
		Summary: "A loaded database is dumped as rows by 1, 2, 4 or 8 jobs at the same time, each with a separate file for a table, and " +
			"restored by as many. " +
			"Dump and restore are measured each by itself; every restore is verified.",
		Source: Source{
			Author: "Brent Ozar", Title: "Back Up SQL Server 43%-67% Faster by Writing to Multiple Files (readers' comments)",
			Where: "brentozar.com", Year: 2020,
		},
		Files: []int{1, 2, 4, 8},
		Bytes: 96 << 20,
		Params: Params{
			Connections: 1, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: fragRowBytes, Rows: 40_000,
			Cache: string(filewise.CacheStorageCold),
		},
		Notes: []string{
			"No article measured this. A dump is no striped backup: each table, or partition, or piece of a table is one file, " +
				"which one job writes.",
			"On PostgreSQL it is pg_dump -Fd -j and pg_restore -j. There is a table's worth of work for each job at most: four tables are dumped, " +
				"or the partitions of --data-files.",
			"On managed servers of MariaDB and MySQL it is mydumper and myloader (apt-get install mydumper): the servers' own programs write " +
				"one stream. A job takes one of the four tables, whatever its partitions, or with --backup-option rows=10000 a piece of 10,000 rows.",
			"SQLite has none: .dump writes one stream whatever the number of jobs.",
		},
		Flags:  []string{"rows", "cache", "builds", "discard", "concurrent-load", "backup-option", "data-files", "database"},
		Budget: dumpBudget, Stripes: true, Jobs: true, Filling: 0.6,
		New: NewDump,
	}
}
