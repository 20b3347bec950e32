package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"filewise/engine/internal/exchange"
	"filewise/engine/internal/sqlfile"
)

// controlConnections bounds those that a build, or a server, has besides the
// workload's: for control, probes, interrupts.
const controlConnections = 4

// besides are those that an experiment may have at a time besides the workload's: of
// the build, of the server's own link, and of who looks what is waited for.
const besides = controlConnections + 1 + 1

// link is the way to one database: a few control connections, made when they are
// needed, and the configuration for connections of the workload.
type link struct {
	config *pgx.ConnConfig
	// why explains an error: its class, its remedy, a server that has died. It shows
	// no secret.
	why func(error) error
	// trace is told every statement of Filewise's and how it ended; nil: nobody.
	trace func(statement string, err error)

	slots  chan struct{}
	mu     sync.Mutex
	free   []*pgx.Conn
	closed bool
}

var errClosed = errors.New("the connections to the server are closed")

func newLink(config *pgx.ConnConfig, why func(error) error) *link {
	return &link{config: config, why: why, slots: make(chan struct{}, controlConnections)}
}

// to is the way to another database of the same server.
func (l *link) to(database string) *link {
	config := l.config.Copy()
	config.Database = database
	return &link{config: config, why: l.why, trace: l.trace, slots: make(chan struct{}, controlConnections)}
}

// with lends a control connection. One that breaks meanwhile is not used again.
func (l *link) with(ctx context.Context, use func(*pgx.Conn) error) error {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	conn, err := l.take(ctx)
	if err != nil {
		return err
	}
	defer l.give(conn)
	return use(conn)
}

func (l *link) take(ctx context.Context) (*pgx.Conn, error) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, l.why(errClosed)
	}
	for n := len(l.free); n > 0; n = len(l.free) {
		conn := l.free[n-1]
		l.free = l.free[:n-1]
		l.mu.Unlock()
		if conn.Ping(ctx) == nil { // the server may have ended it meanwhile
			return conn, nil
		}
		_ = conn.Close(context.Background())
		l.mu.Lock()
	}
	l.mu.Unlock()
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return nil, l.why(orCause(ctx, err))
	}
	return conn, nil
}

func (l *link) give(conn *pgx.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if conn.IsClosed() || l.closed || conn.PgConn().TxStatus() != 'I' {
		_ = conn.Close(context.Background()) // broken or not wanted any more
		return
	}
	l.free = append(l.free, conn)
}

// close ends the control connections. Later use is an error.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, conn := range l.free {
		_ = conn.Close(context.Background()) // the server may be gone
	}
	l.free = nil
}

// forget ends the control connections that are free, for a server that is
// restarted.
func (l *link) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.free {
		_ = conn.Close(context.Background())
	}
	l.free = nil
}

// exec executes statements one after the other on one control connection, each in
// a transaction of its own.
func (l *link) exec(ctx context.Context, statements ...string) error {
	return l.with(ctx, func(conn *pgx.Conn) error {
		for _, s := range statements {
			_, err := conn.Exec(ctx, s)
			if err = l.done(ctx, s, err); err != nil {
				return err
			}
		}
		return nil
	})
}

// done explains how a statement ended.
func (l *link) done(ctx context.Context, statement string, err error) error {
	if l.trace != nil {
		l.trace(statement, err)
	}
	if err == nil {
		return nil
	}
	return l.why(fmt.Errorf("%s: %w", sqlfile.Short(shortenPool(statement)), orCause(ctx, err)))
}

// rows are a query's rows.
func (l *link) rows(ctx context.Context, query string, args ...any) (all [][]any, err error) {
	err = l.with(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, args...)
		if err == nil {
			all, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
		}
		return l.done(ctx, query, err)
	})
	return all, err
}

// scan reads a query's one row.
func (l *link) scan(ctx context.Context, query string, args []any, into ...any) error {
	return l.with(ctx, func(conn *pgx.Conn) error {
		return l.done(ctx, query, conn.QueryRow(ctx, query, args...).Scan(into...))
	})
}

// copyOut hands a COPY … TO STDOUT's lines over as they come.
func (l *link) copyOut(ctx context.Context, statement string, line func([]byte)) error {
	return l.with(ctx, func(conn *pgx.Conn) error {
		_, err := conn.PgConn().CopyTo(ctx, lineWriter(line), statement)
		return l.done(ctx, statement, err)
	})
}

// lineWriter gets one row of a COPY with each Write: the protocol has a message
// for each, and pgconn writes message by message.
type lineWriter func([]byte)

func (w lineWriter) Write(b []byte) (int, error) { w(b); return len(b), nil }

// orCause is the context's cause for an error that its end has brought about.
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}

// worker opens a connection of the workload.
func (l *link) worker(ctx context.Context) (*pgconn.PgConn, error) {
	config := l.config.Copy().Config
	config.DialFunc = exchange.Dialing(config.DialFunc, false)
	conn, err := pgconn.ConnectConfig(ctx, &config)
	if err != nil {
		return nil, l.why(orCause(ctx, err))
	}
	return conn, nil
}
