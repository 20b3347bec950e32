package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/engine/internal/operations"
)

type connector struct{ build *build }

// Connect opens a worker's connection and readies it.
func (c connector) Connect(ctx context.Context, worker int) (filewise.Session, error) {
	b := c.build
	if worker < 0 || worker >= b.design.program.Connections {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "worker %d of %d", worker, b.design.program.Connections)
	}
	if b.design.phased() {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "a connection of workload %s that is not for a phase: %w", b.design.program.Workload, filewise.ErrUnsupported)
	}
	s := &session{build: b, worker: worker, args: b.design.program.Args, vars: b.design.ofWorker(worker)}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(b.server.login.explain(fmt.Errorf("connection %d: %w", worker, err)), s.Close())
	}
	return s, nil
}

// session is one connection of the workload. It holds a sql.Conn: what is set on
// a connection of a pool is gone at its next use.
type session struct {
	build  *build
	worker int
	args   filewise.Args
	vars   map[string]any
	pool   *sql.DB // of this one connection
	conn   *sql.Conn
	call   string
	look   string // whether an operation is committed; empty: nothing tells
}

func (s *session) connect(ctx context.Context) (err error) {
	d := s.build.design
	if s.call, err = d.batch("call", s.vars); err != nil {
		return err
	}
	if s.look, err = d.batch("committed", s.vars); err != nil {
		return err
	}
	return s.open(ctx)
}

// open opens the connection and readies it.
func (s *session) open(ctx context.Context) (err error) {
	d := s.build.design
	ready, err := d.batch("connection", s.vars)
	if err != nil {
		return err
	}
	s.pool = s.build.server.login.pool(d.name, appName, 1)
	if s.conn, err = s.pool.Conn(ctx); err != nil {
		return err
	}
	return takeLock(ctx, s.conn, ready)
}

// Do has the server insert n rows in one call. When the context ends, the driver
// cancels the call on the server, and what it had committed is looked up.
func (s *session) Do(ctx context.Context, first, n int64) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if most := s.build.design.program.Limit; most > 0 && first+n > most {
		done, err := s.insert(ctx, first, max(most-first, 0))
		if err == nil {
			err = filewise.Errorf(filewise.CodeTrials, "make --work smaller, or use --key sequential",
				"connection %d has no unique keys beyond its row %d", s.worker, most)
		}
		return done, err
	}
	return s.insert(ctx, first, n)
}

func (s *session) insert(ctx context.Context, first, n int64) (int64, error) {
	_, err := s.conn.ExecContext(ctx, s.call, int64(s.worker), first, n)
	if err == nil {
		return n, nil
	}
	done, lookErr := s.committed(first, n)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else {
		err = s.build.server.login.explain(err)
	}
	return done, errors.Join(err, lookErr)
}

// lookPatience bounds the clean-up after a call that failed: a cancel that the
// server does not confirm has cost the driver 5 s by then, a rollback may take long.
const lookPatience = 45 * time.Second

// committed finds how many of the operations first … first+n−1 are committed.
// One worker commits its rows in order, so they are a beginning of these, and
// its end is found by halving.
func (s *session) committed(first, n int64) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	if err := s.end(ctx); err != nil {
		return 0, s.failed("ending an interrupted transaction", err)
	}
	if s.look == "" {
		return 0, nil
	}
	return operations.Committed(n, func(i int64) (bool, error) {
		args := s.args.Args(nil, s.worker, first+i)
		r, err := one(ctx, s.build.inside, s.look, args[:operations.Parameters(s.look, "@p", len(args))]...)
		if err != nil {
			return false, s.failed("looking up what is committed", err)
		}
		found, _ := r.number("found")
		return found > 0, nil
	})
}

// end leaves no transaction of the session open. A connection that is lost is
// waited for until the server has ended it: only then is it known what stays.
func (s *session) end(ctx context.Context) error {
	text, err := s.build.design.batch("end-transaction", s.vars)
	if err != nil {
		return err
	}
	if err := exec(ctx, s.conn, text); err == nil {
		return nil
	}
	_ = s.conn.Close() // broken; its socket must go before the server lets go
	_ = s.pool.Close()
	if text, err = s.build.design.batch("ended", s.vars); err != nil {
		return err
	}
	return takeLock(ctx, s.build.inside, text)
}

func (s *session) failed(step string, err error) error {
	return fmt.Errorf("%s: %w", step, s.build.server.login.explain(err))
}

// Close ends the connection.
func (s *session) Close() error {
	if s.conn != nil {
		_ = s.conn.Close() // a lost connection may complain; it is gone either way
	}
	if s.pool == nil {
		return nil
	}
	return s.pool.Close()
}
