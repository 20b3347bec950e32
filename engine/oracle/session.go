package oracle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/engine/internal/operations"
)

// workers opens the connections of the workload.
type workers struct{ build *build }

// Connect opens a worker's connection and readies it.
func (w workers) Connect(ctx context.Context, worker int) (filewise.Session, error) {
	b := w.build
	if worker < 0 || worker >= b.design.program.Connections {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "worker %d of %d", worker, b.design.program.Connections)
	}
	if b.design.phased() {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "a connection of workload %s that is not for a phase: %w", b.design.program.Workload, filewise.ErrUnsupported)
	}
	t := b.design.tableOf(worker)
	call, err := b.design.statement("call", t)
	if err != nil {
		return nil, err
	}
	look, err := b.design.statement("committed", t)
	if err != nil {
		return nil, err
	}
	conn, err := b.server.workerConn(ctx, b.design.names.Tablespace, worker)
	if err != nil {
		return nil, err
	}
	s := &session{build: b, worker: worker, args: b.design.program.Args, own: conn, close: conn.close, control: b.conn, call: call, look: look}
	if err := s.identify(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// workerConn is a connection of the workload.
func (s *server) workerConn(ctx context.Context, name string, worker int) (held, error) {
	return s.connection(ctx, name, fmt.Sprintf("worker %d", worker))
}

// session is one connection of the workload.
type session struct {
	build       *build
	worker      int
	own         client // the connection itself
	close       func() error
	control     client // to look up what is committed
	sid, serial int64
	args        filewise.Args
	call, look  statement // look: whether an operation is committed; without text nothing tells
}

// identify asks which of the server's sessions this is.
func (s *session) identify(ctx context.Context) error {
	found, err := rows(ctx, s.own, 2, "own-session", nil)
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return errNoRows
	}
	sid, ok := number(found[0][0])
	audit, ok2 := number(found[0][1])
	if !ok || !ok2 {
		return fmt.Errorf("the server says that this is session %q", text(found[0][0]))
	}
	if found, err = rows(ctx, s.own, 1, "session-serial", nil, sid, audit); err != nil {
		return err
	}
	if s.serial, ok = number(only(found)); !ok {
		return fmt.Errorf("session %d is not in v$session", sid)
	}
	s.sid = sid
	return nil
}

// Do has the server insert n rows in one call. When the context ends, the driver
// tells the server to stop; what it had committed is looked up.
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
	call := s.call
	call.args = []any{s.worker, first, n}
	err := s.own.exec(ctx, call)
	if err == nil {
		return n, nil
	}
	if ctx.Err() != nil && codeOf(err) == errInterrupted {
		err = context.Cause(ctx)
	}
	done, lookErr := s.committed(first, n)
	return done, errors.Join(err, lookErr)
}

// lookPatience bounds the clean-up after a call that failed.
const lookPatience = 30 * time.Second

// committed finds how many of the operations first … first+n−1 are committed.
// One worker commits its rows in order, so they are a beginning of these, and
// its end is found by halving.
func (s *session) committed(first, n int64) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	if err := s.rollback(ctx); err != nil {
		return 0, fmt.Errorf("ending an interrupted transaction: %w", err)
	}
	if s.look.text == "" {
		return 0, nil
	}
	return operations.Committed(n, func(i int64) (bool, error) {
		look := s.look
		args := s.args.Args(nil, s.worker, first+i)
		look.args = args[:operations.Parameters(look.text, ":", len(args))]
		rows, err := s.control.rows(ctx, look)
		if err != nil {
			return false, fmt.Errorf("looking up what is committed: %w", err)
		}
		found, ok := number(only(rows))
		if !ok {
			return false, fmt.Errorf("looking up what is committed: %w", errNoRows)
		}
		return found > 0, nil
	})
}

// rollback ends the session's open transaction. Where the connection is broken,
// the server ends it as soon as it notices; until then rows may still be
// committed, so its end is waited for.
func (s *session) rollback(ctx context.Context) error {
	var err error
	for range 3 { // an interrupt that came late may hit the first attempt
		if err = exec(ctx, s.own, "rollback", nil); err == nil {
			return nil
		}
		if codeOf(err) != errInterrupted {
			break
		}
	}
	_ = s.close() // its error is known
	for {
		found, err := rows(ctx, s.control, 1, "alive", nil, s.sid, s.serial)
		if err != nil {
			return err
		}
		if alive, ok := number(only(found)); ok && alive == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Close ends the connection.
func (s *session) Close() error {
	_ = s.close() // a broken one may complain; it is gone either way
	return nil
}
