package postgres

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/engine/internal/inspecting"
)

// readingSettings are those of a session that only looks: it cannot write, and
// gives up what a lock or a large catalogue would make long.
func readingSettings(t filewise.Target) map[string]string {
	s := sessionSettings(t, 0)
	s["default_transaction_read_only"] = "on"
	s["statement_timeout"] = fmt.Sprint((inspecting.Patience - time.Second).Milliseconds())
	s["lock_timeout"] = "500" // ms
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
	i := &inspection{link: l}
	if err := i.greet(first); err != nil {
		return filewise.Inspection{}, connectError(t.Address.String(), err)
	}
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

// readGreeting names no table: whoever has locked one of the catalogue, even
// pg_tablespace, which the planner reads for every table, does not hold it up.
const readGreeting = `
SELECT current_setting('server_version_num')::integer, version(), current_user::text, current_database()::text,
       pg_has_role(current_user, 'pg_monitor', 'USAGE'),
       CASE WHEN pg_has_role(current_user, 'pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') ELSE '' END,
       inet_server_addr() IS NULL OR inet_server_addr() = inet_client_addr()`

func (i *inspection) greet(ctx context.Context) error {
	a := &i.about
	return i.link.scan(ctx, readGreeting, nil, &a.version, &a.banner, &a.user, &a.database, &a.monitor, &a.dataDir, &a.local)
}

// ask asks one question. An error of the server is told in its own words, without
// the statement.
func (i *inspection) ask(ctx context.Context, question string, do func(context.Context) error) {
	i.Ask(ctx, question, func(ctx context.Context) error {
		err := do(ctx)
		if told := new(pgconn.PgError); errors.As(err, &told) {
			return &answered{err, told.Message + i.holders(ctx, told.Code)}
		}
		return err
	})
}

// answered is an error in other words.
type answered struct {
	error
	text string
}

func (a *answered) Error() string { return a.text }
func (a *answered) Unwrap() error { return a.error }

// readHolders are who has locked a table of the catalogue.
const readHolders = `
SELECT coalesce(string_agg(DISTINCT relation::regclass || ' is locked by process ' || pid, ', '), '')
  FROM pg_lock_status() WHERE granted AND mode = 'AccessExclusiveLock' AND relation < 16384`

func (i *inspection) holders(ctx context.Context, code string) string {
	var names string
	if code != codeLockTimeout || i.link.scan(ctx, readHolders, nil, &names) != nil || names == "" {
		return ""
	}
	return ": " + names
}

func (i *inspection) grant(role string) string {
	return "as a superuser: GRANT " + role + " TO " + ident(i.about.user)
}

func (i *inspection) remedy(question string, err error) string {
	switch codeOf(err) {
	case codeNoRight:
		return i.grant("pg_monitor")
	case codeLockTimeout:
		return "ask again when that session's transaction has ended: SELECT * FROM pg_stat_activity shows it"
	}
	return ""
}

func (i *inspection) look(ctx context.Context) {
	i.Server, i.Local = i.about.banner, i.about.local
	i.Settings["database"] = i.about.database
	i.ask(ctx, "settings", i.settings)
	i.ask(ctx, "tablespaces", i.tablespaces)
	i.ask(ctx, "databases", i.databases)
	i.ask(ctx, "sizes of tables", i.tables)
	i.ask(ctx, "cache and temporary files", i.activity)
	i.ask(ctx, "checkpoints and the log", i.checkpoints)
	i.ask(ctx, "reading and writing times", i.io)
	i.ask(ctx, "files of the WAL", i.wal)
	i.ask(ctx, "waits", i.waits)
	i.Sampled = true
	if !i.about.monitor {
		i.Lack("waits of other roles", "the account sees its own sessions only", i.grant("pg_monitor"))
	}
	if i.about.local && i.about.dataDir == "" {
		i.Lack("devices below the files", "the account may not read data_directory", i.grant("pg_read_all_settings"))
	}
}

const readSettings = "SELECT name, current_setting(name, true), pg_size_bytes(current_setting('shared_buffers')) FROM unnest(string_to_array($1, ',')) name"

// told are the settings that decide how files are written and read.
const told = "shared_buffers,max_wal_size,checkpoint_timeout,track_io_timing,temp_tablespaces,effective_io_concurrency,wal_compression,full_page_writes,fsync,synchronous_commit,default_tablespace,block_size,work_mem"

func (i *inspection) settings(ctx context.Context) error {
	rows, err := i.link.rows(ctx, readSettings, told)
	for _, r := range rows {
		i.Settings[text(r[0])] = text(r[1])
		if bytes, ok := r[2].(int64); ok {
			i.Figures[filewise.FigureBuffer] = float64(bytes)
		}
	}
	return err
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
			i.Lack("size of database "+name, "the account may not connect to it", i.grant("pg_read_all_stats"))
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
         pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid) AS reads, %s AS bytes,
         greatest(c.reltuples, 0)::float8 AS tuples, pg_stat_get_tuples_inserted(c.oid)::float8 AS inserted,
         (pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid))::float8 AS changed
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
   WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_toast%%'),
largest AS (SELECT root, sum(bytes) AS bytes FROM leaf GROUP BY root ORDER BY 2 DESC NULLS LAST LIMIT 20)
SELECT rn.nspname || '.' || rc.relname, rc.relkind = 'p', l.nspname || '.' || l.relname, l.space, coalesce(l.bytes, 0)::bigint, l.reads::bigint, l.tuples, l.inserted, l.changed
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
		g := &groups[len(groups)-1]
		g.Files = append(g.Files, f)
		tuples, _ := r[6].(float64)
		inserted, _ := r[7].(float64)
		changed, _ := r[8].(float64)
		g.RowBytes, g.Inserted, g.Changed = g.RowBytes+tuples, g.Inserted+inserted, g.Changed+changed
	}
	for n := range groups {
		groups[n].RowBytes = rowBytes(groups[n].Files, groups[n].RowBytes)
	}
	i.Groups = append(i.Groups, groups...)
	return nil
}

// rowBytes is what a row takes on average, without its header (23 bytes, aligned) and
// line pointer; 0: no ANALYZE has told how many there are.
func rowBytes(files []filewise.FileInspect, rows float64) float64 {
	var bytes int64
	for _, f := range files {
		bytes += f.Bytes
	}
	if rows <= 0 {
		return 0
	}
	return max(float64(bytes)/rows-28, 1)
}
