package filewise

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Program is a workload with its parameters, ready for an engine. The workload defines the sections of SQL, and the
// engine their texts.
type Program struct {
	Workload string `json:"workload"`
	// SQLOf names the workload whose SQL sections this one uses, since it has the same tables. If empty, it has its own.
	SQLOf string `json:"sql_of,omitempty"`
	// Phases lists a trial's measured phases in order. There is at least one.
	Phases    []Phase `json:"phases"`
	WorkBytes int64   `json:"work_bytes,omitempty"` // fixed payload bytes of a trial, preload included. 0 means a time window
	// Preload is the size of the data loaded into every build before its first trial, in payload bytes. 0 means none.
	Preload int64 `json:"-"`
	// Cycles is set if each build goes offline and comes back, and is timed, on a server that Filewise may not stop.
	Cycles bool `json:"cycles,omitempty"`
	// Window is the planned time of a trial without fixed work. 0 means not known.
	Window time.Duration `json:"-"`
	// Retry lists the classes of failures after which an operation is tried again. Every failure is counted.
	Retry []Class `json:"retry,omitempty"`
	// ReadOnly is set if the workload does not change its data, so that a loaded build serves trial after trial without a
	// reset.
	ReadOnly bool `json:"read_only,omitempty"`
	// Params is a struct of the workload's. Its fields fill the SQL templates.
	Params any `json:"params,omitempty"`
	// Tables lists the tables that the workload works on, the most informative one first.
	Tables []Table `json:"tables,omitempty"`
	// Sharding defines the values, such as warehouses, whose rows belong together. If nil, each row is independent.
	Sharding *Sharding `json:"sharding,omitempty"`
	// Custom is SQL that the workload brings itself. If nil, the engine has the sections.
	Custom *CustomSQL `json:"custom,omitempty"`
}

// SQL returns the name of the workload whose sections are used: sql/NAME.sql of an engine.
func (p Program) SQL() string { return cmp.Or(p.SQLOf, p.Workload) }

// Vars returns the fields of Params by their names, for SQL templates.
func (p Program) Vars() map[string]any {
	vars := map[string]any{}
	if p.Params == nil {
		return vars
	}
	v := reflect.ValueOf(p.Params)
	for i := range v.NumField() {
		vars[v.Type().Field(i).Name] = v.Field(i).Interface()
	}
	return vars
}

// First returns the first phase, which for most workloads is the only one. For a program without phases, which no
// workload has, it returns a phase that does nothing.
func (p Program) First() Phase {
	if len(p.Phases) == 0 {
		return Phase{}
	}
	return p.Phases[0]
}

// Connections returns the connections of the phase that has the most.
func (p Program) Connections() int {
	most := 0
	for _, x := range p.Phases {
		most = max(most, x.Connections)
	}
	return most
}

// Appends reports whether the work adds rows to the rows that are there (Phase.Appends). The tables are then as large
// as the work.
func (p Program) Appends() bool { return p.First().Appends }

// Repeats reports whether all phases can be repeated on one build, as turns do. Such phases work for a window, alter
// nothing, or are backups. Phases of fixed work that alter data depend on the state that the last one left.
func (p Program) Repeats() bool {
	return p.ReadOnly || !slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.Act == ActWork && x.Ops > 0 })
}

// Churns reports whether a table is created and dropped before each transaction.
func (p Program) Churns() bool { return p.First().Churns }

// Restores reports whether a trial restores its backup.
func (p Program) Restores() bool {
	return slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.Act == ActRestore })
}

// BacksUp reports whether a trial makes a backup, physical or logical.
func (p Program) BacksUp() bool {
	return slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.Act == ActBackup })
}

// Dumps reports whether a trial's backup is logical.
func (p Program) Dumps() bool {
	return slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.Act == ActBackup && x.Logical })
}

// Queries reports whether all work is reading what was loaded.
func (p Program) Queries() bool { return p.Loads() && p.ReadOnly && !p.BacksUp() }

// HasConcurrentLoad reports whether a load runs while something else is measured.
func (p Program) HasConcurrentLoad() bool {
	return slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.ConcurrentLoad != "" })
}

// Args generates the arguments of operations. A worker's operation i follows from the seed, the worker and i alone.
type Args interface {
	// Args appends the arguments of the worker's operation i to dst.
	Args(dst []any, worker int, i int64) []any
	// Pool returns data from which the server can generate the same arguments itself.
	Pool() string
}

// Ledger counts a trial's committed operations, by worker from 0.
type Ledger []int64

