package inspection

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/engine/internal/inspecting"
	"filewise/engine/postgres/internal/client"
)

// ReadingSettings returns the settings of a session that only looks: it cannot write, and
// gives up what a lock or a large catalogue would make long.
func ReadingSettings() map[string]string {
	s := client.SessionSettings(0)
	s["default_transaction_read_only"] = "on"
	s["datestyle"] = "ISO, YMD"
	s["statement_timeout"] = fmt.Sprint((inspecting.Patience - time.Second).Milliseconds())
	s["lock_timeout"] = "500" // ms
	return s
}

// Look looks at the server of an address. A standby is looked at too.
func Look(ctx context.Context, a filewise.Address) (filewise.Inspection, error) {
	l, err := client.Open(a, ReadingSettings())
	if err != nil {
		return filewise.Inspection{}, err
	}
	defer l.Close()
	first, cancel := context.WithTimeout(ctx, 2*inspecting.Patience)
	defer cancel()
	i := &inspection{link: l}
	if err := i.greet(first); err != nil {
		return filewise.Inspection{}, client.ConnectError(a.String(), err)
	}
	i.Asker = inspecting.New(i.remedy)
	i.look(ctx)
	return *i.Inspection, nil
}

// Aside begins the comment of a schema that holds the old copy of a table.
const Aside = "filewise apply"

type inspection struct {
	*inspecting.Asker
	link  *client.Link
	about greeting
	homes map[string]string // location by tablespace
	usual string            // the tablespace of the database
}

// greeting holds what the server and the account are.
type greeting struct {
	version                         int
	banner, user, database, dataDir string
	monitor, local                  bool
}

func (i *inspection) greet(ctx context.Context) error {
	a := &i.about
	return i.link.Scan(ctx, queries.Text("greeting"), nil, &a.version, &a.banner, &a.user, &a.database, &a.monitor, &a.dataDir, &a.local)
}

// ask sends one question. An error of the server is reported in its own words, without
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

func (i *inspection) holders(ctx context.Context, code string) string {
	var names string
	if code != client.CodeLockTimeout || i.link.Scan(ctx, queries.Text("holders"), nil, &names) != nil || names == "" {
		return ""
	}
	return ": " + names
}

func (i *inspection) grant(role string) string {
	return "as a superuser: GRANT " + role + " TO " + client.Ident(i.about.user)
}

func (i *inspection) remedy(question string, err error) string {
	switch client.CodeOf(err) {
	case client.CodeNoRight:
		return i.grant("pg_monitor")
	case client.CodeLockTimeout:
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

// told are the settings that decide how files are written and read.
const told = "shared_buffers,max_wal_size,checkpoint_timeout,track_io_timing,temp_tablespaces,effective_io_concurrency," +
	"wal_compression,full_page_writes,fsync,synchronous_commit,default_tablespace,block_size,work_mem"

func (i *inspection) settings(ctx context.Context) error {
	rows, err := i.link.Rows(ctx, queries.Text("settings"), told)
	for _, r := range rows {
		i.Settings[client.Text(r[0])] = client.Text(r[1])
		if bytes, ok := r[2].(int64); ok {
			i.Figures[filewise.FigureBuffer] = float64(bytes)
		}
	}
	return err
}

func (i *inspection) tablespaces(ctx context.Context) error {
	rows, err := i.link.Rows(ctx, queries.Text("spaces"))
	if err != nil {
		return err
	}
	i.homes = map[string]string{}
	for _, r := range rows {
		name, dir := client.Text(r[0]), client.Text(r[1])
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
			i.Places = append(i.Places, filewise.Place{Volume: filewise.Volume{Name: name, Dir: client.TablespacePrefix + name}, Path: dir})
		}
	}
	return nil
}

func (i *inspection) databases(ctx context.Context) error {
	rows, err := i.link.Rows(ctx, queries.Text("sizes"))
	if err != nil {
		return err
	}
	for _, r := range rows {
		name := client.Text(r[0])
		bytes, told := r[3].(int64)
		if !told {
			i.Lack("size of database "+name, "the account may not connect to it", i.grant("pg_read_all_stats"))
			continue
		}
		system, _ := r[1].(bool)
		i.Groups = append(i.Groups, filewise.FileGroup{Name: "database " + name, Database: name, Use: filewise.UseData, System: system,
			Own:   inspecting.Own(name),
			Files: []filewise.FileInspect{{Path: name, Bytes: bytes, Volume: "tablespace " + client.Text(r[2]), Dir: i.homes[client.Text(r[2])]}}})
	}
	return nil
}

func (i *inspection) tables(ctx context.Context) error {
	rows, err := i.link.Rows(ctx, queries.Text("tables"), true, Aside)
	why := map[string]string{client.CodeLockTimeout: "a table is locked", client.CodeCanceled: "there are too many to ask"}[client.CodeOf(err)]
	if why != "" {
		i.Settings["sizes of tables"] = "as of the last ANALYZE: " + why
		rows, err = i.link.Rows(ctx, queries.Text("tables"), false, Aside)
	}
	if err != nil {
		return err
	}
	first := len(i.Groups)
	for _, r := range rows {
		made := filewise.FileGroup{Name: "table " + client.Text(r[0]), Database: i.about.database, Use: filewise.UseData,
			Fill: filewise.FillOwn, Own: inspecting.Own(i.about.database)}
		if partitioned, _ := r[1].(bool); partitioned {
			made.Fill = filewise.FillPartitions
		}
		made.Aside, _ = r[9].(bool)
		space := client.Text(r[3])
		if space == "" {
			space = i.usual
		}
		f := filewise.FileInspect{Path: client.Text(r[2]), Volume: "tablespace " + space, Dir: i.homes[space]}
		f.Bytes, _ = r[4].(int64)
		if reads, ok := r[5].(int64); ok {
			f.IO = map[string]float64{filewise.FileReads: float64(reads)}
		}
		g := i.Group(i.Add(made, f))
		tuples, _ := r[6].(float64)
		inserted, _ := r[7].(float64)
		changed, _ := r[8].(float64)
		g.RowBytes, g.Inserted, g.Changed = g.RowBytes+tuples, g.Inserted+inserted, g.Changed+changed
	}
	for n := first; n < len(i.Groups); n++ {
		g := &i.Groups[n]
		g.RowBytes = rowBytes(g.Files, g.RowBytes)
	}
	return nil
}

// rowBytes returns what a row takes on average, without its header (23 bytes, aligned) and
// line pointer. If 0, no ANALYZE has counted them.
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
