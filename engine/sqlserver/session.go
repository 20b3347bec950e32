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

// Connect opens a worker's connection for a phase of the program. One that
// connects for each statement has none yet.
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

// connection is one connection of the workload: it calls the procedure that loops on
// the server, or sends statements of its own. It holds a sql.Conn: what is set on a
// connection of a pool is gone at its next use.
type connection struct {
	*session.Session
	build      *build
	vars       map[string]any
	pool       *sql.DB   // of this one connection
	conn       *sql.Conn // nil: each statement has one of its own
	statements []string  // by type of operation
	look       string    // whether an operation is committed. Empty means nothing shows it
	churn      string    // with churnNumber in the place of the number. Empty means none
	values     []any
	custom     customsql.Session
}

// churnNumber stands for the number of a table that is created and dropped.
const churnNumber = "NUMBER"

// lookPatience bounds the clean-up after a call that failed: a cancel that the
// server does not confirm has cost the driver 5 s by then, a rollback can take long.
const lookPatience = 45 * time.Second

// render renders what the phase executes, and has the machine work on this connection.
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

// open opens the connection and readies it.
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

// loop has the server do operations in one call. When the context ends, the driver
// cancels it on the server.
func (s *connection) loop(ctx context.Context, first, n int64) error {
	_, err := s.conn.ExecContext(ctx, s.statements[0], int64(s.Worker), first, n)
	return err
}

// send executes one operation, after a table is created and dropped.
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
		defer pool.Close() // that it is opened and closed belongs to the operation
		on = pool
	}
	_, err := on.ExecContext(ctx, s.statements[s.Type(i)], s.values...)
	return err
}

// committed looks an operation up by as many of its arguments as identify it.
func (s *connection) committed(ctx context.Context, args []any) (bool, error) {
	r, err := one(ctx, s.build.inside, s.look, args[:operations.Parameters(s.look, "@p", len(args))]...)
	return r.Int("found") > 0, s.build.server.login.explain(err)
}

// rollback leaves no transaction of the session open.
func (s *connection) rollback(ctx context.Context) error {
	text, err := s.build.design.batch("end-transaction", s.vars)
	if err != nil {
		return err
	}
	return exec(ctx, s.conn, text)
}

// kill leaves a broken connection, and waits until the server has ended it: only then
// is it known what stays. The socket must go before the server lets go.
func (s *connection) kill(ctx context.Context) error {
	_ = s.conn.Close()
	if s.pool != nil { // else it was killed before
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

// releasePatience bounds the question whether a connection is fit to be kept.
const releasePatience = 5 * time.Second

// release leaves the connection to the worker's next turn, or ends it. No transaction stays open in between.
func (s *connection) release() error {
	fit := false
	if s.conn != nil && s.pool != nil {
		ctx, cancel := context.WithTimeout(context.Background(), releasePatience)
		fit = s.rollback(ctx) == nil
		cancel()
	}
	if s.conn != nil {
		_ = s.conn.Close() // a lost connection may complain; it is gone either way
	}
	pool := s.pool
	s.pool = nil
	if pool == nil || fit && s.build.server.idle.keep(s.build, s.Worker, pool) {
		return nil
	}
	return pool.Close()
}
