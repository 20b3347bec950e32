package oracle

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"

	go_ora "github.com/sijms/go-ora/v2"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/internal/sqlrows"
	"filewise/internal/sqlfile"
)

// statement is one rendered statement of a section.
type statement struct {
	section string
	text    string
	args    []any
}

// client executes statements on the server. Errors of the server are explained and show no secret.
type client interface {
	exec(context.Context, statement) error
	// rows returns a statement's rows. Whole numbers are int64.
	rows(context.Context, statement) ([][]any, error)
}

// opener opens connections with the driver's configuration, without a URL.
type opener struct{ config *config }

// Connect opens a connection.
func (c opener) Connect(ctx context.Context) (conn driver.Conn, err error) {
	err = patiently(ctx, listenerPatience, listenerPause, func(ctx context.Context) error {
		opened, err := go_ora.NewConnection("", c.config)
		if err != nil {
			return err
		}
		if err := opened.OpenWithContext(countingRedirects(ctx)); err != nil {
			return errors.Join(context.Cause(ctx), err)
		}
		conn = opened
		return nil
	})
	if err != nil && codeOf(err) == 0 && ctx.Err() == nil && len(c.config.Servers) > 0 {
		at := c.config.Servers[0]
		err = filewise.Errorf(filewise.CodePreflight, "check that an Oracle listener answers there: host, port (1521 as a rule), "+
			"firewalls between, and TCPS in the URL's options for TLS", "%s: %w", net.JoinHostPort(at.Addr, strconv.Itoa(at.Port)), err)
	}
	return conn, err
}

// Driver returns the driver of the opener.
func (opener) Driver() driver.Driver { return go_ora.NewDriver() }

// controls limits the connections for single statements. Builds, workload sessions and the measuring lock have further
// connections.
const controls = 4

// pool opens connections to the server.
type pool struct {
	db      *sql.DB // for single statements
	lasting *sql.DB // for connections that are held for one use and then closed
	secrets []filewise.Secret
}

func newPool(c *config, secrets []filewise.Secret) *pool {
	if !c.SSL && c.Dialer == nil {
		c.Dialer = dialer{}
	}
	opener := external.Recovering(opener{c}, external.Traits{Server: serverOf(c), Code: codeText})
	p := &pool{db: sql.OpenDB(opener), lasting: sql.OpenDB(opener), secrets: secrets}
	p.db.SetMaxOpenConns(controls)
	p.lasting.SetMaxIdleConns(-1) // an idle connection would still announce its past use
	return p
}

// serverOf returns a server's name for messages.
func serverOf(c *config) string {
	if len(c.Servers) == 0 {
		return "the server"
	}
	return "oracle://" + net.JoinHostPort(c.Servers[0].Addr, strconv.Itoa(c.Servers[0].Port))
}

func (p *pool) close() error {
	return filewise.HideIn(errors.Join(p.db.Close(), p.lasting.Close()), p.secrets...)
}

// on returns a client that uses a pool, a connection or a transaction.
func (p *pool) on(to executor) driven { return driven{p, to} }

type executor interface {
	sqlrows.Querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

type driven struct {
	pool *pool
	on   executor
}

func (d driven) exec(ctx context.Context, s statement) error {
	_, err := d.affected(ctx, s)
	return err
}

// affected executes a statement and returns how many rows it changed.
func (d driven) affected(ctx context.Context, s statement) (n int64, err error) {
	r, err := d.on.ExecContext(ctx, s.text, s.args...)
	if err == nil {
		n, err = r.RowsAffected()
	}
	return n, d.pool.why(ctx, s, err)
}

func (d driven) rows(ctx context.Context, s statement) ([][]any, error) {
	all, err := sqlrows.Query(ctx, d.on, s.text, s.args...)
	return all, d.pool.why(ctx, s, err)
}

// why names the statement in an error, explains the error and hides secrets.
func (p *pool) why(ctx context.Context, s statement, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil { // the driver would describe it as a broken connection
		err = errors.Join(context.Cause(ctx), err)
	}
	return explain(filewise.HideIn(fmt.Errorf("%s: %w", sqlfile.Short(s.text), err), p.secrets...))
}

// held is a connection that is held for one use and then closed.
type held struct {
	client
	often client // for statements that are executed many times
	// begin stops the driver from committing each statement, until the transaction that it returns ends.
	begin func(context.Context) (driver.Tx, error)
	close func() error
}

// lasting prepares each of a connection's statements once. The driver has the server parse a statement when it is first
// executed, and then sends only its number. That takes one call, while an unprepared statement takes two, the second to
// close it.
type lasting struct {
	conn *sql.Conn
	all  map[string]*sql.Stmt
}

// mostKept is below OPEN_CURSORS, which is 50 per session by default.
const mostKept = 30

// prepared returns the connection's prepared statement, or nil if it can keep no more.
func (l *lasting) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if st := l.all[text]; st != nil || len(l.all) == mostKept {
		return st, nil
	}
	st, err := l.conn.PrepareContext(ctx, text)
	if err == nil {
		l.all[text] = st
	}
	return st, err
}

// ExecContext executes a statement.
func (l *lasting) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	st, err := l.prepared(ctx, text) //nolint:sqlclosecheck // it stays open
	switch {
	case err != nil:
		return nil, err
	case st == nil:
		return l.conn.ExecContext(ctx, text, args...)
	}
	r, err := st.ExecContext(ctx, args...)
	return r, l.keep(text, err)
}

// QueryContext executes a query.
func (l *lasting) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	st, err := l.prepared(ctx, text) //nolint:sqlclosecheck // it stays open
	switch {
	case err != nil:
		return nil, err
	case st == nil:
		return l.conn.QueryContext(ctx, text, args...)
	}
	r, err := st.QueryContext(ctx, args...)
	return r, l.keep(text, err)
}

// keep forgets a statement that failed, because the driver may then lack its number.
func (l *lasting) keep(text string, err error) error {
	if err != nil {
		_ = l.all[text].Close() // if the connection broke, it is closed already
		delete(l.all, text)
	}
	return err
}