// Total returns the number of committed operations.
func (l Ledger) Total() int64 {
	var n int64
	for _, x := range l {
		n += x
	}
	return n
}

// Plus returns a ledger with the sums of both ledgers' operations.
func (l Ledger) Plus(more Ledger) Ledger {
	sum := make(Ledger, max(len(l), len(more)))
	copy(sum, l)
	for w, n := range more {
		sum[w] += n
	}
	return sum
}

// AsLoaded is the phase number for the state before the first phase: the data are as loaded.
const AsLoaded = -1

// Workload defines the work on the database.
type Workload interface {
	Program() Program
	// Check compares the data with what the phases up to this one should have left, or with what was loaded (AsLoaded).
	// ledgers holds one Ledger per phase. If the data differ, the error wraps ErrCheck.
	Check(ctx context.Context, q Querier, phase int, ledgers []Ledger) error
}

// Table describes a table of a workload, as all engines lay it out.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns,omitempty"`
	// Key lists the columns of the table's unique key, if it has one. Indexes holds its other indexes.
	Key     []string `json:"key,omitempty"`
	Indexes []Index  `json:"indexes,omitempty"`
	// Rows is the number of rows that the table is loaded with or gets, and RowBytes their mean payload in bytes. If Rows
	// is 0, the table gets as many as the work brings.
	Rows     int64 `json:"rows,omitempty"`
	RowBytes int64 `json:"row_bytes,omitempty"`
	// PerConnection is set if each connection has such a separate table.
	PerConnection bool `json:"per_connection,omitempty"`
	// RandomKeys is set if new rows fall anywhere among the present rows.
	RandomKeys bool `json:"random_keys,omitempty"`
	// Loaded is set if the table's rows are loaded in bulk before the work. Otherwise the work brings them.
	Loaded bool `json:"loaded,omitempty"`
	// Grown is set if the table was loaded in an order unrelated to its keys.
	Grown bool `json:"grown,omitempty"`
	// IndexedFirst is set if the table's indexes exist when it is loaded, so that their pages lie between the rows' pages.
	IndexedFirst bool `json:"indexed_first,omitempty"`
	// Temporary is set if each operation makes, fills and drops the table.
	Temporary bool `json:"temporary,omitempty"`
	// ShardBy names the column that holds a row's value of Program.Sharding.
	ShardBy string `json:"shard_by,omitempty"`
	// Replicated is set if the table is small and independent of Program.Sharding, so that one place, or each, holds it
	// whole.
	Replicated bool `json:"replicated,omitempty"`
}

// Index describes an index in addition to the key's.
type Index struct {
	Name    string   `json:"name"` // unique in its table
	Columns []string `json:"columns"`
	Unique  bool     `json:"unique,omitempty"`
}

// Sharding gives each row of a program's tables a value from 1 to Values. All rows of a value lie in one file.
type Sharding struct {
	Of     string `json:"of"`     // what a value represents: "warehouse"
	Option string `json:"option"` // the option for the number of values: "--warehouses"
	Values int64  `json:"values"`
}

// Fits returns an error if there are more files than values, since all rows of a value lie in one place.
func (s *Sharding) Fits(files int, place string) error {
	if s == nil || int64(files) <= s.Values {
		return nil
	}
	return Errorf(CodeUsage, fmt.Sprintf("use %s %d, or at most %s", s.Option, files, FilesName(int(s.Values))),
		"%s for %s %d: a %s lies whole in one %s, so that the others would be empty: %w", FilesName(files), s.Option, s.Values, s.Of, place,
		ErrUnsupported)
}

// PartitionColumn returns the column by which partitions divide the table: its shard column, else its key's first, else
// its first.
func (t Table) PartitionColumn() string {
	return cmp.Or(t.ShardBy, first(t.Key), first(t.Columns))
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// Table returns the first table. For a program that declares none, as custom SQL does, it returns the zero value.
func (p Program) Table() Table {
	if len(p.Tables) == 0 {
		return Table{}
	}
	return p.Tables[0]
}

// Loads reports whether tables are loaded before the work.
func (p Program) Loads() bool { return p.Table().Loaded }

// Unindexed reports whether no table has a key or an index, so that a row can only be found by reading all.
func (p Program) Unindexed() bool {
	indexed := func(t Table) bool { return len(t.Key)+len(t.Indexes) > 0 }
	return len(p.Tables) > 0 && !slices.ContainsFunc(p.Tables, indexed)
}
