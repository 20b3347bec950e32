package external

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"path"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// Of the files that the server has waited most for.
const readFileTimes = `
SELECT FILE_NAME, COUNT_READ, SUM_NUMBER_OF_BYTES_READ, SUM_TIMER_READ, COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, SUM_TIMER_WRITE
  FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME LIKE 'wait/io/file/innodb/%' ORDER BY SUM_TIMER_WAIT DESC LIMIT 500`

func (i *inspection) ofPerformanceSchema(ctx context.Context) {
	if !i.server.on("performance_schema") {
		i.Lack("I/O per file and waits", "performance_schema is off, which is a start-up option", "ask its owner for performance_schema = ON")
		i.Ask(ctx, "waits", i.statusWaits)
		return
	}
	i.Ask(ctx, "I/O per file", i.fileTimes)
	i.Ask(ctx, "waits", i.events)
}

func (i *inspection) fileTimes(ctx context.Context) error {
	err := dialect.Each(ctx, i.server.db, func(scan dialect.Scan) error {
		var name string
		var reads, read, readTime, writes, written, writeTime float64
		if err := scan(&name, &reads, &read, &readTime, &writes, &written, &writeTime); err != nil {
			return err
		}
		io := map[string]float64{filewise.FileReads: reads, filewise.FileBytesRead: read, filewise.FileWrites: writes,
			filewise.FileBytes: written}
		if readTime > 0 || writeTime > 0 { // else the instrument counts, and times nothing
			io[filewise.FileReadTime], io[filewise.FileWriteTime] = readTime*dialect.Picosecond, writeTime*dialect.Picosecond
		}
		i.times[i.whole(name)] = io
		return nil
	}, readFileTimes)
	return i.server.explain(err)
}

// whole returns a path as the server has it, which can begin at the data directory.
func (i *inspection) whole(name string) string {
	if name == "" || path.IsAbs(name) || windowsPath(name) {
		return path.Clean(name)
	}
	return path.Join(i.server.vars["datadir"], name)
}

func (i *inspection) events(ctx context.Context) error {
	all, err := dialect.SessionWaits(ctx, i.server.db)
	if err != nil {
		return i.server.explain(err)
	}
	i.Waits = append(i.Waits, all...)
	return i.statusWaits(ctx)
}

// statusWaits adds the waits that InnoDB adds up itself.
func (i *inspection) statusWaits(ctx context.Context) error {
	all, err := dialect.ReadStatusWaits(ctx, i.server.db)
	for _, w := range all {
		if w.Value > 0 {
			i.Waits = append(i.Waits, w)
		}
	}
	return i.server.explain(err)
}

// The sizes of rows are read of so many of the largest tables, since each is opened
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
