package external

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"filewise"
)

// Claim is a lock that one connection to a server has for as long as it lives, and no other
// at the same time: a named lock, or a word in a list that all can read.
type Claim interface {
	// Take takes it at once; ErrTaken: another connection has it.
	Take(context.Context) error
	// Check asks the server whether this connection has it still.
	Check(context.Context) error
	// Release gives back what was taken.
	Release(context.Context) error
	// Close ends the connection, with which the server lets go of everything.
	Close() error
}

// ErrTaken states that another connection has the claim.
var ErrTaken = errors.New("another connection has it")

// The intervals of a held connection.
const (
	// keepAlive is below every usual limit of idle connections, also of firewalls.
	keepAlive       = 20 * time.Second
	releasePatience = 10 * time.Second
	// Silence holds how long a server is instructed to keep a claim's session of which it hears
	// nothing: its line, or its host, has died.
	Silence = 9 * keepAlive
)

// Held is a claim that was taken. Its connection is kept from idling.
type Held struct {
	claim Claim
	stop  context.CancelFunc
	over  chan struct{}

	mu   sync.Mutex // one question at a time
	lost error
}

// Hold takes a claim at once.
func Hold(ctx context.Context, c Claim) (*Held, error) {
	if err := c.Take(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	h := &Held{claim: c, over: make(chan struct{})}
	ctx, h.stop = context.WithCancel(context.Background())
	go h.keep(ctx)
	return h, nil
}

func (h *Held) keep(ctx context.Context) {
	defer close(h.over)
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := h.Check(ctx); err != nil && ctx.Err() == nil {
				h.mu.Lock()
				h.lost = err
				h.mu.Unlock()
				return
			}
		}
	}
}

// Check asks whether the connection lives and has the claim still.
func (h *Held) Check(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return h.lost
	}
	return h.claim.Check(ctx)
}

// Release gives the claim back. The error can state that it had been lost.
func (h *Held) Release() error {
	h.stop()
	<-h.over
	err := h.lost
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), releasePatience)
		defer cancel()
		err = h.claim.Release(ctx)
	}
	return errors.Join(err, h.claim.Close())
}

// Measuring is the lock by which one run at a time measures on a server.
type Measuring struct {
	Claim Claim
	// Holder reports who has it, as far as the account can see. If empty, it is unknown.
	Holder func(context.Context) string
	// Explain adds remedies to errors of the server and hides its secrets.
	Explain func(error) error
}

// Lock takes the measuring lock; the error has CodeBusy and reports who holds it.
func (m Measuring) Lock(ctx context.Context) (filewise.Lock, error) {
	held, err := Hold(ctx, m.Claim)
	switch {
	case err == nil:
		return lock{held, m.Explain}, nil
	case errors.Is(err, ErrTaken):
		holder := m.Holder(ctx)
		if holder == "" {
			holder = "another Filewise"
		}
		return nil, filewise.Errorf(filewise.CodeBusy, "wait until it has ended, or end it: two at a time would measure each other",
			"%s measures on this server", holder)
	case filewise.CodeOf(err) == filewise.CodeBusy:
		return nil, err
	}
	return nil, m.Explain(fmt.Errorf("measuring lock: %w", err))
}

type lock struct {
	held    *Held
	explain func(error) error
}

// Held asks the server whether the lock is held still.
func (l lock) Held(ctx context.Context) error {
	if err := l.held.Check(ctx); err != nil {
		return l.explain(fmt.Errorf("the measuring lock is lost: %w", err))
	}
	return nil
}

// Release gives it back.
func (l lock) Release() error {
	if err := l.held.Release(); err != nil {
		return l.explain(fmt.Errorf("releasing the measuring lock: %w", err))
	}
	return nil
}
