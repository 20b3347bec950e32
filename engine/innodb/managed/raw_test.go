//go:build linux

package managed_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/managed"
)

// raw is one connection for the suite's own statements.
type raw struct{ conn *sql.Conn }

func rawConn(ctx context.Context, db *filewise.Database) (enginetest.Raw, error) {
	in, err := managed.Look(db)
	if err != nil {
		return nil, err
	}
	conn, err := in.Control.Conn(ctx)
	if err != nil {
		return nil, err
	}
	r := raw{conn}
	return r, r.Exec(ctx, "USE "+dialect.Ident(managed.Database))
}

func (r raw) Exec(ctx context.Context, statement string) error {
	_, err := r.conn.ExecContext(ctx, statement)
	return dialect.Classify(err)
}

func (r raw) Number(ctx context.Context, query string) (n int64, err error) {
	err = r.conn.QueryRowContext(ctx, query).Scan(&n)
	return n, dialect.Classify(err)
}

// Close ends the connection, which is not to serve others with its database.
func (r raw) Close() error {
	err := r.conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) {
		err = nil
	}
	if closing := r.conn.Close(); !errors.Is(closing, sql.ErrConnDone) {
		err = errors.Join(err, closing)
	}
	return err
}
