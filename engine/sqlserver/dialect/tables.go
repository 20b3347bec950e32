// Package dialect holds SQL Server's words: names, literals, its client, and a user's tables, whose indexes are built
// again in another filegroup: the clustered one with the rows.
package dialect

import (
	"cmp"
	_ "embed"
	"slices"

	"filewise"
	"filewise/internal/spread"
)

const page = 8 << 10

// TablesSQL holds the sections that a Reader runs.
//
//go:embed tables.sql
var TablesSQL string

// Reader runs a section within a database.
type Reader func(section string, args ...any) ([]filewise.Row, error)

// Table is a user's table, with what decides whether it can be moved.
type Table struct {
	spread.Table
	Large   bool // it has values outside its rows
	Indexes []Index
	id      int64
}

// Tables returns the tables that the user names, or the large ones if none is named, with their indexes.
func (m Reader) Tables(names []string) ([]Table, error) {
	rows, err := m("apply-tables")
	if err != nil {
		return nil, err
	}
	var all []Table
	for _, r := range rows {
		t := Table{Table: spread.Table{Schema: r.Text(1), Name: r.Text(2), Bytes: r.Int(6) * page}}
		t.id, _ = r.Number(0)
		t.Large = r.Int(5) > 0
		t.RefuseIf(r.Yes(3), "it is memory-optimized")
		t.RefuseIf(r.Yes(4), "it is a FileTable")
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b Table) int { return cmp.Compare(b.Bytes, a.Bytes) })
	tables, err := spread.Choose(all, func(t Table) spread.Table { return t.Table }, names)
	for i := range tables {
		if err == nil {
			err = m.indexes(&tables[i])
		}
	}
	if err == nil {
		err = spread.Refused(tables, func(t Table) spread.Table { return t.Table })
	}
	return tables, err
}

// Each returns the size of files that share so many bytes equally, with some reserve. Such files fill evenly as long as
// their free space is equal.
func Each(bytes int64, files int, least int64) int64 {
	const mib = 1 << 20
	return max((bytes*11/10/int64(files)+mib-1)/mib*mib, least)
}
