package postgres

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/inspecting"
	"filewise/engine/internal/sampling"
)

// readingSettings are those of a session that only looks: it cannot write, and
// gives up what a lock or a large catalogue would make long.
func readingSettings(t filewise.Target) map[string]string {
	s := sessionSettings(t, 0)
	s["default_transaction_read_only"] = "on"
	s["statement_timeout"] = fmt.Sprint((inspecting.Patience - time.Second).Milliseconds())
	s["lock_timeout"] = "1000"
	delete(s, "synchronous_commit")
	return s
}

// Inspect looks at an existing server. A standby is looked at too.
func (Engine) Inspect(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	if err := checkExternal(t); err != nil {
		return filewise.Inspection{}, err
	}
	config, err := configOf(*t.Address)
	if err != nil {
		return filewise.Inspection{}, err
	}
	config.RuntimeParams = readingSettings(t)
	hidden := append(t.Address.Hidden(), filewise.Secret(config.Password))
	l := newLink(config, func(err error) error { return filewise.HideIn(classify(err), hidden...) })
	defer l.close()
	first, cancel := context.WithTimeout(ctx, 2*inspecting.Patience)
	defer cancel()
	about, err := lookAround(first, l)
	if err != nil {
		return filewise.Inspection{}, connectError(t.Address.String(), err)
	}
	i := &inspection{link: l, about: about}
	i.Asker = inspecting.New(i.remedy)
	i.look(ctx)
	return *i.Inspection, nil
}

type inspection struct {
	*inspecting.Asker
	link  *link
	about about
	homes map[string]string // location by tablespace
	usual string            // the tablespace of the database
}

func (i *inspection) remedy(question string, err error) string {
	if codeOf(err) == codeNoRight {
		return "as a superuser: GRANT pg_monitor TO " + ident(i.about.user)
	}
	return ""
}

func (i *inspection) look(ctx context.Context) {
	i.Server, i.Local = i.about.banner, i.about.local
	i.Settings["database"] = i.about.database
	i.Ask(ctx, "settings", i.settings)
	i.Ask(ctx, "tablespaces", i.tablespaces)
	i.Ask(ctx, "databases", i.databases)
	i.Ask(ctx, "sizes of tables", i.tables)
	i.Ask(ctx, "cache and temporary files", i.activity)
	i.Ask(ctx, "checkpoints", i.checkpoints)
	i.Ask(ctx, "reading and writing times", i.io)
	i.wal(ctx)
	i.Ask(ctx, "waits", i.waits)
	i.Sampled = true
	if !i.about.monitor {
		i.Lack("waits of other roles", "the account sees its own sessions only", "as a superuser: GRANT pg_monitor TO "+ident(i.about.user))
	}
}

func (i *inspection) settings(ctx context.Context) error {
	values, err := settingsOf(ctx, i.link, "shared_buffers", "max_wal_size", "checkpoint_timeout", "track_io_timing", "temp_tablespaces", "effective_io_concurrency",
		"wal_compression", "full_page_writes", "fsync", "synchronous_commit", "default_tablespace", "block_size", "work_mem")
	if err != nil {
		return err
	}
	for name, value := range values {
		i.Settings[name] = value
	}
	i.Settings["synchronous_commit"] = values["synchronous_commit"]
	var buffer int64
	if err := i.link.scan(ctx, "SELECT pg_size_bytes(current_setting('shared_buffers'))", nil, &buffer); err != nil {
		return err
	}
	i.Figures[filewise.FigureBuffer] = float64(buffer)
	return nil
}

// readSpaces are the tablespaces with their places; where this database's tables
// lie that say nothing is the last.
const readSpaces = `
SELECT s.spcname::text, pg_tablespace_location(s.oid), has_tablespace_privilege(s.oid, 'CREATE'), s.oid = d.dattablespace
  FROM pg_tablespace s, pg_database d WHERE d.datname = current_database() AND s.spcname <> 'pg_global' ORDER BY s.oid`

func (i *inspection) tablespaces(ctx context.Context) error {
	rows, err := i.link.rows(ctx, readSpaces)
	if err != nil {
		return err
	}
	i.homes = map[string]string{}
	for _, r := range rows {
		name, dir := text(r[0]), text(r[1])
		if dir == "" && i.about.dataDir != "" {
			dir = path.Join(i.about.dataDir, "base")
		}
		i.homes[name] = dir
		if usual, _ := r[3].(bool); usual {
			i.usual = name
		}
		switch may, _ := r[2].(bool); {
		case name == "pg_default":
			i.Places = append(i.Places, filewise.Place{Volume: filewise.Volume{Name: "default"}, Path: dir})
		case may && !inspecting.Own(name):
			i.Places = append(i.Places, filewise.Place{Volume: filewise.Volume{Name: name, Dir: tablespacePrefix + name}, Path: dir})
		}
	}
	return nil
}

