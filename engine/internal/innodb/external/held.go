package external

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"filewise"
)

// Locks of the server (GET_LOCK) are held by a connection, over all databases;
// when it ends, the server releases them. Names have up to 64 characters.
const measuring = "filewise measures"

// held is a lock on a connection of its own, which is kept from idling.
type held struct {
	pool *sql.DB
	conn *sql.Conn
	name string

	stop context.CancelFunc
	over chan struct{}
	mu   sync.Mutex
	lost error
}

// errTaken: another connection holds the lock.
var errTaken = errors.New("another connection holds the lock")

// keepAlive is how often a held connection says something, below every usual
// limit of idle connections, those of firewalls too.
const keepAlive = 20 * time.Second

// hold takes a lock at once, or returns errTaken.
func (s *server) hold(ctx context.Context, name string) (*held, error) {
	h := &held{pool: s.pool("", 1), name: name, over: make(chan struct{})}
	err := h.take(ctx)
	if err != nil {
		if h.conn != nil {
			h.conn.Close()
		}
		return nil, errors.Join(err, h.pool.Close())
	}
	ctx, h.stop = context.WithCancel(context.Background())
	go h.keep(ctx)
	return h, nil
}

func (h *held) take(ctx context.Context) (err error) {
	if h.conn, err = h.pool.Conn(ctx); err != nil {
		return err
	}
	var got sql.NullInt64
	if err := h.conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", h.name).Scan(&got); err != nil {
		return err
	}
	switch {
	case !got.Valid:
		return fmt.Errorf("the server did not answer GET_LOCK(%q)", h.name)
	case got.Int64 == 0:
		return errTaken
	}
	return nil
}

func (h *held) keep(ctx context.Context) {
	defer close(h.over)
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := h.check(ctx); err != nil && ctx.Err() == nil {
				h.mu.Lock()
				h.lost = err
				h.mu.Unlock()
				return
			}
		}
	}
}

// check asks whether the connection still holds the lock.
func (h *held) check(ctx context.Context) error {
	var mine sql.NullBool
	err := h.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?) = CONNECTION_ID()", h.name).Scan(&mine)
	if err == nil && !mine.Bool {
		err = errors.New("the server has released it")
	}
	return err
}

// release gives the lock back. The error says that it had been lost.
func (h *held) release() error {
	h.stop()
	<-h.over
	h.mu.Lock()
	err := h.lost
	h.mu.Unlock()
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err = h.check(ctx); err == nil {
			var freed sql.NullInt64
			err = h.conn.QueryRowContext(ctx, "SELECT RELEASE_LOCK(?)", h.name).Scan(&freed)
		}
	}
	h.conn.Close()
	if e := h.pool.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("the lock %q was lost: %w", h.name, err)
	}
	return nil
}

// Lock takes the server's measuring lock. On a cluster it is this node's.
func (s *server) Lock(ctx context.Context, who string) (filewise.Lock, error) {
	h, err := s.hold(ctx, measuring)
	if errors.Is(err, errTaken) {
		return nil, filewise.Errorf(filewise.CodeBusy, "wait until it has ended, or end it; two at a time would measure each other",
			"another Filewise measures on %s: %s", s.target.Address, s.holder(ctx, measuring))
	}
	if err != nil {
		return nil, s.explain(fmt.Errorf("measuring lock of %s: %w", who, err))
	}
	return lock{s, h}, nil
}

// lock is the measuring lock of a server.
type lock struct {
	server *server
	held   *held
}

// Held asks whether the connection lives and has the lock still.
func (l lock) Held(ctx context.Context) error {
	l.held.mu.Lock()
	err := l.held.lost
	l.held.mu.Unlock()
	if err == nil {
		err = l.held.check(ctx)
	}
	if err != nil {
		return l.server.explain(fmt.Errorf("the lock %q is lost: %w", l.held.name, err))
	}
	return nil
}

// Release gives it back; the error says that it had been lost.
func (l lock) Release() error { return l.server.explain(l.held.release()) }

// holder describes the connection that holds a lock, as far as the account may
// see.
func (s *server) holder(ctx context.Context, lock string) string {
	var id sql.NullInt64
	if err := s.db.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", lock).Scan(&id); err != nil || !id.Valid {
		return "it has just ended"
	}
	var user, host string
	err := s.db.QueryRowContext(ctx, "SELECT USER, HOST FROM information_schema.PROCESSLIST WHERE ID = ?", id.Int64).Scan(&user, &host)
	if err != nil {
		return fmt.Sprintf("the server's connection %d", id.Int64)
	}
	return fmt.Sprintf("the server's connection %d of %s from %s", id.Int64, user, host)
}
