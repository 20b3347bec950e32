package postgres

import (
	"cmp"
	"context"
	"text/template"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/engine/internal/sampling"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/engine/postgres/internal/probes"
	"filewise/internal/sqlfile"
)

// CheckOptions refuses options of the address that the driver does not read.
func (Engine) CheckOptions(a filewise.Address) error { return client.CheckOptions(a) }

// Ask opens an existing server for questions. If text has a section "search-path", the value that this query returns
// becomes the search path.
func (Engine) Ask(ctx context.Context, t filewise.Target, text string) (filewise.Asked, error) {
	if err := checkExternal(t); err != nil {
		return nil, err
	}
	file := sqlfile.Must(sqlfile.Parse("own", text, template.FuncMap{"ident": dialect.Ident, "literal": dialect.Literal}))
	of := *t.Address
	of.Path = cmp.Or(t.Database, of.Path)
	l, err := client.Open(of, client.ReadingSettings())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, filewise.ReadPatience)
	defer cancel()
	a := &questions{link: l, about: filewise.About{Settings: map[string]string{}}, file: file}
	if err := a.greet(ctx); err != nil {
		a.link.Close()
		return nil, client.ConnectError(of.String(), err)
	}
	return a, nil
}

// questions is a session that queries the server. It implements filewise.Asked.
type questions struct {
	link  *client.Link
	about filewise.About
	file  *sqlfile.File
}

func (a *questions) greet(ctx context.Context) error {
	var user, database, dataDir string
	var monitor bool
	err := a.link.Scan(ctx, queries.Text("greeting"), nil, &a.about.Version[0], &a.about.Server, &user, &database, &monitor, &dataDir,
		&a.about.Local)
	a.about.Account = dialect.Ident(user)
	a.about.Settings["database"], a.about.Settings["data_directory"] = database, dataDir
	if monitor {
		a.about.Settings["pg_monitor"] = "granted"
	}
	if err != nil || !a.file.Has("search-path") {
		return err
	}
	path, err := a.link.Texts(ctx, a.file.Text("search-path"))
	if err == nil && len(path) > 0 {
		a.link.Forget()
		a.link.Config.RuntimeParams["search_path"] = path[0]
	}
	return err
}

// Prepare has the server parse a statement.
func (a *questions) Prepare(ctx context.Context, statement string) (types []uint32, columns [][2]uint32, err error) {
	err = a.link.With(ctx, func(conn *pgx.Conn) error {
		described, err := conn.PgConn().Prepare(ctx, "", statement, nil)
		if err == nil {
			types = described.ParamOIDs
			columns = filewise.Each(described.Fields, func(f pgconn.FieldDescription) [2]uint32 {
				return [2]uint32{f.TableOID, uint32(f.TableAttributeNumber)}
			})
		}
		return a.link.Done(ctx, statement, err)
	})
	return types, columns, err
}

func (a *questions) About() filewise.About { return a.about }

func (a *questions) Close() error { a.link.Close(); return nil }

func (a *questions) Codes(err error) []string { return []string{client.CodeOf(err)} }

func (a *questions) Rows(ctx context.Context, section string, vars map[string]any, args ...any) ([]filewise.Row, error) {
	text, err := a.file.Statement(section, vars)
	if err != nil {
		return nil, err
	}
	all, err := a.link.Rows(ctx, text, args...)
	return filewise.RowsOf(all), err
}

// Remedy returns a right to grant, or asks for patience until a lock is released.
func (a *questions) Remedy(err error) string {
	switch client.CodeOf(err) {
	case client.CodeNoRight:
		return "as a superuser: GRANT pg_monitor TO " + a.about.Account
	case client.CodeLockTimeout:
		return "ask again when that session's transaction has ended: SELECT * FROM pg_stat_activity shows it"
	}
	return ""
}

// looks is the number of samples of Waits, and between the time between two samples.
const looks, between = 10, 100 * time.Millisecond

// Waits samples a few times what sessions wait for, because PostgreSQL keeps no sums of waits. It leaves out the
// server's own processes, which keep no session waiting.
func (a *questions) Waits(ctx context.Context) (all []filewise.Counter, err error) {
	sum := map[sampling.Event]int{}
	for range looks {
		rows, err := a.link.Rows(ctx, queries.Text("all-waits"))
		if err != nil {
			return nil, err
		}
		for event, n := range probes.SeenIn(rows) {
			sum[event] += n
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	for event, n := range sum {
		if !event.Background {
			all = append(all, filewise.Counter{Name: event.Name, Unit: "sessions", Value: float64(n), Class: event.Class})
		}
	}
	return all, nil
}
