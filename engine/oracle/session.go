package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/engine/internal/session"
)

// Connect opens a worker's connection for a phase of the program. If each statement connects by itself, Connect opens
// none.
func (b *build) Connect(ctx context.Context, phase, worker int) (filewise.Session, error) {
	machine, err := session.New(b.design.program, phase, worker)
	if err != nil {
		return nil, err
	}
	s := &connection{Session: machine, build: b, control: b.conn}
	if err := s.render(); err != nil || s.Phase.PerStatement {
		return s, err
	}
	if s.held, err = b.workers().connection(ctx, b.design.names.Tablespace, fmt.Sprintf("worker %d", worker)); err != nil {
		return nil, err
	}
	if err := s.identify(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if b.design.isCustom() {
		c, err := newCustom(ctx, s)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return c, nil
	}
	return s, nil
}

// connection is one of the workload's connections. It calls the procedure that loops on the server, or sends statements
// and blocks.
type connection struct {
	*session.Session
	build       *build
	held        held   // without a client if each statement connects by itself
	control     client // to look up what is committed
	sid, serial int64
	statements  []statement // by type of operation
	look        statement   // a query whether an operation is committed
	churn       []statement
	answers     [3]int64
	values      []any
}

// render renders the phase's statements, and sets the session's functions to work on this connection.
func (s *connection) render() (err error) {
	d := s.build.design
	t := d.tableOf(s.Worker)
	s.join()
	if d.isCustom() {
		return nil
	}
	s.statements, err = session.Render(s.Phase, func(section string) (statement, error) {
		return d.statementOf(s.Worker, section, t)
	})
	if err != nil {
		return err
	}
	if d.program.Churns() {
		if s.churn, err = d.churnOf(s.Worker); err != nil {
			return err
		}
	}
	if name := "committed-" + s.Phase.Section; workloads[d.program.SQL()].Has(name) {
		s.Look = s.committed
		s.look, err = d.statement(name, t)
	}
	return err
}

func (s *connection) join() {
	s.Engine = session.Engine{
		Interrupted: func(err error) bool { return codeOf(err) == errInterrupted },
		Unchanged:   func(error) bool { return s.Phase.PerStatement },
		Rollback:    func(ctx context.Context) error { return exec(ctx, s.held, "rollback", nil) },
		Kill:        func(context.Context) error { return s.release() },
		Alive:       s.alive,
		Explain:     func(err error) error { return err }, // the client has explained it
		Release:     s.release,
	}
	if s.Phase.Client {
		s.One = s.send
	} else {
		s.Call = s.loop
	}
}

// identify reads the session's identity on the server.
func (s *connection) identify(ctx context.Context) error {
	r, err := row(ctx, s.held, 3, "this-session")
	if err != nil {
		return err
	}
	if err := s.build.server.onInstance(r[2]); err != nil {
		return err
	}
	sid, ok := number(r[0])
	audit, ok2 := number(r[1])
	if !ok || !ok2 {
		return fmt.Errorf("the server reports session %q", text(r[0]))
	}
	if s.serial, ok, err = count(ctx, s.control, "session-serial", nil, sid, audit); err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("session %d is not in v$session", sid)
	}
	s.sid = sid
	return nil
}

// loop has the server execute operations in one call. If the context ends, the driver stops the server's call.
func (s *connection) loop(ctx context.Context, first, n int64) error {
	call := s.statements[0]
	call.args = []any{s.Worker, first, n}
	return s.held.often.exec(ctx, call)
}

// send executes one operation, after it has created and dropped a table if the program does that.
func (s *connection) send(ctx context.Context, i int64) error {
	if err := s.createAndDrop(ctx); err != nil {
		return fmt.Errorf("churn: %w", err)
	}
	what := s.statements[s.Type(i)]
	what.args = s.arguments(what.text, i)
	if !s.Phase.PerStatement {
		return s.execute(ctx, s.held.often, what)
	}
	conn, err := s.build.server.pool.plain(ctx) // connecting and closing are part of the operation
	if err != nil {
		return err
	}
	return errors.Join(s.execute(ctx, conn, what), conn.close())
}

// createAndDrop creates a table and drops it. The table's name is the connection's own. If an interrupted operation has
// left the table, it is dropped first.
func (s *connection) createAndDrop(ctx context.Context) error {
	for i, c := range s.churn {
		err := s.held.exec(ctx, c)
		if i == 0 && codeOf(err) == errExists {
			if err = s.held.exec(ctx, s.churn[len(s.churn)-1]); err == nil {
				err = s.held.exec(ctx, c)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mostBinds is the most bind variables of a workload's statement.
const mostBinds = 12

// arguments returns the arguments of operation i, and variables for what the server returns.
func (s *connection) arguments(text string, i int64) []any {
	s.values = s.Phase.Args.Args(s.values[:0], s.Worker, i)
	given := len(s.values)
	for n := given; n < operations.Parameters(text, ":", mostBinds); n++ {
		s.values = append(s.values, sql.Out{Dest: &s.answers[n-given]})
	}
	return s.values
}

// execute executes a block or a query, and reads all of its rows.
func (s *connection) execute(ctx context.Context, on client, what statement) error {
	if !strings.HasPrefix(what.text, "SELECT") && !strings.Contains(what.text, "\nSELECT") {
		return on.exec(ctx, what)
	}
	found, err := on.rows(ctx, what)
	if err == nil && len(found) == 0 && len(what.args) > 0 {
		err = fmt.Errorf("%s %v: %w", s.Phase.Section, what.args, errNoRows)
	}
	return err
}

// committed looks an operation up by its identifying arguments.
func (s *connection) committed(ctx context.Context, args []any) (bool, error) {
	look := s.look
	look.args = args[:operations.Parameters(look.text, ":", len(args))]
	found, err := s.control.rows(ctx, look)
	if err != nil {
		return false, err
	}
	n, ok := number(only(found))
	if !ok {
		return false, errNoRows
	}
	return n > 0, nil
}

// alive reports whether the server still has the session. If the connection is broken, the server ends the session as
// soon as it notices.
func (s *connection) alive(ctx context.Context) (bool, error) {
	n, ok, err := count(ctx, s.control, "alive", nil, s.sid, s.serial)
	return !ok || n != 0, err
}

// release ends the connection.
func (s *connection) release() error {
	if s.held.close != nil {
		_ = s.held.close() // closing a broken connection can fail, but it is gone either way
	}
	return nil
}
