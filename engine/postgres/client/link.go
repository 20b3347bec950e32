package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/internal/sqlrows"
	"filewise/internal/exchange"
	"filewise/internal/sqlfile"
)

// ControlConnections limits the connections that a build or a server has in addition to the workload's: for control,
// probes, interrupts.
const ControlConnections = 4

// Besides is the number of connections that an experiment can have at a time in addition to the workload's: the
// connections of the build, the connection of the server's link, and the connection that samples waits.
const Besides = ControlConnections + 1 + 1

// pingPatience limits the check whether a connection has died silently.
const pingPatience = 5 * time.Second

// Link gives access to one database. It makes a few control connections when they are needed, and holds the
// configuration for the workload's connections.
type Link struct {
	Config *pgx.ConnConfig
	// Why adds the class and the remedy to an error, or that the server has died. The result shows no secret.
	Why func(error) error

	slots  chan struct{}
	mu     sync.Mutex
	free   []*pgx.Conn
	closed bool
}

var ErrClosed = errors.New("the connections to the server are closed")

// Open returns the Link to an address's server and does not connect yet. Errors show none of the address's secrets.
func Open(a filewise.Address, settings map[string]string) (*Link, error) {
	config, err := configOf(a)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams = settings
	build := config.BuildFrontend
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := build(r, w)
		f.SetMaxBodyLen(longestMessage)
		return f
	}
	hidden := append(a.Hidden(), filewise.Secret(config.Password))
	return New(config, func(err error) error { return filewise.HideIn(Classify(err), hidden...) }), nil
}

// longestMessage limits the length of a message, in bytes. The driver allocates as much memory as the length announces.
const longestMessage = 64 << 20

func New(config *pgx.ConnConfig, why func(error) error) *Link {
	return &Link{Config: config, Why: why, slots: make(chan struct{}, ControlConnections)}
}

// To returns the Link to another database of the same server.
func (l *Link) To(database string) *Link {
	config := l.Config.Copy()
	config.Database = database
	return &Link{Config: config, Why: l.Why, slots: make(chan struct{}, ControlConnections)}
}

// More returns another Link to the same database, with so many control connections.
func (l *Link) More(connections int) *Link {
	more := l.To(l.Config.Database)
	more.slots = make(chan struct{}, connections)
	return more
}

// With calls use with a control connection. A connection that breaks meanwhile is not used again. If the driver panics
// over what the server has sent, the error names the server.
func (l *Link) With(ctx context.Context, use func(*pgx.Conn) error) (err error) {
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
	broken := false
	defer func() {
		if !broken {
			l.give(conn)
		}
	}()
	defer l.recovered(&err, func() { broken = true; _ = conn.PgConn().Conn().Close() }) // the connection's state is unknown
	return use(conn)
}

// recovered turns a panic into an error, and calls end. It must be deferred.
func (l *Link) recovered(err *error, end func()) {
	if p := recover(); p != nil {
		end()
		*err = l.Why(external.Unreadable(l.server(), p))
	}
}

// server returns the server's name for messages.
func (l *Link) server() string {
	return fmt.Sprintf("postgres://%s:%d", l.Config.Host, l.Config.Port)
}

func (l *Link) take(ctx context.Context) (_ *pgx.Conn, err error) {
	defer l.recovered(&err, func() {})
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, l.Why(ErrClosed)
	}
	for n := len(l.free); n > 0; n = len(l.free) {
		conn := l.free[n-1]
		l.free = l.free[:n-1]
		l.mu.Unlock()
		ping, cancel := context.WithTimeout(ctx, pingPatience)
		err := conn.Ping(ping)
		cancel()
		if err == nil { // the server may have ended the connection meanwhile
			return conn, nil
		}
		_ = conn.Close(context.Background())
		l.mu.Lock()
	}
	l.mu.Unlock()
	conn, err := pgx.ConnectConfig(ctx, l.Config)
	if err != nil {
		return nil, l.Why(OrCause(ctx, err))
	}
	return conn, nil
}

func (l *Link) give(conn *pgx.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if conn.IsClosed() || l.closed || conn.PgConn().TxStatus() != 'I' {
		_ = conn.Close(context.Background()) // the connection is broken or no longer needed
		return
	}
	l.free = append(l.free, conn)
}

// Close closes the control connections. Later use returns an error.
func (l *Link) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, conn := range l.free {
		_ = conn.Close(context.Background()) // the server may be gone
	}
	l.free = nil
}

