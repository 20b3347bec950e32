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

// long is a connection of its own for one BACKUP or RESTORE: it can be cancelled. It stays
// until it is closed, so that what it has waited for can be read.
type long struct {
	server *externalServer
	pool   *sql.DB
	conn   *sql.Conn
	took   time.Duration // the statement alone
}

// openLong logs in to a database, which it then counts as waiting in.
func (s *externalServer) openLong(ctx context.Context, database string) (*long, error) {
	l := &long{server: s, pool: s.login.pool(database, appName, 1)}
	var err error
	if l.conn, err = l.pool.Conn(ctx); err != nil {
		return nil, errors.Join(s.login.explain(fmt.Errorf("a connection for backups: %w", err)), l.pool.Close())
	}
	return l, nil
}

// run executes the statement. Every error that the server sent is shown, since the
// last is only the generic one (3013).
func (l *long) run(ctx context.Context, section string, vars map[string]any) error {
	statement, err := server.Statement(section, vars)
	if err != nil {
		return err
	}
	start := time.Now()
	_, err = l.conn.ExecContext(ctx, statement) // reads to the end: a result that is closed early would abort it
	l.took = time.Since(start)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return l.server.login.explain(fmt.Errorf("%s: %w", short(statement), allErrors(err)))
	}
	return nil
}

// close ends the connection. None means nothing.
func (l *long) close() error {
	if l == nil {
		return nil
	}
	_ = l.conn.Close() // one that was cancelled may complain; it is gone either way
	return l.pool.Close()
}

type told struct {
	error
	text string
}

func (t told) Error() string { return t.text }
func (t told) Unwrap() error { return t.error }

// allErrors shows every error of one answer, first to last.
func allErrors(err error) error {
	var last mssql.Error
	if !errors.As(err, &last) || len(last.All) == 0 {
		return err
	}
	var texts []string
	for _, e := range last.All {
		texts = append(texts, fmt.Sprintf("%s (%d)", strings.TrimSuffix(e.Message, "."), e.Number))
	}
	return told{err, strings.Join(texts, "; ")}
}
