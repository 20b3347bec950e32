package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"filewise/engine/internal/operations"
)

// Limits for cleaning up, and how often it is checked whether a session has ended.
const (
	patience   = 30 * time.Second
	aliveAgain = 5 * time.Millisecond
)

// failed returns how many of the operations first … first+n−1 are committed, although executing them returned err.
func (s *Session) failed(ctx context.Context, first, n int64, err error) (int64, error) {
	done, after := s.committed(first, n)
	err = s.explain(ctx, err)
	if after != nil {
		err = errors.Join(err, after)
	}
	return done, err
}

// explain returns the cause of the context's end if that end caused err. Otherwise it returns err with its class.
func (s *Session) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(err, cause) || errors.Is(err, ctx.Err()) || s.Interrupted == nil || s.Interrupted(err) ||
			s.watch.lost.Load() {
			return cause
		}
	}
	return s.Explain(err)
}

// committed returns how many of the operations first … first+n−1 are committed. One worker commits them in order, so
// halving finds the last committed one.
func (s *Session) committed(first, n int64) (int64, error) {
	if s.Died != nil && s.Died() {
		return 0, nil
	}
	within := cmp.Or(s.Patience, patience)
	if s.watch.lost.Load() { // the server or the network connection has been silent for long enough
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

// settle waits until the session has no open transaction. After a connection broke, its server process runs on and can
// still commit, so settle waits for its end.
func (s *Session) settle(ctx context.Context) error {
	for range 3 { // an interrupt that came late can hit the first attempt
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

// watch interrupts a session's calls on the server when their context ends. It is set up once per context, so that a
// call needs no allocation for it.
type watch struct {
	ctx   context.Context
	calm  context.Context // ctx without its cancellation
	stop  func() bool
	ended chan struct{} // closed when interrupting is over
	busy  atomic.Bool   // a call is running
	lost  atomic.Bool   // the connection was dropped
}

// Limits for one interrupt, and the wait before the next one.
const (
	interruptPatience = 5 * time.Second
	interruptAgain    = 20 * time.Millisecond
	// The connection is dropped after mostUnheard interrupts that reached no server, or answerWithin after the first
	// interrupt.
	mostUnheard  = 2
	answerWithin = 15 * time.Second
)

// Guard calls do. If the context ends, Guard interrupts the connection's work on the server. When Guard returns after
// that, no interrupt is on its way any more.
func (s *Session) Guard(ctx context.Context, do func(ctx context.Context) error) error {
	if s.Interrupt == nil {
		return do(ctx)
	}
	// A driver would drop the connection when its context ends, while the server worked on. So do gets a context that
	// never ends, and the server has to stop.
	w := &s.watch
	if w.ctx != ctx {
		w.end()
		s.begin(ctx)
	}
	// busy is set before the check, so that the end of the context is noticed by the watch or here.
	w.busy.Store(true)
	if ctx.Err() != nil {
		w.busy.Store(false)
		w.end()
		return context.Cause(ctx)
	}
	err := do(w.calm)
	w.busy.Store(false)
	if ctx.Err() != nil {
		w.end()
	}
	return err
}

// begin watches a context.
func (s *Session) begin(ctx context.Context) {
	told := make(chan struct{})
	w := &s.watch
	w.ctx, w.calm, w.ended = ctx, context.WithoutCancel(ctx), told
	w.stop = context.AfterFunc(ctx, func() {
		defer close(told)
		begun, unheard := time.Now(), 0
		for w.busy.Load() {
			if s.interrupt() != nil {
				unheard++
			}
			if s.Drop != nil && (unheard >= mostUnheard || time.Since(begun) > answerWithin) {
				w.lost.Store(true)
				s.Drop()
			}
		}
	})
}

// Ending reports whether the context has ended, so that the server had to stop.
func (s *Session) Ending() bool { return s.watch.ctx != nil && s.watch.ctx.Err() != nil }

// end forgets the context, and waits until no interrupt is on its way. A late one would end a later call.
func (w *watch) end() {
	if w.ctx != nil && !w.stop() {
		<-w.ended
	}
	w.ctx = nil
}

// interrupt asks the server to end the session's call, and waits a moment for that. A request that arrives between two
// statements has no effect, so the caller repeats it.
func (s *Session) interrupt() error {
	ctx, cancel := context.WithTimeout(context.Background(), interruptPatience)
	defer cancel()
	err := s.Interrupt(ctx)
	for limit := time.Now().Add(interruptAgain); s.watch.busy.Load() && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	return err
}
