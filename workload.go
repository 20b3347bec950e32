package filewise

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Program is a workload with its parameters, ready for an engine: what SQL
// sections there are is the workload's, their text is the engine's.
type Program struct {
	Workload string `json:"workload"`
	// SQLOf is the workload whose sections of SQL are this one's too, for it has the same tables. Empty means it has
	// its own.
	SQLOf string `json:"sql_of,omitempty"`
	// Phases are a trial's measured phases, one after the other: one at least.
	Phases    []Phase `json:"phases"`
	WorkBytes int64   `json:"work_bytes,omitempty"` // fixed work of a trial in payload bytes, preload included. 0 means a time window
	// Preload is the data that every build is loaded with, in payload bytes, before its first trial. 0 means nothing.
	Preload int64 `json:"-"`
	// Cycles: on a server that is not Filewise's to stop, each build goes offline and comes back, timed.
	Cycles bool `json:"cycles,omitempty"`
	// Window is the planned time of a trial without fixed work. 0 means not known.
	Window time.Duration `json:"-"`
	// Retry are the classes of failures after which an operation is tried again;
	// every one is counted.
	Retry []Class `json:"retry,omitempty"`
	// ReadOnly: the workload leaves its data as they are, so that a loaded build
	// serves trial after trial without being reset.
	ReadOnly bool `json:"read_only,omitempty"`
	// Params is a struct of the workload's: its fields fill the SQL templates.
	Params any `json:"params,omitempty"`
	// Tables are the tables that the workload works on, the most informative one first.
	Tables []Table `json:"tables,omitempty"`
	// Sharding names the values, such as warehouses, whose rows belong together. Nil means each row is by itself.
	Sharding *Sharding `json:"sharding,omitempty"`
	// Custom is SQL that the workload brings itself. Nil means its sections are the engine's.
	Custom *CustomSQL `json:"custom,omitempty"`
}

// SQL names the file of the workload's sections: sql/WORKLOAD.sql of an engine.
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

// First returns the first phase, which of most workloads is the only one; for a program without phases, which no
// workload has, it returns a phase that does nothing.
func (p Program) First() Phase {
	if len(p.Phases) == 0 {
		return Phase{}
	}
	return p.Phases[0]
}

// Connections returns the number of the phase that has the most.
func (p Program) Connections() int {
	most := 0
	for _, x := range p.Phases {
		most = max(most, x.Connections)
	}
	return most
}

// Appends reports whether the work is rows that come to those that are there already (Phase.Appends): its tables are
// as large as the work.
func (p Program) Appends() bool { return p.First().Appends }

// Repeats reports whether all phases can be done again and again on one build, as in turns: they work for a window,
// alter nothing, or are backups. Phases of fixed work that alter data each work on the state that the one before has
// left.
func (p Program) Repeats() bool {
	return p.ReadOnly || !slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.Act == ActWork && x.Ops > 0 })
}

// Churns reports whether each transaction has a table created and dropped before it.
func (p Program) Churns() bool { return p.First().Churns }

// Restores reports whether a trial restores what it has backed up.
func (p Program) Restores() bool {
	return slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.Act == ActRestore })
}

// BacksUp reports whether a trial makes a backup, of either sort.
func (p Program) BacksUp() bool {
	return slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.Act == ActBackup })
}

// Dumps reports whether the backup that a trial makes is a logical one.
func (p Program) Dumps() bool {
	return slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.Act == ActBackup && x.Logical })
}

// Queries reports whether all that is done is reading what was loaded.
func (p Program) Queries() bool { return p.Loads() && p.ReadOnly && !p.BacksUp() }

// WorksBeside reports whether a load runs while something else is measured.
func (p Program) WorksBeside() bool {
	return slices.ContainsFunc(p.Phases, func(x Phase) bool { return x.Beside != "" })
}

// Args generates the arguments of operations: operation i of a worker follows
// from the seed, the worker and i alone.
type Args interface {
	// Args appends the arguments of operation i of the worker to dst.
	Args(dst []any, worker int, i int64) []any
	// Pool is data that the server needs to generate the same arguments itself.
	Pool() string
}

// Ledger counts a trial's committed operations per worker, from 0.
type Ledger []int64

