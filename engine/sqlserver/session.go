package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/customsql"
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
	s := &connection{Session: machine, build: b, vars: b.design.ofWorker(worker)}
	if err = s.render(); err == nil && !s.Phase.PerStatement {
		err = s.open(ctx)
	}
	if err == nil && b.design.custom() {
		err = s.readyCustom(ctx)
	}
	if err != nil {
		return nil, errors.Join(s.explain("connection "+strconv.Itoa(worker), err), s.Close())
	}
	return s, nil
}

// connection is one of the workload's connections. It calls the procedure that loops on the server, or sends
// statements. It holds a sql.Conn, because a pool's connection loses its settings at its next use.
type connection struct {
	*session.Session
	build      *build
	vars       map[string]any
	pool       *sql.DB   // contains only this connection
	conn       *sql.Conn // nil if each statement connects by itself
	statements []string  // by type of operation
	look       string    // a query whether an operation is committed; "" if nothing shows that
	churn      string    // with churnNumber in place of the number; "" if none
	values     []any
	custom     customsql.Session
}

// churnNumber is the placeholder for the number of a table that is created and dropped.
const churnNumber = "NUMBER"

// lookPatience limits the clean-up after a failed call. A cancel that the server does not confirm has already cost the
// driver 5 s, and a rollback can take long.
const lookPatience = 45 * time.Second

// render renders the phase's statements, and sets the session's functions to work on this connection.
func (s *connection) render() (err error) {
	d := s.build.design
	s.Engine = session.Engine{
		Unchanged: func(error) bool { return s.Phase.PerStatement }, Rollback: s.rollback, Kill: s.kill,
		Explain: s.build.server.login.explain, Release: s.release, Patience: lookPatience,
	}
	switch {
	case d.custom():
		s.One = func(ctx context.Context, i int64) error { return s.custom.Do(customCall{s, ctx}, s.Session, i) }
		s.Try = func(ctx context.Context, i int64) error { return s.custom.Try(customCall{s, ctx}, s.Session, i) }
		s.Noun = "transaction"
		return nil
	case s.Phase.Client:
		s.One = s.send
	default:
		s.Call = s.loop
	}
	s.statements, err = session.Render(s.Phase, func(section string) (string, error) {
		return d.batch(section, s.vars)
	})
	if err != nil {
		return err
	}
	if d.program.Churns() {
		if s.churn, err = d.batch("churn", withNumber(s.vars, churnNumber)); err != nil {
			return err
		}
	}
	if name := "committed-" + s.Phase.Section; sections[d.program.SQL()].Has(name) {
		s.Look = s.committed
		s.look, err = d.batch(name, s.vars)
	}
	return err
}

func withNumber(vars map[string]any, number string) map[string]any {
	vars["Number"] = number
	return vars
}

// open opens the connection and sets it up.
func (s *connection) open(ctx context.Context) error {
	d := s.build.design
	ready, err := d.batch("connection", s.vars)
	if err != nil {
		return err
	}
	if s.pool = s.build.server.idle.take(s.build, s.Worker); s.pool == nil {
		s.pool = s.build.server.login.pool(d.name, appName, 1)
	}
	if s.conn, err = s.pool.Conn(ctx); err != nil {
		return err
	}
	return takeLock(ctx, s.conn, ready)
}

// loop has the server execute operations in one call. If the context ends, the driver cancels the call on the server.
func (s *connection) loop(ctx context.Context, first, n int64) error {
	_, err := s.conn.ExecContext(ctx, s.statements[0], int64(s.Worker), first, n)
	return err
}

// send executes one operation, after it has created and dropped a table if the program does that.
func (s *connection) send(ctx context.Context, i int64) error {
	if s.churn != "" {
		number := strconv.FormatInt(s.build.churned.Add(1), 10)
		if _, err := s.conn.ExecContext(ctx, strings.ReplaceAll(s.churn, churnNumber, number)); err != nil {
			return fmt.Errorf("churn: %w", err)
		}
	}
	s.values = s.Phase.Args.Args(s.values[:0], s.Worker, i)
	var on executor = s.conn
	if s.Phase.PerStatement {
		pool := s.build.server.login.pool(s.build.design.name, appName, 1)
		defer pool.Close() // connecting and closing are part of the operation
		on = pool
	}
	_, err := on.ExecContext(ctx, s.statements[s.Type(i)], s.values...)
	return err
}

// committed looks an operation up by its identifying arguments.
func (s *connection) committed(ctx context.Context, args []any) (bool, error) {
	r, err := one(ctx, s.build.inside, s.look, args[:operations.Parameters(s.look, "@p", len(args))]...)
	return r.Int("found") > 0, s.build.server.login.explain(err)
}

// rollback ends the session's open transactions.
func (s *connection) rollback(ctx context.Context) error {
	text, err := s.build.design.batch("end-transaction", s.vars)
	if err != nil {
		return err
	}
	return exec(ctx, s.conn, text)
}

// kill closes a broken connection, and waits until the server has ended its session. Only then is it known what is
// committed. The server lets go only after the socket is closed.
func (s *connection) kill(ctx context.Context) error {
	_ = s.conn.Close()
	if s.pool != nil { // otherwise it was killed before
		_ = s.pool.Close()
		s.pool = nil
	}
	text, err := s.build.design.batch("ended", s.vars)
	if err == nil {
		err = takeLock(ctx, s.build.inside, text)
	}
	return s.build.server.login.explain(err)
}

func (s *connection) explain(step string, err error) error {
	return s.build.server.login.explain(fmt.Errorf("%s: %w", step, err))
}

// releasePatience limits the check whether a connection can be kept.
const releasePatience = 5 * time.Second

// release keeps the connection for the worker's next turn, or closes it. No transaction stays open in between.
func (s *connection) release() error {
	fit := false
	if s.conn != nil && s.pool != nil {
		ctx, cancel := context.WithTimeout(context.Background(), releasePatience)
		fit = s.rollback(ctx) == nil
		cancel()
	}
	if s.conn != nil {
		_ = s.conn.Close() // closing a lost connection can fail, but it is gone either way
	}
	pool := s.pool
	s.pool = nil
	if pool == nil || fit && s.build.server.idle.keep(s.build, s.Worker, pool) {
		return nil
	}
	return pool.Close()
}
