package external

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"filewise"
	"filewise/engine/internal/external"
)

// Locks of the server (GET_LOCK) are held by a connection, over all databases;
// when it ends, the server releases them. Names have up to 64 characters.
const measuring = "filewise measures"

// Lock takes the server's measuring lock. On a cluster it is this node's.
func (s *server) Lock(ctx context.Context, _ string) (filewise.Lock, error) {
	holder := func(ctx context.Context) string { return "another Filewise (" + s.holder(ctx, measuring) + ")" }
	return external.Measuring{Claim: s.claim(measuring), Holder: holder, Explain: s.explain}.Lock(ctx)
}

// claim is a lock of the server on a connection of its own. It implements
// external.Claim.
type claim struct {
	pool *sql.DB
	conn *sql.Conn
	name string
}

func (s *server) claim(name string) *claim { return &claim{pool: s.pool("", 1), name: name} }

// Take takes the lock at once.
func (c *claim) Take(ctx context.Context) (err error) {
	if c.conn, err = c.pool.Conn(ctx); err != nil {
		return err
	}
	var got sql.NullInt64
	if err := c.conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", c.name).Scan(&got); err != nil {
		return err
	}
	switch {
	case !got.Valid:
		return fmt.Errorf("the server did not answer GET_LOCK(%q)", c.name)
	case got.Int64 == 0:
		return external.ErrTaken
	}
	return nil
}

// Check asks whether the connection still holds the lock.
func (c *claim) Check(ctx context.Context) error {
	var mine sql.NullBool
	err := c.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?) = CONNECTION_ID()", c.name).Scan(&mine)
	if err == nil && !mine.Bool {
		err = fmt.Errorf("the server has released %q", c.name)
	}
	return err
}

// Release gives the lock back. The error says that it had been lost.
func (c *claim) Release(ctx context.Context) error {
	if err := c.Check(ctx); err != nil {
		return err
	}
	var freed sql.NullInt64
	return c.conn.QueryRowContext(ctx, "SELECT RELEASE_LOCK(?)", c.name).Scan(&freed)
}

// Close ends the connection.
func (c *claim) Close() error {
	if c.conn != nil {
		_ = c.conn.Close() // one that broke may complain; it is gone either way
	}
	return c.pool.Close()
}

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

func taken(err error) bool { return errors.Is(err, external.ErrTaken) }