// Total returns the number of committed operations.
func (l Ledger) Total() int64 {
	var n int64
	for _, x := range l {
		n += x
	}
	return n
}

// Plus returns a ledger to which the operations of another one are added.
func (l Ledger) Plus(more Ledger) Ledger {
	sum := make(Ledger, max(len(l), len(more)))
	copy(sum, l)
	for w, n := range more {
		sum[w] += n
	}
	return sum
}

// AsLoaded is the phase before the first: the data are as loaded.
const AsLoaded = -1

// Workload defines the work on the database.
type Workload interface {
	Program() Program
	// Check compares the data with what the phases up to this one should have left,
	// or with what was loaded (AsLoaded); ledgers are the phases'. The error wraps
	// ErrCheck when they differ.
	Check(ctx context.Context, q Querier, phase int, ledgers []Ledger) error
}

// Table is a table of a workload, as all engines lay it out.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns,omitempty"`
	// Key are the columns of its unique key, or none; Indexes are its others.
	Key     []string `json:"key,omitempty"`
	Indexes []Index  `json:"indexes,omitempty"`
	// Rows are the rows that it is loaded with or gets, RowBytes the payload of one on average. 0 means as many as
	// the work brings.
	Rows     int64 `json:"rows,omitempty"`
	RowBytes int64 `json:"row_bytes,omitempty"`
	// PerConnection: each connection has a table of its own.
	PerConnection bool `json:"per_connection,omitempty"`
	// RandomKeys: new rows come anywhere among those that are there.
	RandomKeys bool `json:"random_keys,omitempty"`
	// Loaded: its rows are loaded before the work, in bulk; else the work brings them.
	Loaded bool `json:"loaded,omitempty"`
	// Grown: it was loaded in an order that has nothing to do with its keys.
	Grown bool `json:"grown,omitempty"`
	// IndexedFirst: its indexes exist when it is loaded, so that their pages lie between the rows' pages.
	IndexedFirst bool `json:"indexed_first,omitempty"`
	// Temporary: each operation makes it, fills it and drops it.
	Temporary bool `json:"temporary,omitempty"`
	// ShardBy is the column that holds a row's value of Program.Sharding.
	ShardBy string `json:"shard_by,omitempty"`
	// Replicated: it is small and of no value of Program.Sharding, so that it is whole in
	// one place, or in each.
	Replicated bool `json:"replicated,omitempty"`
}

// Index is an index in addition to the key's.
type Index struct {
	Name    string   `json:"name"` // unique in its table
	Columns []string `json:"columns"`
	Unique  bool     `json:"unique,omitempty"`
}

// Sharding gives each row of a program's tables a value from 1 to Values. The rows of one value belong together: all
// of them lie in one file.
type Sharding struct {
	Of     string `json:"of"`     // what a value stands for: "warehouse"
	Option string `json:"option"` // the option that sets their number: "--warehouses"
	Values int64  `json:"values"`
}

// Fits refuses more files than values, since the rows of a value all lie in one place.
func (s *Sharding) Fits(files int, place string) error {
	if s == nil || int64(files) <= s.Values {
		return nil
	}
	return Errorf(CodeUsage, fmt.Sprintf("use %s %d, or at most %s", s.Option, files, FilesName(int(s.Values))),
		"%s for %s %d: a %s lies whole in one %s, so that the others would be empty: %w", FilesName(files), s.Option, s.Values, s.Of, place,
		ErrUnsupported)
}

// PartitionColumn returns the column by which partitions divide the table: its shard's, else the first of its key,
// else its first.
func (t Table) PartitionColumn() string {
	return cmp.Or(t.ShardBy, first(t.Key), first(t.Columns))
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// Table returns the first of the tables; of a program that declares none, as custom SQL does, nothing is known of it.
func (p Program) Table() Table {
	if len(p.Tables) == 0 {
		return Table{}
	}
	return p.Tables[0]
}

// Loads reports whether tables are loaded before the work.
func (p Program) Loads() bool { return p.Table().Loaded }

// Unindexed reports whether none of the tables has a key or an index, so that a row is found by reading all.
func (p Program) Unindexed() bool {
	indexed := func(t Table) bool { return len(t.Key)+len(t.Indexes) > 0 }
	return len(p.Tables) > 0 && !slices.ContainsFunc(p.Tables, indexed)
}
