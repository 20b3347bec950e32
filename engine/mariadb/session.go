package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/engine/internal/managed"
)

type connector struct{ instance *instance }

// Connect opens a worker's connection and readies it.
func (c connector) Connect(ctx context.Context, worker int) (filewise.Session, error) {
	i := c.instance
	if worker < 0 || worker >= i.design.program.Connections {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "worker %d of %d", worker, i.design.program.Connections)
	}
	p, control, err := i.running()
	if err != nil {
		return nil, err
	}
	s := &session{instance: i, proc: p, control: control, worker: worker, table: i.design.tableOf(worker), pool: i.pool(database)}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(i.why(p, err), s.Close())
	}
	return s, nil
}

// session is one connection of the workload.
type session struct {
	instance *instance
	proc     *managed.Process
	control  *sql.DB // to interrupt, and to look up what is committed
	pool     *sql.DB // of this one connection
	conn     *sql.Conn
	id       int64 // the server's number of the connection
	worker   int
	table    table
	call     string
	look     string
}

func (s *session) ready(ctx context.Context) (err error) {
	d := s.instance.design
	if s.call, err = d.statement(sectionCall, s.table); err != nil {
		return err
	}
	if s.look, err = d.statement(sectionCommitted, s.table); err != nil {
		return err
	}
	if s.conn, err = s.pool.Conn(ctx); err != nil {
		return err
	}
	if err := s.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&s.id); err != nil {
		return err
	}
	setup, err := d.statements(sectionConnection, s.table)
	if err != nil {
		return err
	}
	for _, statement := range setup {
		if _, err := s.conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", short(statement), err)
		}
	}
	return nil
}

// Do has the server insert n rows in one call. When the context ends, the call
// is interrupted on the server, and what it had committed is looked up.
func (s *session) Do(ctx context.Context, first, n int64) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if most := s.instance.design.program.Limit; most > 0 && first+n > most {
		done, err := s.insert(ctx, first, max(most-first, 0))
		if err == nil {
			err = filewise.Errorf(filewise.CodeTrials, "make --work smaller, or use --key sequential",
				"connection %d has no unique keys beyond its row %d", s.worker, most)
		}
		return done, err
	}
	return s.insert(ctx, first, n)
}

// insert is one call of the procedure.
func (s *session) insert(ctx context.Context, first, n int64) (int64, error) {
	// The driver would drop the connection when its context ends, and the server
	// would work on: so the call has none, and the server is told to stop.
	over := make(chan struct{})
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		s.interrupt(over)
	})
	s.instance.settled.Store(false)
	defer s.instance.settled.Store(false)
	_, err := s.conn.ExecContext(context.WithoutCancel(ctx), s.call, s.worker, first, n)
	close(over)
	if !stop() {
		<-told
	}
	if err == nil {
		return n, nil
	}
	done, lookErr := s.committed(first, n)
	if ctx.Err() != nil && interrupted(err) {
		err = context.Cause(ctx)
	} else {
		err = s.instance.why(s.proc, err)
	}
	return done, errors.Join(err, lookErr)
}

// interrupt tells the server to end the session's statement until it is over:
// a server forgets what it is told between two statements.
func (s *session) interrupt(over <-chan struct{}) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, _ = s.control.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", s.id)) // a dead server ends the call as well
		cancel()
		select {
		case <-over:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// lookPatience bounds the clean-up after a call that failed.
const lookPatience = 30 * time.Second

// committed finds how many of the operations first … first+n−1 are committed.
// One worker commits its rows in order, so they are a beginning of these, and
// its end is found by halving.
func (s *session) committed(first, n int64) (int64, error) {
	if s.proc.Died() != nil {
		return 0, nil // nothing can be known of a dead server; the trial has failed
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	if err := s.rollback(ctx); err != nil {
		return 0, failed("ending an interrupted transaction", err)
	}
	low, high := int64(0), n // low are committed, high are not known to be
	for low < high {
		mid := low + (high-low+1)/2
		key := s.instance.design.program.Args.Args(nil, s.worker, first+mid-1)[0]
		var found int
		if err := s.control.QueryRowContext(ctx, s.look, key).Scan(&found); err != nil {
			return low, failed("looking up what is committed", err)
		}
		if found > 0 {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low, nil
}

// rollback ends the session's open transaction. An interrupt that came late may
// hit the first attempt; a broken connection is ended on the server.
func (s *session) rollback(ctx context.Context) error {
	var err error
	for range 3 {
		if _, err = s.conn.ExecContext(ctx, "ROLLBACK"); err == nil {
			return nil
		}
		if !interrupted(err) {
			break
		}
	}
	if _, err := s.control.ExecContext(ctx, fmt.Sprintf("KILL CONNECTION %d", s.id)); err != nil && !unknownThread(err) {
		return err
	}
	for {
		var alive int
		err := s.control.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?", s.id).Scan(&alive)
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
	if s.conn != nil {
		_ = s.conn.Close() // a connection to a dead server may complain; it is gone either way
	}
	return s.pool.Close()
}
