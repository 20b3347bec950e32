package probes

import (
	"context"

	"filewise"
	"filewise/engine/postgres/client"
)

// versionCombined is the first release in which one read can cover several blocks.
const versionCombined = 170000

// files returns the I/O counters of every table, partition and index, and of the WAL. Sessions report their counts at
// the end of a command, at most once a second.
func (s Server) files(ctx context.Context) ([]filewise.Counter, error) {
	rows, err := s.Link.Rows(ctx, queries.Text("files"))
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, row := range rows {
		path := s.PathOf(client.Text(row[1]), client.Text(row[2]))
		count := func(name, unit string, value any, factor int64) {
			if n, ok := value.(int64); ok && path != "" {
				all = append(all, filewise.Counter{Name: name, Unit: unit, Value: float64(n * factor), File: path})
			}
		}
		block, _ := row[7].(int64)
		count(filewise.FileBytesRead, "B", row[5], block)
		if s.Version < versionCombined {
			count(filewise.FileReads, "requests", row[5], 1)
		}
		count(filewise.FileGrown, "B", row[3], 1)
		if table, _ := row[4].(bool); table {
			count(filewise.FileRows, "rows", row[6], 1)
		}
	}
	wal, err := s.log(ctx)
	return append(all, wal...), err
}

// walFile maps the views' columns about the WAL to the counters of a file.
var walFile = map[string]filewise.Counter{
	"wal_write": {Name: filewise.FileWrites, Unit: "requests"}, "wal_sync": {Name: filewise.FileSyncs, Unit: "requests"},
	"wal_write_time": {Name: filewise.FileWriteTime, Unit: "s"}, "wal_sync_time": {Name: filewise.FileSyncTime, Unit: "s"},
}

// log returns the WAL's counters. PostgreSQL 14 to 17 have them in pg_stat_wal, later releases in pg_stat_io.
func (s Server) log(ctx context.Context) ([]filewise.Counter, error) {
	if s.LogPath == "" || s.Version < versionWAL {
		return nil, nil
	}
	var all []filewise.Counter
	if s.Version >= 180000 {
		io, err := readIO(ctx, s.Link)
		if err != nil {
			return nil, err
		}
		for _, c := range io.of(func(r ioRow) bool { return r.is("object", "wal") }) {
			c.File = s.LogPath
			all = append(all, c)
		}
		return all, nil
	}
	values, err := ReadView(ctx, s.Link, "pg_stat_wal", "")
	if err != nil {
		return nil, err
	}
	for column, c := range walFile {
		x, ok := values[column].(float64)
		if c.Unit == "s" {
			x /= 1000
		}
		if ok && (c.Unit != "s" || values["timed"] == "on") {
			c.Value, c.File = x, s.LogPath
			all = append(all, c)
		}
	}
	return all, nil
}
