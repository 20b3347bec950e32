package session

import (
	"context"
	"sync/atomic"
	"time"
)

// watch interrupts a session's calls on the server when their context ends. It is
// made once for a context, not for every call: a call costs it no allocation.
type watch struct {
	ctx  context.Context
	calm context.Context // the same without its end
	stop func() bool
	told chan struct{} // closed when interrupting is over
	busy atomic.Bool   // a call runs
	lost atomic.Bool   // its connection was dropped
}

// How long an interrupt may take, and how long after it the next one comes.
const (
	interruptPatience = 5 * time.Second
	interruptAgain    = 20 * time.Millisecond
	// The connection is dropped after so many interrupts that no server took, or so long after
	// one that it did.
	mostUnheard  = 2
	answerWithin = 15 * time.Second
)

// Guard does something on the connection, which the end of the context interrupts on
// the server; when it returns, nothing interrupts the connection any more.
func (s *Session) Guard(ctx context.Context, do func(ctx context.Context) error) error {
	if s.Interrupt == nil {
		return do(ctx)
	}
	// A driver would drop the connection when its context ends, and the server
	// would work on: so the call's never ends, and the server is told to stop.
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
	w.ctx, w.calm, w.told = ctx, context.WithoutCancel(ctx), told
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

// Ending tells that the context has ended, so that the server was told to end what it does.
func (s *Session) Ending() bool { return s.watch.ctx != nil && s.watch.ctx.Err() != nil }

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
func (s *Session) interrupt() error {
	ctx, cancel := context.WithTimeout(context.Background(), interruptPatience)
	defer cancel()
	err := s.Interrupt(ctx)
	for limit := time.Now().Add(interruptAgain); s.watch.busy.Load() && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	return err
}
