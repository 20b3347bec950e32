package external

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"filewise"
)

// Claim is a lock that one connection to a server holds for as long as the connection lives. It is a named lock, or an
// entry in a list that all can read.
type Claim interface {
	// Take takes the lock without waiting. It returns ErrTaken if another connection has it.
	Take(context.Context) error
	// Check asks the server whether this connection still has the lock.
	Check(context.Context) error
	// Release gives the lock back.
	Release(context.Context) error
	// Close ends the connection, whereupon the server releases everything that it held.
	Close() error
}

// ErrTaken reports that another connection has the claim.
var ErrTaken = errors.New("another connection has it")

// The intervals of a held connection.
const (
	// keepAlive is shorter than every usual limit on idle connections, of firewalls, too.
	keepAlive       = 20 * time.Second
	releasePatience = 10 * time.Second
	// Silence is the time for which a server should keep a claim's session that has gone silent. Its network connection or its
	// host may have died.
	Silence = 9 * keepAlive
)

// Held is a claim that was taken. It checks the claim every keepAlive, so that its connection never idles.
type Held struct {
	claim Claim
	stop  context.CancelFunc
	over  chan struct{}

	mu   sync.Mutex // one question at a time
	lost error
}

// Hold takes a claim without waiting.
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

// Check asks whether the connection lives and still has the claim.
func (h *Held) Check(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return h.lost
	}
	return h.claim.Check(ctx)
}

// Release gives the claim back. The error reports it if the claim had been lost before.
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

// Measuring makes the lock with which one run at a time measures on a server.
type Measuring struct {
	Claim Claim
	// Holder describes who has the lock, as far as the account can see; "" if unknown.
	Holder func(context.Context) string
	// Explain adds remedies to the server's errors and hides secrets in them.
	Explain func(error) error
}

// Lock takes the measuring lock. If another run has it, the error has CodeBusy and names the holder.
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
		return nil, filewise.Errorf(filewise.CodeBusy, "wait for it, or end it: two at a time would measure each other",
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

// Held returns an error if the server reports that the lock is lost.
func (l lock) Held(ctx context.Context) error {
	if err := l.held.Check(ctx); err != nil {
		return l.explain(fmt.Errorf("the measuring lock is lost: %w", err))
	}
	return nil
}

// Release gives the lock back.
func (l lock) Release() error {
	if err := l.held.Release(); err != nil {
		return l.explain(fmt.Errorf("releasing the measuring lock: %w", err))
	}
	return nil
}