// readSizes: the size of one that the account may not connect to is not told.
const readSizes = `
SELECT d.datname::text, d.datistemplate OR d.datname = 'postgres', s.spcname::text,
       CASE WHEN has_database_privilege(d.oid, 'CONNECT') OR pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN pg_database_size(d.oid) END
  FROM pg_database d JOIN pg_tablespace s ON s.oid = d.dattablespace
 WHERE d.datname <> current_database() ORDER BY 1`

func (i *inspection) databases(ctx context.Context) error {
	rows, err := i.link.rows(ctx, readSizes)
	if err != nil {
		return err
	}
	for _, r := range rows {
		name := text(r[0])
		bytes, told := r[3].(int64)
		if !told {
			i.Lack("size of database "+name, "the account may not connect to it", "as a superuser: GRANT pg_read_all_stats TO "+ident(i.about.user))
			continue
		}
		system, _ := r[1].(bool)
		i.Groups = append(i.Groups, filewise.FileGroup{Name: "database " + name, Database: name, Use: filewise.UseData, System: system, Own: inspecting.Own(name),
			Files: []filewise.FileInspect{{Path: name, Bytes: bytes, Volume: "tablespace " + text(r[2]), Dir: i.homes[text(r[2])]}}})
	}
	return nil
}

// readTables are the largest tables with their partitions, each one file (in
// segments of 1 GB). Where a table is locked exclusively its size cannot be asked,
// and the one that the catalogue has of its last ANALYZE stands for it.
const readTables = `
WITH leaf AS (
  SELECT c.oid, n.nspname, c.relname, s.spcname::text AS space, coalesce(pg_partition_root(c.oid)::oid, c.oid) AS root,
         pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid) AS reads, %s AS bytes
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
   WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_toast%%'),
largest AS (SELECT root, sum(bytes) AS bytes FROM leaf GROUP BY root ORDER BY 2 DESC NULLS LAST LIMIT 20)
SELECT rn.nspname || '.' || rc.relname, rc.relkind = 'p', l.nspname || '.' || l.relname, l.space, coalesce(l.bytes, 0)::bigint, l.reads::bigint
  FROM largest g JOIN leaf l USING (root) JOIN pg_class rc ON rc.oid = g.root JOIN pg_namespace rn ON rn.oid = rc.relnamespace
 ORDER BY g.bytes DESC NULLS LAST, 1, 3 LIMIT 5000`

func (i *inspection) tables(ctx context.Context) error {
	rows, err := i.link.rows(ctx, fmt.Sprintf(readTables, "pg_relation_size(c.oid)"))
	if codeOf(err) == codeLockTimeout {
		i.Settings["sizes of tables"] = "as of the last ANALYZE: a table is locked"
		rows, err = i.link.rows(ctx, fmt.Sprintf(readTables, "c.relpages::bigint * current_setting('block_size')::bigint"))
	}
	if err != nil {
		return err
	}
	var groups []filewise.FileGroup
	for _, r := range rows {
		name := "table " + text(r[0])
		if n := len(groups); n == 0 || groups[n-1].Name != name {
			g := filewise.FileGroup{Name: name, Database: i.about.database, Use: filewise.UseData, Fill: filewise.FillOwn, Own: inspecting.Own(i.about.database)}
			if partitioned, _ := r[1].(bool); partitioned {
				g.Fill = filewise.FillPartitions
			}
			groups = append(groups, g)
		}
		space := text(r[3])
		if space == "" {
			space = i.usual
		}
		f := filewise.FileInspect{Path: text(r[2]), Volume: "tablespace " + space, Dir: i.homes[space]}
		f.Bytes, _ = r[4].(int64)
		if reads, ok := r[5].(int64); ok {
			f.IO = map[string]float64{filewise.FileReads: float64(reads)}
		}
		groups[len(groups)-1].Files = append(groups[len(groups)-1].Files, f)
	}
	i.Groups = append(i.Groups, groups...)
	return nil
}

const readCache = `
SELECT sum(blks_hit + blks_read)::float8, sum(blks_read)::float8, sum(temp_files)::float8, sum(temp_bytes)::float8,
       extract(epoch FROM now() - min(stats_reset))::float8, sum(blk_read_time)::float8, sum(blk_write_time)::float8 FROM pg_stat_database`

func (i *inspection) activity(ctx context.Context) error {
	var requests, misses, files, bytes, age, read, write *float64
	if err := i.link.scan(ctx, readCache, nil, &requests, &misses, &files, &bytes, &age, &read, &write); err != nil {
		return err
	}
	i.figures(map[string]*float64{filewise.FigureRequests: requests, filewise.FigureMisses: misses, filewise.FigureTempFiles: files, filewise.FigureTempBytes: bytes})
	if age != nil {
		i.Since = time.Duration(*age * float64(time.Second))
	}
	if i.Settings["track_io_timing"] == "off" {
		i.Lack("reading and writing times", "track_io_timing is off, so that the server measures none", "ask its owner for track_io_timing = on (pg_test_timing says what it costs)")
		return nil
	}
	if read != nil && misses != nil { // of backends; that of pg_stat_io is finer
		i.Figures[filewise.FigureReadTime], i.Figures[filewise.FigureWriteTime] = *read/1000, *write/1000
	}
	return nil
}

