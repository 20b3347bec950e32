package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"filewise/engine/internal/operations"
)

// How long clearing up may take, and how often it is asked whether a session has ended.
const (
	patience   = 30 * time.Second
	aliveAgain = 5 * time.Millisecond
)

// failed says how many of the operations first … first+n−1 are committed although they
// ended with an error.
func (s *Session) failed(ctx context.Context, first, n int64, err error) (int64, error) {
	done, after := s.committed(first, n)
	err = s.explain(ctx, err)
	if after != nil {
		err = errors.Join(err, after)
	}
	return done, err
}

// explain is the cause of the context's end where that is what err came of, or else the
// error with its class.
func (s *Session) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(err, cause) || errors.Is(err, ctx.Err()) || s.Interrupted == nil || s.Interrupted(err) ||
			s.watch.lost.Load() {
			return cause
		}
	}
	return s.Explain(err)
}

// committed finds how many of the operations first … first+n−1 are committed. One worker
// commits them in order, so they are a beginning of these, and its end is found by halving.
func (s *Session) committed(first, n int64) (int64, error) {
	if s.Died != nil && s.Died() {
		return 0, nil
	}
	within := cmp.Or(s.Patience, patience)
	if s.watch.lost.Load() { // the server, or the line, has been silent for long enough
		within = min(within, interruptPatience)
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := s.settle(ctx); err != nil {
		return 0, fmt.Errorf("ending an interrupted transaction: %w", err)
	}
	if s.Look == nil {
		return 0, nil
	}
	return operations.Committed(n, func(i int64) (bool, error) {
		found, err := s.Look(ctx, s.Phase.Args.Args(nil, s.Worker, first+i))
		if err != nil {
			return false, fmt.Errorf("looking up what is committed: %w", err)
		}
		return found, nil
	})
}

// settle waits until the session has no transaction open. On a connection that broke,
// the server process goes on to its end, which is awaited: until then it may commit.
func (s *Session) settle(ctx context.Context) error {
	for range 3 { // an interrupt that came late may hit the first attempt
		err := s.Rollback(ctx)
		if err == nil {
			return nil
		}
		if s.Interrupted == nil || !s.Interrupted(err) {
			break
		}
	}
	if s.Kill != nil {
		if err := s.Kill(ctx); err != nil {
			return err
		}
	}
	for s.Alive != nil {
		if alive, err := s.Alive(ctx); err != nil || !alive {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(aliveAgain):
		}
	}
	return nil
}
