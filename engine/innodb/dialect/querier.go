package dialect

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/internal/sqlfile"
	"filewise/engine/internal/sqlrows"
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

// On does something on one of the control connections, and explains its error.
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

// Flushed does something while tables are flushed and held still, see
// Schema.FlushForExport; they are unlocked in any case.
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

// ShortenPool cuts the long text of a statement that payloads are cut from.
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