func (i *inspection) figures(all map[string]*float64) {
	for name, x := range all {
		if x != nil {
			i.Figures[name] = *x
		}
	}
}

// checkpoints and the bytes of WAL are counters of the probe too.
func (i *inspection) checkpoints(ctx context.Context) error {
	all, err := statusProbe{link: i.link}.Read(ctx)
	for _, c := range all {
		switch c.Name {
		case "pg_stat_bgwriter.checkpoints_timed", "pg_stat_checkpointer.num_timed":
			i.Figures[filewise.FigureTimed] = c.Value
		case "pg_stat_bgwriter.checkpoints_req", "pg_stat_checkpointer.num_requested":
			i.Figures[filewise.FigureRequested] = c.Value
		case "pg_stat_wal.wal_bytes":
			i.Figures[filewise.FigureLogBytes] = c.Value
		}
	}
	return err
}

// readTimes is PostgreSQL 16's; ms.
const readTimes = `
SELECT sum(reads)::float8, sum(read_time)::float8, sum(writes)::float8, sum(write_time)::float8, sum(extends)::float8
  FROM pg_stat_io WHERE object = 'relation'`

func (i *inspection) io(ctx context.Context) error {
	if i.about.version < 160000 || i.Settings["track_io_timing"] != "on" {
		if read := i.Figures[filewise.FigureReadTime]; read > 0 {
			i.all(map[string]float64{filewise.FileReads: i.Figures[filewise.FigureMisses], filewise.FileReadTime: read})
		}
		return nil
	}
	var reads, read, writes, write, extends *float64
	if err := i.link.scan(ctx, readTimes, nil, &reads, &read, &writes, &write, &extends); err != nil {
		return err
	}
	i.figures(map[string]*float64{filewise.FigureExtends: extends})
	if reads == nil || read == nil || writes == nil || write == nil {
		return nil
	}
	i.all(map[string]float64{filewise.FileReads: *reads, filewise.FileReadTime: *read / 1000, filewise.FileWrites: *writes, filewise.FileWriteTime: *write / 1000})
	return nil
}

// all is the I/O of all relations of the server, which PostgreSQL does not tell
// apart by file: a group of its own.
func (i *inspection) all(io map[string]float64) {
	i.Groups = append(i.Groups, filewise.FileGroup{Name: "all relations of the server", Use: filewise.UseData,
		Files: []filewise.FileInspect{{Path: "relations", IO: io}}})
}

func (i *inspection) wal(ctx context.Context) {
	i.Ask(ctx, "files of the WAL", func(ctx context.Context) error {
		var files, bytes int64
		if err := i.link.scan(ctx, "SELECT count(*), coalesce(sum(size), 0)::bigint FROM pg_ls_waldir()", nil, &files, &bytes); err != nil {
			return err
		}
		f := filewise.FileInspect{Path: fmt.Sprintf("pg_wal (%d segments)", files), Bytes: bytes}
		if i.about.dataDir != "" {
			f.Dir = path.Join(i.about.dataDir, "pg_wal")
		}
		i.Groups = append(i.Groups, filewise.FileGroup{Name: "write-ahead log", Use: filewise.UseLog, Files: []filewise.FileInspect{f}})
		return nil
	})
}

// readAllWaits are those of the whole server, where the probe asks for one database.
const readAllWaits = `
SELECT coalesce(backend_type, ''), coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
  FROM pg_stat_get_activity(NULL) WHERE pid <> pg_backend_pid() AND wait_event IS NOT NULL GROUP BY 1, 2, 3`

const looks, between = 10, 100 * time.Millisecond

// waits looks a few times at what sessions wait for: PostgreSQL adds waits up
// nowhere. The server's own processes keep no session waiting.
func (i *inspection) waits(ctx context.Context) error {
	sum := map[sampling.Event]int{}
	for range looks {
		err := i.link.with(ctx, func(conn *pgx.Conn) error {
			rows, err := conn.Query(ctx, readAllWaits)
			if err != nil {
				return i.link.done(ctx, readAllWaits, err)
			}
			seen, err := seenIn(rows)
			for event, n := range seen {
				sum[event] += n
			}
			return i.link.done(ctx, readAllWaits, err)
		})
		if err != nil {
			return err
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for event, n := range sum {
		if !event.Background {
			i.Waits = append(i.Waits, filewise.Counter{Name: event.Name, Unit: "sessions", Value: float64(n), Class: event.Class})
		}
	}
	return nil
}
