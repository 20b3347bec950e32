package oracle

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"filewise/engine/internal/sqlfile"
	"filewise/engine/internal/sqlrows"
	"fmt"

	go_ora "github.com/sijms/go-ora/v2"

	"filewise"
)

// statement is one statement of a section, rendered.
type statement struct {
	section string
	text    string
	args    []any
}

// client executes statements on the server. Errors of the server are explained,
// and show no secret.
type client interface {
	exec(context.Context, statement) error
	// rows returns a statement's rows; numbers that are whole are int64.
	rows(context.Context, statement) ([][]any, error)
}

// connector opens connections by the driver's configuration, without a URL.
type connector struct{ config *config }

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := go_ora.NewConnection("", c.config)
	if err != nil {
		return nil, err
	}
	if err := conn.OpenWithContext(ctx); err != nil {
		return nil, errors.Join(context.Cause(ctx), err)
	}
	return conn, nil
}

// Driver is the driver of the connector.
func (connector) Driver() driver.Driver { return go_ora.NewDriver() }

// controls is the most connections for single statements; a build, a workload's
// session and the measuring lock have each one of their own besides.
const controls = 4

// pool is the client of the control connections.
type pool struct {
	db      *sql.DB // for single statements
	own     *sql.DB // for connections that are held, and ended with their use
	secrets []filewise.Secret
}

func newPool(c *config, secrets []filewise.Secret) *pool {
	p := &pool{db: sql.OpenDB(connector{c}), own: sql.OpenDB(connector{c}), secrets: secrets}
	p.db.SetMaxOpenConns(controls)
	p.own.SetMaxIdleConns(-1) // an idle one would still announce what it was for
	return p
}

func (p *pool) close() error {
	return filewise.HideIn(errors.Join(p.db.Close(), p.own.Close()), p.secrets...)
}

func (p *pool) exec(ctx context.Context, s statement) error {
	_, err := p.db.ExecContext(ctx, s.text, s.args...)
	return p.why(ctx, s, err)
}

func (p *pool) rows(ctx context.Context, s statement) ([][]any, error) {
	all, err := sqlrows.Query(ctx, p.db, s.text, s.args...)
	return all, p.why(ctx, s, err)
}

// why names the statement in an error, explains and masks it.
func (p *pool) why(ctx context.Context, s statement, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil { // the driver's own text is that of a broken connection
		err = errors.Join(context.Cause(ctx), err)
	}
	return explain(filewise.HideIn(fmt.Errorf("%s: %w", sqlfile.Short(s.text), err), p.secrets...))
}

// held is a connection that is held for one use, and ended with it.
type held struct {
	client
	close func() error
}

// connection is the client of one connection of its own.
type connection struct {
	pool *pool
	conn *sql.Conn
}

func (c connection) exec(ctx context.Context, s statement) error {
	_, err := c.conn.ExecContext(ctx, s.text, s.args...)
	return c.pool.why(ctx, s, err)
}

func (c connection) rows(ctx context.Context, s statement) ([][]any, error) {
	all, err := sqlrows.Query(ctx, c.conn, s.text, s.args...)
	return all, c.pool.why(ctx, s, err)
}
