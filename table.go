package filewise

import (
	"cmp"
	"fmt"
	"slices"
)

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
	// ShardBy is the column with the value of Program.Sharding that a row is of.
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

// Sharding: the rows of a program's tables are of values 1 to Values, and the rows of one value belong together:
// files are of whole values.
type Sharding struct {
	Of     string `json:"of"`     // what a value stands for: "warehouse"
	Option string `json:"option"` // the option that states how many there are: "--warehouses"
	Values int64  `json:"values"`
}

// Fits refuses more files than values, of which each lies whole in one place.
func (s *Sharding) Fits(files int, place string) error {
	if s == nil || int64(files) <= s.Values {
		return nil
	}
	return Errorf(CodeUsage, fmt.Sprintf("use %s %d, or at most %s", s.Option, files, FilesName(int(s.Values))),
		"%s for %s %d: a %s lies whole in one %s, so that the others would be empty: %w", FilesName(files), s.Option, s.Values, s.Of, place,
		ErrUnsupported)
}

// PartitionColumn is the column by which partitions divide the table: its shard's, else
// the first of its key, else its first.
func (t Table) PartitionColumn() string {
	return cmp.Or(t.ShardBy, first(t.Key), first(t.Columns))
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// Table is the first of the tables; of a program that declares none, as custom SQL does,
// nothing is known of it.
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
