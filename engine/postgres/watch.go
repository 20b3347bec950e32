package postgres

import (
	"context"
	"sync/atomic"
	"time"
)

// watch interrupts a session's calls on the server when their context ends. It is
// made once for a context, not for every call: a call costs it no allocation.
type watch struct {
	ctx  context.Context
	stop func() bool
	told chan struct{} // closed when interrupting is over
	busy atomic.Bool   // a call runs
}

// guarded does something on the connection, which the end of the context
// interrupts on the server.
func (s *session) guarded(ctx context.Context, do func() error) error {
	// The driver would drop the connection when its context ends, and the server
	// would work on: so the call has none, and the server is told to stop.
	w := &s.watch
	if w.ctx != ctx {
		w.end()
		s.begin(ctx)
	}
	// In this order: who ends the context either finds the call, or is found by it.
	w.busy.Store(true)
	if ctx.Err() != nil {
		w.busy.Store(false)
		w.end()
		return context.Cause(ctx)
	}
	err := do()
	w.busy.Store(false)
	if ctx.Err() != nil {
		w.end()
	}
	return err
}

// begin watches a context.
func (s *session) begin(ctx context.Context) {
	told := make(chan struct{})
	s.watch.ctx, s.watch.told = ctx, told
	s.watch.stop = context.AfterFunc(ctx, func() {
		defer close(told)
		for s.watch.busy.Load() {
			s.interrupt()
		}
	})
}

// end forgets the context, and waits until nothing is interrupted any more: what
// comes late would end a call of later.
func (w *watch) end() {
	if w.ctx != nil && !w.stop() {
		<-w.told
	}
	w.ctx = nil
}

// interrupt tells the server to end the session's call, and waits a moment: one
// that arrives between two statements is forgotten.
func (s *session) interrupt() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// A dead server ends the call as well.
	_, _ = s.build.link.rows(ctx, "SELECT pg_cancel_backend($1)", int32(s.conn.PID()))
	for limit := time.Now().Add(20 * time.Millisecond); s.watch.busy.Load() && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
}
