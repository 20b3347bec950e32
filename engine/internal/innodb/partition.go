package innodb

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
	return append(s.ManyFiles(n), s.WarnChurn()...), s.checkSpread(n)
}

// CheckOwnGrowth refuses what InnoDB cannot do with the files of tables and
// partitions: it alone decides their size and growth. emptyTable is the size of
// an empty table's file in bytes.
func CheckOwnGrowth(l filewise.Layout, emptyTable int64) ([]filewise.Warning, error) {
	if bytes := l.Data.Bytes; bytes > 0 && bytes < int64(l.Data.Files)*emptyTable {
		return nil, unsupported("use fewer files or a larger --size",
			"%d bytes in %s: InnoDB's file of an empty table has %d already", bytes, filewise.FilesName(l.Data.Files), emptyTable)
	}
	if l.Data.Allocation == filewise.Preallocated {
		return nil, unsupported("use --allocation growing, or --kind system",
			"InnoDB cannot preallocate the file of a table or partition (kind %s)", l.Kind)
	}
	if l.Data.Growth > 0 {
		return []filewise.Warning{{Code: "growth-not-used", Remedy: "leave --growth out",
			Message: fmt.Sprintf("InnoDB itself decides by how much the files of kind %s grow (up to 4 MiB at a time); --growth is not used", l.Kind)}}, nil
	}
	return nil, nil
}

// CheckPerTable refuses connections and tables that do not spread evenly over a
// table for each file.
func (s Schema) CheckPerTable(files int) error {
	if len(s.Program.Phases) > 0 {
		return s.checkOwnTables(files)
	}
	if n := len(s.Tables); files != n {
		return unsupported("leave --table out: the connections then take turns on a table for each file; or use --kind partitions",
			"kind per-table has a file for each table: with one for each of %d connections %s, not %d", s.Program.Connections, filewise.FilesName(n), files)
	}
	if files > s.Program.Connections {
		return unsupported(fmt.Sprintf("give up to %d files, more --connections, or --kind partitions", s.Program.Connections),
			"kind per-table has a file for each table, and %d connections would leave some of %d tables empty", s.Program.Connections, files)
	}
	return nil
}