// Forget closes the idle control connections. It is called when a server is restarted.
func (l *Link) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.free {
		_ = conn.Close(context.Background())
	}
	l.free = nil
}

// Exec executes statements one after the other on one control connection, each in its own transaction.
func (l *Link) Exec(ctx context.Context, statements ...string) error {
	return l.With(ctx, func(conn *pgx.Conn) error {
		for _, s := range statements {
			_, err := conn.Exec(ctx, s)
			if err = l.Done(ctx, s, err); err != nil {
				return err
			}
		}
		return nil
	})
}

// Refused reports a statement that the server refused (filewise.SeeRefusals), and returns err unchanged.
func Refused(ctx context.Context, statement string, err error) error {
	if err != nil && ctx.Err() == nil {
		external.Refused(filewise.SeesRefusals(ctx), statement, CodeOf(err))
	}
	return err
}

// Done reports a refused statement, and returns the error with its explanation.
func (l *Link) Done(ctx context.Context, statement string, err error) error {
	if Refused(ctx, statement, err) == nil {
		return nil
	}
	return l.Why(fmt.Errorf("%s: %w", sqlfile.Short(ShortenPool(statement)), OrCause(ctx, err)))
}

// Rows returns a query's rows.
func (l *Link) Rows(ctx context.Context, query string, args ...any) (all [][]any, err error) {
	err = l.With(ctx, func(conn *pgx.Conn) error {
		all, err = Collect(conn.Query(ctx, query, args...))
		return l.Done(ctx, query, err)
	})
	return all, err
}

// Collect reads all rows of a query.
func Collect(rows pgx.Rows, err error) ([][]any, error) {
	if err != nil {
		return nil, err
	}
	var limit sqlrows.Limit
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) ([]any, error) {
		values, err := r.Values()
		if err == nil {
			err = limit.Row(values...)
		}
		return values, err
	})
}

// Texts returns the first column of a query's rows.
func (l *Link) Texts(ctx context.Context, query string, args ...any) (all []string, err error) {
	err = l.With(ctx, func(conn *pgx.Conn) error {
		all, err = Texts(conn.Query(ctx, query, args...))
		return l.Done(ctx, query, err)
	})
	return all, err
}

// Texts reads the first column of a query's rows.
func Texts(rows pgx.Rows, err error) ([]string, error) {
	all, err := Collect(rows, err)
	return filewise.Each(all, func(row []any) string { return Text(append(row, nil)[0]) }), err
}

// Scan reads the only row of a query.
func (l *Link) Scan(ctx context.Context, query string, args []any, into ...any) error {
	return l.With(ctx, func(conn *pgx.Conn) error {
		return l.Done(ctx, query, conn.QueryRow(ctx, query, args...).Scan(into...))
	})
}

// CopyOut calls line for each line of a COPY … TO STDOUT as it arrives.
func (l *Link) CopyOut(ctx context.Context, statement string, line func([]byte)) error {
	return l.With(ctx, func(conn *pgx.Conn) error {
		_, err := conn.PgConn().CopyTo(ctx, lineWriter(line), statement)
		return l.Done(ctx, statement, err)
	})
}

// lineWriter gets one row of a COPY per Write. The protocol has one message per row, and pgconn writes message by
// message.
type lineWriter func([]byte)

func (w lineWriter) Write(b []byte) (int, error) { w(b); return len(b), nil }

// OrCause returns the context's cause if the context's end brought about err, else err.
func OrCause(ctx context.Context, err error) error {
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}

// Worker opens a connection for the workload.
func (l *Link) Worker(ctx context.Context) (_ *pgconn.PgConn, err error) {
	defer l.recovered(&err, func() {})
	config := l.Config.Copy().Config
	config.DialFunc = exchange.Dialing(config.DialFunc, false)
	conn, err := pgconn.ConnectConfig(ctx, &config)
	if err != nil {
		return nil, l.Why(OrCause(ctx, err))
	}
	return conn, nil
}

// ShortenPool shortens the long text in a statement from which payloads are cut.
func ShortenPool(statement string) string {
	const begin, keep = "SET filewise.pool = '", 40
	at := strings.Index(statement, begin)
	to := strings.LastIndex(statement, "'")
	if at < 0 || to-at < len(begin)+2*keep {
		return statement
	}
	return fmt.Sprintf("%s…%s", statement[:at+len(begin)+keep], statement[to:])
}

// Text returns a value as text; "" for NULL.
func Text(v any) string {
	s, _ := v.(string)
	return s
}
