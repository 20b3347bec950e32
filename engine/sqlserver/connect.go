package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/microsoft/go-mssqldb/msdsn"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/sqlserver/internal/result"
	"filewise/internal/sqlfile"
)

// login opens connections to one server. Every error of the driver passes through explain, which shows no secret.
type login struct {
	config  msdsn.Config
	address filewise.Address
}

func newLogin(a filewise.Address) (*login, error) {
	c, err := loginConfig(a)
	if err != nil {
		return nil, filewise.HideIn(err, a.Hidden()...)
	}
	return &login{c, a}, nil
}

// pool opens up to n connections to a database; "" means the URL's.
func (l *login) pool(database, program string, n int) *sql.DB {
	c := l.config
	if database != "" {
		c.Database = database
	}
	c.AppName = program
	db := sql.OpenDB(external.Recovering(patient{l, c}, external.Traits{Server: l.address.String(), Code: codesOf}))
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}

// executor is a pool or one connection.
type executor interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// row is one row of a result, by column name.
type row = result.Row

func query(ctx context.Context, on executor, statement string, args ...any) ([]row, error) {
	return result.Query(ctx, on, statement, args...)
}

// one returns the only row of a statement's result.
func one(ctx context.Context, on executor, statement string, args ...any) (row, error) {
	all, err := query(ctx, on, statement, args...)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%d rows, expected 1", len(all))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", short(statement), err)
	}
	return all[0], nil
}

// ask returns the only row of a section of the server's SQL file.
func ask(ctx context.Context, on executor, section string, vars map[string]any, args ...any) (row, error) {
	text, err := server.Statement(section, vars)
	if err != nil {
		return nil, err
	}
	return one(ctx, on, text, args...)
}

// askAll returns the rows of a section of the server's SQL file.
func askAll(ctx context.Context, on executor, section string, vars map[string]any) ([]row, error) {
	return askOf(ctx, on, server, section, vars)
}

// askOf returns the rows of a section of a file.
func askOf(ctx context.Context, on executor, f *sqlfile.File, section string, vars map[string]any, args ...any) ([]row, error) {
	text, err := f.Statement(section, vars)
	if err != nil {
		return nil, err
	}
	return query(ctx, on, text, args...)
}

// do executes a section of the server's SQL file.
func do(ctx context.Context, on executor, section string, vars map[string]any) error {
	text, err := server.Statement(section, vars)
	if err != nil {
		return err
	}
	return exec(ctx, on, text)
}

// exec executes statements one after the other.
func exec(ctx context.Context, on executor, statements ...string) error {
	for _, s := range statements {
		if _, err := on.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", short(s), err)
		}
	}
	return nil
}

// takeLock executes a section that returns the result of sp_getapplock. 0 or 1 means that the lock is taken, −1 a
// timeout, and less another failure.
func takeLock(ctx context.Context, on executor, statement string) error {
	r, err := one(ctx, on, statement)
	if err != nil {
		return err
	}
	switch n, ok := r.Number("result"); {
	case !ok:
		return errors.New("sp_getapplock returned nothing")
	case n == -1:
		return external.ErrTaken
	case n < 0:
		return fmt.Errorf("sp_getapplock returned %d", n)
	}
	return nil
}
