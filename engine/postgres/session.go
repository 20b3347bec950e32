package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/engine/internal/operations"
)

// callName is the prepared statement of a session's call.
const callName = "fw_call"

type connector struct{ build *build }

// Connect opens a worker's connection and readies it.
func (c connector) Connect(ctx context.Context, worker int) (filewise.Session, error) {
	b := c.build
	p := b.design.program
	if worker < 0 || worker >= p.Connections {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "worker %d of %d", worker, p.Connections)
	}
	if len(p.Phases) > 0 {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "a connection of workload %s that is not for a phase: %w", p.Workload, filewise.ErrUnsupported)
	}
	s := &session{build: b, worker: worker, args: p.Args}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// session is one connection of the workload.
type session struct {
	build  *build
	conn   *pgconn.PgConn
	worker int
	args   filewise.Args
	watch  watch
	look   string // whether an operation is committed; empty: nothing tells
}

func (s *session) ready(ctx context.Context) (err error) {
	d, l := s.build.design, s.build.link
	t := d.tableOf(s.worker)
	call, err := d.statement(sectionCall, t)
	if err != nil {
		return err
	}
	if s.look, err = d.statement(sectionCommitted, t); err != nil {
		return err
	}
	setup, err := d.statements(sectionConnection, t)
	if err != nil {
		return err
	}
	if s.conn, err = l.worker(ctx); err != nil {
		return err
	}
	for _, statement := range setup {
		_, err := s.conn.Exec(ctx, statement).ReadAll()
		if err = l.done(ctx, statement, err); err != nil {
			return err
		}
	}
	_, err = s.conn.Prepare(ctx, callName, call, nil)
	return l.done(ctx, call, err)
}

// Do has the server insert n rows in one call. When the context ends, the call
// is interrupted on the server, and what it had committed is looked up.
func (s *session) Do(ctx context.Context, first, n int64) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if most := s.build.design.program.Limit; most > 0 && first+n > most {
		done, err := s.loop(ctx, first, max(most-first, 0))
		if err == nil {
			err = filewise.Errorf(filewise.CodeTrials, "make --work smaller, or use --key sequential",
				"connection %d has no unique keys beyond its row %d", s.worker, most)
		}
		return done, err
	}
	return s.loop(ctx, first, n)
}

// loop is one call of the procedure.
func (s *session) loop(ctx context.Context, first, n int64) (int64, error) {
	err := s.guarded(ctx, func() error { return s.call(first, n) })
	if err == nil {
		return n, nil
	}
	return s.ended(ctx, first, n, err)
}

// ended says how many of the operations first … first+n−1 are committed although
// they ended with an error.
func (s *session) ended(ctx context.Context, first, n int64, err error) (int64, error) {
	done, lookErr := s.committed(first, n)
	if ctx.Err() != nil && codeOf(err) == codeCanceled {
		return done, errors.Join(context.Cause(ctx), lookErr)
	}
	return done, errors.Join(s.build.link.why(err), lookErr)
}

// call runs the prepared call to its end.
func (s *session) call(first, n int64) error {
	var params [3][]byte
	for i, v := range [3]int64{int64(s.worker), first, n} {
		params[i] = strconv.AppendInt(nil, v, 10)
	}
	_, err := s.conn.ExecPrepared(context.Background(), callName, params[:], nil, nil).Close()
	return err
}

// lookPatience bounds the clean-up after a call that failed.
const lookPatience = 30 * time.Second

// committed finds how many of the operations first … first+n−1 are committed.
// One worker commits its rows in order, so they are a beginning of these, and
// its end is found by halving.
func (s *session) committed(first, n int64) (int64, error) {
	if s.build.died() {
		return 0, nil // nothing can be known of a dead server; the trial has failed
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	if err := s.settled(ctx); err != nil {
		return 0, failed("ending an interrupted call", err)
	}
	if s.look == "" {
		return 0, nil
	}
	return operations.Committed(n, func(i int64) (bool, error) {
		args := s.args.Args(nil, s.worker, first+i)
		var found int64
		if err := s.build.link.scan(ctx, s.look, args[:operations.Parameters(s.look, "$", len(args))], &found); err != nil {
			return false, failed("looking up what is committed", err)
		}
		return found > 0, nil
	})
}

// settled waits until the session has no transaction open: an error has ended it
// on a connection that stands, and on one that broke the server process goes on to
// its end, which is awaited.
func (s *session) settled(ctx context.Context) error {
	if !s.conn.IsClosed() {
		for range 3 { // an interrupt that came late may hit the first attempt
			_, err := s.conn.Exec(ctx, "ROLLBACK").ReadAll()
			if err == nil {
				return nil
			}
			if codeOf(err) != codeCanceled {
				break
			}
		}
	}
	pid := int32(s.conn.PID())
	if _, err := s.build.link.rows(ctx, "SELECT pg_terminate_backend($1)", pid); err != nil {
		return err
	}
	for {
		var alive int64
		err := s.build.link.scan(ctx, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND datname = current_database()", []any{pid}, &alive)
		if err != nil || alive == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Close ends the connection.
func (s *session) Close() error {
	s.watch.end()
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.conn.Close(ctx) // a connection to a dead server may complain; it is gone either way
	return nil
}
