package dialect

import (
	"fmt"
	"strings"

	"filewise"
)

// MaxPartitions is the limit of both servers for one table.
const MaxPartitions = 8192

// CheckPartitions refuses a number of partitions that no table can have.
func CheckPartitions(n int) error {
	if n < 1 || n > MaxPartitions {
		return unsupported(fmt.Sprintf("give 1 to %d files", MaxPartitions), "a table has 1 to %d partitions, not %d", MaxPartitions, n)
	}
	return nil
}

// PartitionName is the name of partition i, from 0.
func PartitionName(i int) string { return fmt.Sprintf("p%04d", i) }

// PartitionByHash is the clause that spreads a table over n partitions by the
// hash of a column, its key. directory is DataDirectory of partition i, or empty.
func PartitionByHash(column string, n int, directory func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "PARTITION " + PartitionName(i) + directory(i)
	}
	return "\nPARTITION BY HASH (" + Ident(column) + ") (\n  " + strings.Join(list, ",\n  ") + ")"
}

// DataDirectory is the clause that puts the file of a table or partition into a
// directory of the server; empty for an empty one.
func DataDirectory(dir string) string {
	if dir == "" {
		return ""
	}
	return " DATA DIRECTORY = " + Literal(dir)
}

// WarnPartitions is what a layout of so many partitions means for the program; an
// error that wraps filewise.ErrUnsupported where it cannot be.
func (s Schema) WarnPartitions(n int) ([]filewise.Warning, error) {
	if err := CheckPartitions(n); err != nil {
		return nil, err
	}
	all := append(s.ManyFiles(n), s.WarnChurn()...)
	if n > 1 {
		all = append(all, filewise.Warning{Code: "partitions-scope",
			Remedy: "read differences from the layout of one partition (1 among --files)",
			Message: "partitions change planning, indexes and locks, not only files: what further files cost or gain is the difference from " +
				"one partition, which is one file with the cost of partitioning"})
	}
	return all, s.Program.Sharding.Fits(n, "partition of each table")
}

// CheckGrowth refuses what InnoDB cannot do with the files of tables and
// partitions: it alone decides their size and growth.
func (d *Design) CheckGrowth() error {
	s, empty := d.Layout.Data, d.EmptyTable()
	switch {
	case s.Bytes > 0 && s.Bytes < int64(s.Files)*empty:
		return unsupported("use fewer files or a larger --size",
			"%d bytes in %s: InnoDB's file of an empty table has %d already", s.Bytes, filewise.FilesName(s.Files), empty)
	case s.Allocation == filewise.Preallocated:
		return unsupported("use --allocation growing, or --kind system",
			"InnoDB cannot preallocate the file of a table or partition (kind %s)", d.Layout.Kind)
	case s.Growth > 0:
		d.Warn("growth-not-used", "leave --growth out",
			"InnoDB itself decides by how much the files of kind %s grow (up to 4 MiB at a time); --growth is not used", d.Layout.Kind)
	}
	return nil
}

// CheckPerTable refuses connections and tables that do not spread evenly over a
// table for each file.
func (s Schema) CheckPerTable(files int) error {
	if !s.Program.Appends() {
		return s.checkTables(files)
	}
	if n := len(s.Tables); files != n {
		return unsupported("leave --table out: the connections then take turns on a table for each file; or use --kind partitions",
			"kind per-table has a file for each table: with one for each of %d connections %s, "+
				"not %d", s.Program.Connections(), filewise.FilesName(n), files)
	}
	if files > s.Program.Connections() {
		return unsupported(fmt.Sprintf("give up to %d files, more --connections, or --kind partitions", s.Program.Connections()),
			"kind per-table has a file for each table, and %d connections would leave some of %d tables empty", s.Program.Connections(), files)
	}
	return nil
}
