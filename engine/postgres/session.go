package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/engine/internal/session"
	"filewise/engine/postgres/client"
)

// Connect opens a worker's connection for a phase of the program.
func (b *build) Connect(ctx context.Context, phase, worker int) (filewise.Session, error) {
	machine, err := session.New(b.design.program, phase, worker)
	if err != nil {
		return nil, err
	}
	if phase > 0 && worker == 0 && b.design.program.Churns() {
		if err := b.sweep(ctx); err != nil {
			return nil, err
		}
	}
	s := connection{Session: machine, build: b}
	if b.design.custom() {
		return newCustom(ctx, s)
	}
	return newStatements(ctx, s)
}

// connection is one of the workload's connections.
type connection struct {
	*session.Session
	build *build
	conn  *pgconn.PgConn // nil if each statement connects by itself and no connection is open
	look  string         // a query whether an operation is committed; "" if nothing shows that
	client.Wire
}

// join sets the session's functions to work on this connection.
func (s *connection) join() {
	s.Engine = session.Engine{
		Interrupt: s.interrupt, Drop: func() { _ = s.conn.Conn().Close() }, Interrupted: canceled,
		Unchanged: s.unchanged, Died: s.build.host.died,
		Rollback: s.rollback, Kill: s.kill, Alive: s.alive, Explain: s.build.link.Why, Release: s.release,
	}
	if s.look != "" {
		s.Look = s.committed
	}
}

// open connects, and executes the statements in setup.
func (s *connection) open(ctx context.Context, setup ...string) (err error) {
	if s.conn, err = s.build.link.Worker(ctx); err != nil {
		return err
	}
	for _, statement := range setup {
		_, err := s.conn.Exec(ctx, statement).ReadAll()
		if err = s.build.link.Done(ctx, statement, err); err != nil {
			return err
		}
	}
	return nil
}

func (s *connection) prepare(ctx context.Context, name, statement string) error {
	_, err := s.conn.Prepare(ctx, name, statement, nil)
	return s.build.link.Done(ctx, statement, err)
}

func canceled(err error) bool { return client.CodeOf(err) == client.CodeCanceled }

// unchanged reports whether an operation was not begun, or met no row.
func (s *connection) unchanged(err error) bool { return s.conn == nil || errors.Is(err, errNoRow) }

func (s *connection) interrupt(ctx context.Context) error {
	_, err := s.build.link.Rows(ctx, "SELECT pg_cancel_backend($1)", int32(s.conn.PID()))
	return err
}

var errNotConnected = errors.New("the connection is closed")

func (s *connection) rollback(ctx context.Context) error {
	if s.conn.IsClosed() {
		return errNotConnected
	}
	_, err := s.conn.Exec(ctx, "ROLLBACK").ReadAll()
	return err
}

func (s *connection) kill(ctx context.Context) error {
	_, err := s.build.link.Rows(ctx, "SELECT pg_terminate_backend($1)", int32(s.conn.PID()))
	return err
}

func (s *connection) alive(ctx context.Context) (bool, error) {
	var n int64
	const look = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND datname = current_database()"
	err := s.build.link.Scan(ctx, look, []any{int32(s.conn.PID())}, &n)
	return n > 0, err
}

// committed looks an operation up by its identifying arguments.
func (s *connection) committed(ctx context.Context, args []any) (bool, error) {
	var found int64
	err := s.build.link.Scan(ctx, s.look, args[:operations.Parameters(s.look, "$", len(args))], &found)
	return found > 0, err
}

// release closes the connection. An error from a dead server does not matter, because the connection is gone either
// way.
func (s *connection) release() error {
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
	return nil
}

// statements works with prepared statements, each of which is a transaction. It calls the procedure that loops on the
// server, or sends one statement per operation.
type statements struct {
	connection
	texts []string // by type of operation
	names []string // their prepared statements
	churn bool     // create and drop a table before each operation
	client.Executor
}

// callName is the name of the prepared statement for a session's operations.
const callName = "fw_call"

// newStatements renders the phase's statements and prepares them on a connection. If each statement connects by itself,
// nothing is prepared yet.
func newStatements(ctx context.Context, c connection) (filewise.Session, error) {
	s := &statements{connection: c}
	setup, err := s.render()
	if err != nil {
		return nil, err
	}
	s.join()
	if s.One = s.send; s.Phase.PerStatement {
		s.One = s.apart
		return s, nil
	}
	if !s.Phase.Client {
		s.Call, s.One = s.call, nil
	}
	if err = s.open(ctx, setup...); err == nil {
		err = s.prepareAll(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// render renders the statements. It returns the statements that set up a connection.
func (s *statements) render() (setup []string, err error) {
	d := s.build.design
	t := d.tableOf(s.Worker)
	s.texts, err = session.Render(s.Phase, func(section string) (string, error) {
		if s.build.fills() {
			section = sectionFill
		}
		return d.statement(section, t)
	})
	if err != nil {
		return nil, err
	}
	file := sections[d.program.SQL()]
	if name := prefixCommitted + s.Phase.Section; file.Has(name) {
		if s.look, err = d.statement(name, t); err != nil {
			return nil, err
		}
	}
	if !file.Has(sectionConnection) {
		return nil, nil
	}
	return d.statements(sectionConnection, t)
}

// prepareAll prepares each statement once.
func (s *statements) prepareAll(ctx context.Context) error {
	for i, text := range s.texts {
		if first := slices.Index(s.texts, text); first < i {
			s.names = append(s.names, s.names[first])
			continue
		}
		name := callName
		if len(s.texts) > 1 {
			name = fmt.Sprintf("%s_%d", callName, i)
		}
		if err := s.prepare(ctx, name, text); err != nil {
			return err
		}
		s.names = append(s.names, name)
	}
	d := s.build.design
	if s.churn = d.program.Churns(); !s.churn {
		return nil
	}
	churn, err := d.statement(prefixStatement+sectionChurn, d.tableOf(s.Worker))
	if err != nil {
		return err
	}
	return s.prepare(ctx, churnName, churn)
}

// call has the server loop over all of the operations.
func (s *statements) call(ctx context.Context, first, n int64) error {
	var params [3][]byte
	for i, v := range [3]int64{int64(s.Worker), first, n} {
		params[i] = strconv.AppendInt(nil, v, 10)
	}
	_, err := s.conn.ExecPrepared(ctx, s.names[0], params[:], nil, nil).Close()
	return client.Refused(ctx, s.texts[0], err)
}
