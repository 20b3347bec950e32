package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/internal/marker"
)

// ofPostgres inspects a PostgreSQL server, or a standby.
type ofPostgres struct {
	*asker
	about        filewise.About
	dataDir      string            // empty if the account may not read it
	homes        map[string]string // location by tablespace
	usual        string            // the database's own tablespace
	databaseName string
}

// ask sends one question. A gap then shows the server's error message without the statement.
func (i *ofPostgres) ask(ctx context.Context, question string, do func(context.Context) error) {
	i.asker.ask(ctx, question, func(ctx context.Context) error {
		err := do(ctx)
		if answer := new(pgconn.PgError); errors.As(err, &answer) {
			return &answered{err, answer.Message + i.holders(ctx, err)}
		}
		return err
	})
}

// answered is an error with another text.
type answered struct {
	error
	text string
}

func (a *answered) Error() string { return a.text }
func (a *answered) Unwrap() error { return a.error }

// lockTimeout and canceled are the SQLSTATEs of a lock that was not granted in time, and of statement_timeout.
const lockTimeout, canceled = "55P03", "57014"

func codeOf(err error) string {
	if answer := new(pgconn.PgError); errors.As(err, &answer) {
		return answer.Code
	}
	return ""
}

func (i *ofPostgres) holders(ctx context.Context, err error) string {
	if codeOf(err) != lockTimeout {
		return ""
	}
	rows, err := i.rows(ctx, "holders")
	if names := only(rows).Text(0); err == nil && names != "" {
		return ": " + names
	}
	return ""
}

func (i *ofPostgres) grant(role string) string {
	return "as a superuser: GRANT " + role + " TO " + i.about.Account
}

func lookPostgres(ctx context.Context, all *asker) {
	about := all.in.About()
	i := &ofPostgres{asker: all, about: about, dataDir: about.Settings["data_directory"], databaseName: about.Settings["database"]}
	i.Server = about.Server
	i.Settings["database"] = i.databaseName
	i.ask(ctx, "settings", i.settings)
	i.ask(ctx, "tablespaces", i.tablespaces)
	i.ask(ctx, "databases", i.databases)
	i.ask(ctx, "sizes of tables", i.tables)
	i.ask(ctx, "cache and temporary files", i.activity)
	i.ask(ctx, "checkpoints and the log", i.checkpoints)
	i.ask(ctx, "reading and writing times", i.io)
	i.ask(ctx, "files of the WAL", i.wal)
	i.ask(ctx, "waits", i.sums)
	i.Sampled = true
	if about.Settings["pg_monitor"] == "" {
		i.lack("waits of other roles", "the account sees its own sessions only", i.grant("pg_monitor"))
	}
	if i.Local && i.dataDir == "" {
		i.lack("devices below the files", "the account may not read data_directory", i.grant("pg_read_all_settings"))
	}
}

// fileSettings lists the settings that decide how files are written and read.
const fileSettings = "shared_buffers,max_wal_size,checkpoint_timeout,track_io_timing,temp_tablespaces,effective_io_concurrency," +
	"wal_compression,full_page_writes,fsync,synchronous_commit,default_tablespace,block_size,work_mem"

func (i *ofPostgres) settings(ctx context.Context) error {
	rows, err := i.rows(ctx, "settings", fileSettings)
	for _, r := range rows {
		i.Settings[r.Text(0)] = r.Text(1)
		if bytes, ok := r.Number(2); ok {
			i.Figures[filewise.FigureBuffer] = float64(bytes)
		}
	}
	return err
}

func (i *ofPostgres) tablespaces(ctx context.Context) error {
	rows, err := i.rows(ctx, "spaces")
	if err != nil {
		return err
	}
	i.homes = map[string]string{}
	for _, r := range rows {
		name, dir := r.Text(0), r.Text(1)
		if dir == "" && i.dataDir != "" {
			dir = path.Join(i.dataDir, "base")
		}
		i.homes[name] = dir
		if r.Yes(3) {
			i.usual = name
		}
		switch {
		case name == "pg_default":
			i.Places = append(i.Places, filewise.Place{Volume: filewise.Volume{Name: "default"}, Path: dir})
		case r.Yes(2) && !marker.IsName(name):
			i.Places = append(i.Places, filewise.Place{Volume: filewise.Volume{Name: name, Dir: "tablespace:" + name}, Path: dir})
		}
	}
	return nil
}

func (i *ofPostgres) databases(ctx context.Context) error {
	rows, err := i.rows(ctx, "sizes")
	if err != nil {
		return err
	}
	for _, r := range rows {
		name := r.Text(0)
		bytes, known := r.Number(3)
		if !known {
			i.lack("size of database "+name, "the account may not connect to it", i.grant("pg_read_all_stats"))
			continue
		}
		i.Groups = append(i.Groups, filewise.FileGroup{Name: "database " + name, Database: name, Use: filewise.UseData, System: r.Yes(1),
			Own:   marker.IsName(name),
			Files: []filewise.FileInspect{{Path: name, Bytes: bytes, Volume: "tablespace " + r.Text(2), Dir: i.homes[r.Text(2)]}}})
	}
	return nil
}

