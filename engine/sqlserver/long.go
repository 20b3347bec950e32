package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// long is a connection for one BACKUP or RESTORE, which can be cancelled. It stays open until it is closed, so that its
// waits can be read.
type long struct {
	server *externalServer
	pool   *sql.DB
	conn   *sql.Conn
	took   time.Duration // of the statement alone
}

// openLong logs in to a database, in which the session's waits are then counted.
func (s *externalServer) openLong(ctx context.Context, database string) (*long, error) {
	l := &long{server: s, pool: s.login.pool(database, appName, 1)}
	var err error
	if l.conn, err = l.pool.Conn(ctx); err != nil {
		return nil, errors.Join(s.login.explain(fmt.Errorf("a connection for backups: %w", err)), l.pool.Close())
	}
	return l, nil
}

// run executes the statement. It returns every error that the server sent, because the last one is only generic (3013).
func (l *long) run(ctx context.Context, section string, vars map[string]any) error {
	statement, err := server.Statement(section, vars)
	if err != nil {
		return err
	}
	start := time.Now()
	_, err = l.conn.ExecContext(ctx, statement) // reads all: closing a result early would abort the statement
	l.took = time.Since(start)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return l.server.login.explain(fmt.Errorf("%s: %w", short(statement), allErrors(err)))
	}
	return nil
}

// close closes the connection, if there is one.
func (l *long) close() error {
	if l == nil {
		return nil
	}
	_ = l.conn.Close() // closing a cancelled connection can fail, but it is gone either way
	return l.pool.Close()
}

type detailed struct {
	error
	text string
}

func (t detailed) Error() string { return t.text }
func (t detailed) Unwrap() error { return t.error }

// allErrors returns an error that shows every error of one answer, first to last.
func allErrors(err error) error {
	var last mssql.Error
	if !errors.As(err, &last) || len(last.All) == 0 {
		return err
	}
	var texts []string
	for _, e := range last.All {
		texts = append(texts, fmt.Sprintf("%s (%d)", strings.TrimSuffix(e.Message, "."), e.Number))
	}
	return detailed{err, strings.Join(texts, "; ")}
}
