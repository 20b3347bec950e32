package innodb

import (
	"context"
	"fmt"
	"time"

	"filewise/engine/internal/operations"
)

// interrupt tells the server to end the session's statement until it is over:
// a server forgets what it is told between two statements.
func (s *session) interrupt(over <-chan struct{}) {
	for {
		s.kill()
		select {
		case <-over:
			return
		case <-time.After(killAgain):
		}
	}
}

// killAgain is when a server is told again to end a statement that has not ended.
const killAgain = 20 * time.Millisecond

// kill tells the server once to end the session's statement.
func (s *session) kill() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, _ = s.link.Control.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", s.id)) // a dead server ends the call as well
}

// lookPatience bounds the clean-up after a call that failed.
const lookPatience = 30 * time.Second

// committed finds how many of the operations first … first+n−1 are committed.
// One worker commits its rows in order, so they are a beginning of these, and
// its end is found by halving.
func (s *session) committed(first, n int64) (int64, error) {
	if s.link.Alive() != nil || s.look == "" {
		return 0, nil // nothing can be known of a dead server; the trial has failed
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	if err := s.rollback(ctx); err != nil {
		return 0, fmt.Errorf("ending an interrupted transaction: %w", s.link.Explain(err))
	}
	return operations.Committed(n, func(i int64) (bool, error) {
		key := s.schema.Program.Args.Args(nil, s.worker, first+i)[0]
		var found int
		if err := s.link.Control.QueryRowContext(ctx, s.look, key).Scan(&found); err != nil {
			return false, fmt.Errorf("looking up what is committed: %w", s.link.Explain(err))
		}
		return found > 0, nil
	})
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
	if _, err := s.link.Control.ExecContext(ctx, fmt.Sprintf("KILL CONNECTION %d", s.id)); err != nil && !unknownThread(err) {
		return err
	}
	for {
		var alive int
		err := s.link.Control.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?", s.id).Scan(&alive)
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
