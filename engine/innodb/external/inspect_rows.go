package external

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"filewise"
)

// Of so many of the largest tables the sizes of rows are asked, since each is opened
// for it.
const mostRowSizes = 5

// What InnoDB adds to a row at least: its header, the transaction's number and the
// pointer to its undo log.
const rowHead = 5 + 6 + 7

// readRowSize is of a table's last statistics. Who has no right on a table gets no row.
const readRowSize = "SELECT COALESCE(AVG_ROW_LENGTH, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND " +
	"TABLE_ROWS > 0"

func (i *inspection) rows(ctx context.Context) error {
	var tables []*filewise.FileGroup
	for n := range i.Groups {
		if g := &i.Groups[n]; g.Use == filewise.UseData && !g.System && !g.Own && strings.HasPrefix(g.Name, "table ") {
			tables = append(tables, g)
		}
	}
	slices.SortStableFunc(tables, func(a, b *filewise.FileGroup) int { return cmp.Compare(bytesOf(b), bytesOf(a)) })
	for _, g := range tables[:min(len(tables), mostRowSizes)] {
		var mean float64
		err := i.server.db.QueryRowContext(ctx, readRowSize, g.Database, strings.TrimPrefix(g.Name, "table "+g.Database+".")).Scan(&mean)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return i.server.explain(err)
		}
		g.RowBytes = max(mean-rowHead, 0)
	}
	return nil
}

func bytesOf(g *filewise.FileGroup) (sum int64) {
	for _, f := range g.Files {
		sum += f.Bytes
	}
	return sum
}