func (i *ofPostgres) tables(ctx context.Context) error {
	rows, err := i.rows(ctx, "tables", true, filewise.Aside)
	if why := map[string]string{lockTimeout: "a table is locked", canceled: "there are too many to ask"}[codeOf(err)]; why != "" {
		i.Settings["sizes of tables"] = "as of the last ANALYZE: " + why
		rows, err = i.rows(ctx, "tables", false, filewise.Aside)
	}
	if err != nil {
		return err
	}
	first := len(i.Groups)
	for _, r := range rows {
		made := filewise.FileGroup{Name: "table " + r.Text(0), Database: i.databaseName, Use: filewise.UseData,
			Fill: filewise.FillOwn, Own: marker.IsName(i.databaseName)}
		if r.Yes(1) {
			made.Fill = filewise.FillPartitions
		}
		made.Aside = r.Yes(9)
		space := r.Text(3)
		if space == "" {
			space = i.usual
		}
		f := filewise.FileInspect{Path: r.Text(2), Volume: "tablespace " + space, Dir: i.homes[space]}
		f.Bytes = r.Int(4)
		if reads, ok := r.Number(5); ok {
			f.IO = map[string]float64{filewise.FileReads: float64(reads)}
		}
		g := i.group(i.addFile(made, f))
		tuples, _ := r.Real(6)
		inserted, _ := r.Real(7)
		changed, _ := r.Real(8)
		g.RowBytes, g.Inserted, g.Changed = g.RowBytes+tuples, g.Inserted+inserted, g.Changed+changed
	}
	for n := first; n < len(i.Groups); n++ {
		g := &i.Groups[n]
		g.RowBytes = rowBytes(g.Files, g.RowBytes)
	}
	return nil
}

// rowBytes returns a row's mean size without its header (23 bytes, aligned) and line pointer. 0 means no ANALYZE has
// counted the rows.
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

func (i *ofPostgres) activity(ctx context.Context) error {
	rows, err := i.rows(ctx, "cache")
	if err != nil {
		return err
	}
	r := only(rows)
	i.figures(r, map[int]string{0: filewise.FigureRequests, 1: filewise.FigureMisses, 2: filewise.FigureTempFiles,
		3: filewise.FigureTempBytes, 7: filewise.FigureSessions})
	if age, ok := r.Real(4); ok {
		i.Since = time.Duration(age * float64(time.Second))
	}
	if i.Settings["track_io_timing"] == "off" {
		i.lack("reading and writing times", "track_io_timing is off, so that the server measures none",
			"ask its owner for track_io_timing = on (pg_test_timing measures its cost)")
		return nil
	}
	if read, ok := r.Real(5); ok { // counts backends alone; pg_stat_io has more detail
		write, _ := r.Real(6)
		i.Figures[filewise.FigureReadTime], i.Figures[filewise.FigureWriteTime] = read/1000, write/1000
	}
	return nil
}

func (i *ofPostgres) figures(r filewise.Row, columns map[int]string) {
	for n, name := range columns {
		if x, ok := r.Real(n); ok {
			i.Figures[name] = x
		}
	}
}

// checkpoints reads the counts of checkpoints. None of these views is based on a table.
func (i *ofPostgres) checkpoints(ctx context.Context) error {
	view, timed, requested := "pg_stat_bgwriter", "checkpoints_timed", "checkpoints_req"
	if i.about.Version[0] >= 170000 {
		view, timed, requested = "pg_stat_checkpointer", "num_timed", "num_requested"
	}
	err := i.view(ctx, view, map[string]string{timed: filewise.FigureTimed, requested: filewise.FigureRequested})
	if err != nil || i.about.Version[0] < 140000 {
		return err
	}
	return i.view(ctx, "pg_stat_wal", map[string]string{"wal_bytes": filewise.FigureLogBytes})
}

// view reads columns of a view with a single row.
func (i *ofPostgres) view(ctx context.Context, name string, columns map[string]string) error {
	rows, err := i.in.Rows(ctx, "view", map[string]any{"View": name})
	if err != nil {
		return err
	}
	values := map[string]any{}
	if err := json.Unmarshal([]byte(only(rows).Text(0)), &values); err != nil {
		return err
	}
	for column, figure := range columns {
		if x, ok := values[column].(float64); ok {
			i.Figures[figure] = x
		}
	}
	return nil
}

func (i *ofPostgres) io(ctx context.Context) error {
	if i.about.Version[0] < 160000 || i.Settings["track_io_timing"] != "on" {
		if read := i.Figures[filewise.FigureReadTime]; read > 0 {
			i.all(map[string]float64{filewise.FileReads: i.Figures[filewise.FigureMisses], filewise.FileReadTime: read})
		}
		return nil
	}
	rows, err := i.rows(ctx, "times")
	if err != nil {
		return err
	}
	r := only(rows)
	i.figures(r, map[int]string{4: filewise.FigureExtends})
	reads, a := r.Real(0)
	read, b := r.Real(1)
	writes, c := r.Real(2)
	write, d := r.Real(3)
	if a && b && c && d {
		i.all(map[string]float64{filewise.FileReads: reads, filewise.FileReadTime: read / 1000, filewise.FileWrites: writes,
			filewise.FileWriteTime: write / 1000})
	}
	return nil
}

// all adds a group with the I/O of all the server's relations, which PostgreSQL does not count by file.
func (i *ofPostgres) all(io map[string]float64) {
	i.Groups = append(i.Groups, filewise.FileGroup{Name: "all relations of the server", Use: filewise.UseData,
		Files: []filewise.FileInspect{{Path: "relations", IO: io}}})
}

func (i *ofPostgres) wal(ctx context.Context) error {
	rows, err := i.rows(ctx, "wal")
	if err != nil {
		return err
	}
	f := filewise.FileInspect{Path: fmt.Sprintf("pg_wal of %d segments", only(rows).Int(0)), Bytes: only(rows).Int(1)}
	if i.dataDir != "" {
		f.Dir = path.Join(i.dataDir, "pg_wal")
	}
	i.Groups = append(i.Groups, filewise.FileGroup{Name: "write-ahead log", Use: filewise.UseLog, Files: []filewise.FileInspect{f}})
	return nil
}
