package postgres

import (
	"context"

	"filewise"
)

// readFileIO is what the server counts of each file of ours. Blocks that are read
// come from the operating system, whose cache may have had them. Writes are not
// counted by file: of a table there are the rows, and of each file its size.
const readFileIO = `
SELECT c.relname::text, coalesce(s.spcname::text, ''), coalesce(pg_relation_filepath(c.oid), ''), pg_relation_size(c.oid), c.relkind = 'r',
       pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid),
       pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid),
       current_setting('block_size')::bigint
  FROM pg_class c LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
 WHERE c.relkind IN ('r', 'i') AND c.relnamespace = 'public'::regnamespace
    OR c.relkind = 't' AND c.oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = 'public'::regnamespace) AND pg_relation_size(c.oid) > 0
 ORDER BY 1`

// versionCombined is the release from which one read may be of several blocks.
const versionCombined = 170000

// fileProbe reads I/O by file.
type fileProbe struct{ build *build }

// Name is the probe's name in the report.
func (fileProbe) Name() string { return filewise.ProbeFiles }

// Read returns the counters of every table, partition and index, and of the WAL.
// Sessions report their own at the end of a command, once a second at most.
func (p fileProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	rows, err := p.build.link.rows(ctx, readFileIO)
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, row := range rows {
		path := p.build.host.pathOf(relation{name: text(row[0]), space: text(row[1]), path: text(row[2])})
		count := func(name, unit string, value any, factor int64) {
			if n, ok := value.(int64); ok && path != "" {
				all = append(all, filewise.Counter{Name: name, Unit: unit, Value: float64(n * factor), File: path})
			}
		}
		block, _ := row[7].(int64)
		count(filewise.FileBytesRead, "B", row[5], block)
		if p.build.version < versionCombined {
			count(filewise.FileReads, "requests", row[5], 1)
		}
		count(filewise.FileGrown, "B", row[3], 1)
		if table, _ := row[4].(bool); table {
			count(filewise.FileRows, "rows", row[6], 1)
		}
	}
	wal, err := p.log(ctx)
	return append(all, wal...), err
}

// walFile is what views count of the WAL, by the counters of a file.
var walFile = map[string]filewise.Counter{
	"wal_write": {Name: filewise.FileWrites, Unit: "requests"}, "wal_sync": {Name: filewise.FileSyncs, Unit: "requests"},
	"wal_write_time": {Name: filewise.FileWriteTime, Unit: "s"}, "wal_sync_time": {Name: filewise.FileSyncTime, Unit: "s"},
}

// log are the WAL's counters: of PostgreSQL 14 to 17 in pg_stat_wal, since in
// pg_stat_io.
func (p fileProbe) log(ctx context.Context) ([]filewise.Counter, error) {
	path, version := p.build.host.logPath(), p.build.version
	if path == "" || version < 140000 {
		return nil, nil
	}
	var all []filewise.Counter
	if version >= 180000 {
		io, err := readIO(ctx, p.build.link)
		if err != nil {
			return nil, err
		}
		for _, c := range io.of(func(r ioRow) bool { return r.Object == "wal" }) {
			c.File = path
			all = append(all, c)
		}
		return all, nil
	}
	values, err := readView(ctx, p.build.link, "pg_stat_wal", "")
	if err != nil {
		return nil, err
	}
	for column, c := range walFile {
		x, ok := values[column].(float64)
		if c.Unit == "s" {
			x /= 1000
		}
		if ok && (c.Unit != "s" || values["timed"] == "on") {
			c.Value, c.File = x, path
			all = append(all, c)
		}
	}
	return all, nil
}
