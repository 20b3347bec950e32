package dialect

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/internal/sqlrows"
	"filewise/internal/sqlfile"
)

// Querier runs sections of a workload's SQL. It implements filewise.Querier.
type Querier struct {
	Host   Host
	Schema Schema
}

// Query runs a section of the workload's SQL, for all tables.
func (q Querier) Query(ctx context.Context, section string) ([][]any, error) {
	link, err := q.Host.Link()
	if err != nil {
		return nil, err
	}
	var statements []string
	if q.Schema.Program.Custom != nil {
		statements, err = q.queryCustom(section)
	} else {
		statements, err = q.Schema.Statements(section, q.Schema.Tables[0])
	}
	if err != nil {
		return nil, err
	}
	var all [][]any
	err = Classify(link.On(ctx, func(conn *sql.Conn) error {
		for _, s := range statements {
			rows, err := sqlrows.Query(ctx, conn, s)
			if err != nil {
				return fmt.Errorf("%s: %w", sqlfile.Short(s), err)
			}
			all = append(all, rows...)
		}
		return nil
	}))
	return all, err
}

// On calls do with a control connection, and explains its error.
func (l Link) On(ctx context.Context, do func(*sql.Conn) error) error {
	conn, err := l.Control.Conn(ctx)
	if err == nil {
		defer conn.Close()
		err = do(conn)
	}
	return l.Explain(err)
}

// Exec executes statements one after the other on one control connection.
func (l Link) Exec(ctx context.Context, statements ...string) error {
	return Classify(l.On(ctx, func(conn *sql.Conn) error {
		for _, s := range statements {
			_, err := conn.ExecContext(ctx, s)
			if err != nil {
				return fmt.Errorf("%s: %w", sqlfile.Short(s), err)
			}
		}
		return nil
	}))
}

// Flushed calls do while tables are flushed and cannot change, see Schema.FlushForExport. The tables are unlocked in
// any case.
func (l Link) Flushed(ctx context.Context, flush string, do func() error) error {
	return l.On(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, flush)
		if err != nil {
			err = fmt.Errorf("%s: %w", sqlfile.Short(flush), err)
		} else {
			err = do()
		}
		_, unlocking := conn.ExecContext(context.WithoutCancel(ctx), "UNLOCK TABLES")
		return cmp.Or(err, unlocking)
	})
}

// ShortenPool shortens the long text in a statement from which payloads are cut.
func ShortenPool(statement string) string {
	const keep = 40
	from := strings.Index(statement, "CONVERT('")
	to := strings.LastIndex(statement, "'")
	if from < 0 || to-from < 2*keep+9 {
		return statement
	}
	return statement[:from+9+keep] + "…" + statement[to:]
}

var (
	_ filewise.Querier   = Querier{}
	_ filewise.Connector = Connector{}
)

// Work has the operations of a build that are the same on every server: its connections, and the workload's questions.
type Work struct {
	Connector
	Querier
}

// NewWork returns the work on the tables of a schema.
func NewWork(h Host, s Schema) Work {
	return Work{Connector{Host: h, Schema: s}, Querier{Host: h, Schema: s}}
}

// Check has the server check each table.
func (s Schema) Check(ctx context.Context, link Link) error {
	return link.On(ctx, func(conn *sql.Conn) error {
		for _, t := range s.Tables {
			if err := tableOK(ctx, conn, "CHECK TABLE "+in(s.Database, t.Name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Queryer is implemented by a pool and by one of its connections.
type Queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Scan reads the values of a row, like sql.Rows.Scan.
type Scan = func(into ...any) error

// Each calls row for every row of a query.
func Each(ctx context.Context, db Queryer, row func(Scan) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var limit sqlrows.Limit
	scan := rows.Scan
	for rows.Next() {
		var values []any
		err := row(func(into ...any) error {
			values = into
			return scan(into...)
		})
		if err != nil {
			return err
		}
		if err := limit.Row(values...); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Column returns the only column of a query's rows, which must be text.
func Column(ctx context.Context, db Queryer, query string, args ...any) (all []string, err error) {
	err = Each(ctx, db, func(scan Scan) error {
		var text string
		err := scan(&text)
		all = append(all, text)
		return err
	}, query, args...)
	return all, err
}

// Pairs returns a query's rows, which must be pairs of name and value.
func Pairs(ctx context.Context, db Queryer, query string, args ...any) (map[string]string, error) {
	all := map[string]string{}
	return all, Each(ctx, db, func(scan Scan) error {
		var name string
		var value sql.NullString
		err := scan(&name, &value)
		all[name] = value.String
		return err
	}, query, args...)
}

// Variables returns the named global settings, or all of them. A setting that the server lacks is absent.
func Variables(ctx context.Context, db Queryer, names ...string) (map[string]string, error) {
	return show(ctx, db, "SHOW GLOBAL VARIABLES", names)
}

// Status returns the named status values, or all of them. A value that the server lacks is absent.
func Status(ctx context.Context, db Queryer, names ...string) (map[string]string, error) {
	return show(ctx, db, "SHOW GLOBAL STATUS", names)
}

func show(ctx context.Context, db Queryer, what string, names []string) (map[string]string, error) {
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = n
	}
	if len(names) > 0 {
		what += " WHERE Variable_name IN (?" + strings.Repeat(", ?", len(names)-1) + ")"
	}
	return Pairs(ctx, db, what, args...)
}

// TableFile describes a file of a table or partition as InnoDB's catalogue does.
type TableFile struct {
	Name             string // “sales/orders#P#p0”
	Path             string
	Bytes, Allocated int64
}

// TableFiles returns the files that meet the condition, which can use t.NAME and t.FILE_SIZE. It needs the privilege
// PROCESS.
func (p *Product) TableFiles(ctx context.Context, db Queryer, condition string, args ...any) (all []TableFile, err error) {
	err = Each(ctx, db, func(scan Scan) error {
		var f TableFile
		err := scan(&f.Name, &f.Path, &f.Bytes, &f.Allocated)
		all = append(all, f)
		return err
	}, p.Files.Of+" WHERE "+condition, args...)
	return all, err
}
