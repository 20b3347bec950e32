// Package moving reads the definitions of a user's tables on SQL Server, and writes what builds their
// indexes again in another filegroup: the clustered one with the rows.
package moving

import (
	"cmp"
	"context"
	"slices"

	"filewise/engine/sqlserver/internal/result"
	"filewise/internal/spread"
)

const page = 8 << 10

// Reader queries within a database.
type Reader struct {
	Ask   func(ctx context.Context, section string, args ...any) ([]result.Row, error)
	Ident func(string) string
}

// Table is a table of the user's with what decides whether it can be moved.
type Table struct {
	spread.Table
	Large   bool // it has values outside its rows
	Indexes []Index
	id      int64
}

// Tables returns the tables of the names that the user gives, or the large ones, with their indexes.
func (m Reader) Tables(ctx context.Context, names []string) ([]Table, error) {
	rows, err := m.Ask(ctx, "apply-tables")
	if err != nil {
		return nil, err
	}
	var all []Table
	for _, r := range rows {
		t := Table{Table: spread.Table{Schema: r.Text("table_schema"), Name: r.Text("table_name"), Bytes: r.Int("table_pages") * page}}
		t.id, _ = r.Number("id")
		t.Large = r.Int("lob_space") > 0
		t.RefuseIf(r.Yes("in_memory"), "it is memory-optimized")
		t.RefuseIf(r.Yes("file_table"), "it is a FileTable")
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b Table) int { return cmp.Compare(b.Bytes, a.Bytes) })
	tables, err := spread.Choose(all, func(t Table) spread.Table { return t.Table }, names)
	for i := range tables {
		if err == nil {
			err = m.indexes(ctx, &tables[i])
		}
	}
	if err == nil {
		err = spread.Refused(tables, func(t Table) spread.Table { return t.Table })
	}
	return tables, err
}

// Each returns the size of files that share so many bytes equally, with some room: they fill evenly as long as
// their free space is equal.
func Each(bytes int64, files int, least int64) int64 {
	const mib = 1 << 20
	return max((bytes*11/10/int64(files)+mib-1)/mib*mib, least)
}
