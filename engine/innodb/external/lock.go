package external

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"filewise"
	"filewise/engine/internal/external"
)

// measuring is the name of the server's lock (GET_LOCK, up to 64 characters). A connection holds it for all databases,
// and the server releases it when the connection ends.
const measuring = "filewise measures"

// Lock takes the server's measuring lock; on a cluster, this node's. It first closes idle connections: if an
// earlier lock was lost, they may be lost without notice.
func (s *server) Lock(ctx context.Context, h filewise.Holder) (filewise.Lock, error) {
	forget(s.db)
	for _, b := range s.builds.All() {
		forget(b.control)
	}
	holder := func(ctx context.Context) string { return "another Filewise (" + s.holder(ctx, measuring) + ")" }
	c := s.claim(measuring)
	if h.Host != "" {
		c.ticket = measuring + " @" + h.Host
	}
	return external.Measuring{Claim: c, Holder: holder, Explain: s.explain}.Lock(ctx)
}

// forget closes a pool's idle connections.
func forget(pool *sql.DB) {
	pool.SetMaxIdleConns(-1)
	pool.SetMaxIdleConns(controlConnections)
}

// claim is a named lock on the server, held by its own connection. It implements external.Claim.
type claim struct {
	numbers *numbers
	pool    *sql.DB
	conn    *sql.Conn
	id      int64 // the number that the server gave the connection
	name    string
	ticket  string // a second lock, whose name contains the host of the first one; "" if none is taken
}

func (s *server) claim(name string) *claim {
	return &claim{numbers: s.numbers, pool: s.pool("", 1), name: name}
}

// Take takes the lock without waiting.
func (c *claim) Take(ctx context.Context) (err error) {
	if c.conn, err = c.pool.Conn(ctx); err != nil {
		return err
	}
	if err := c.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&c.id); err != nil {
		return err
	}
	if err := c.endOwn(ctx); err != nil {
		return err
	}
	var got sql.NullInt64
	if c.ticket != "" { // taken first, so that no cut connection can hold only the lock
		if err := c.conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 0)", c.ticket).Scan(&got); err != nil {
			return err
		}
	}
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

// endOwn ends the connection that holds the lock if this process no longer uses it, or if its process died on this host.
// If the network was cut silently, the server still has such a connection.
func (c *claim) endOwn(ctx context.Context) error {
	return end(ctx, c.conn, func() ([]string, error) {
		var holder sql.NullInt64
		if err := c.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", c.name).Scan(&holder); err != nil || !holder.Valid {
			return nil, err
		}
		if _, left := c.numbers.left.Load(holder.Int64); !left {
			if c.ticket == "" || c.numbers.has(holder.Int64) {
				return nil, nil
			}
			var died sql.NullInt64 // set if the connection is from this host
			if err := c.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", c.ticket).Scan(&died); err != nil || died != holder {
				return nil, err
			}
		}
		return []string{strconv.FormatInt(holder.Int64, 10)}, nil
	})
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

// Release gives the lock back. The error reports it if the lock had been lost.
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
		c.numbers.left.Store(c.id, true)
		_ = c.conn.Close() // closing a broken connection can fail, but it is gone either way
	}
	return c.pool.Close()
}

// holder describes the connection that holds a lock, as far as the account can see.
func (s *server) holder(ctx context.Context, lock string) string {
	var id sql.NullInt64
	if err := s.db.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?)", lock).Scan(&id); err != nil || !id.Valid {
		return "it has just ended"
	}
	var user, host string
	err := s.db.QueryRowContext(ctx, "SELECT USER, HOST FROM information_schema.PROCESSLIST WHERE ID = ?", id.Int64).Scan(&user, &host)
	of := ""
	if err == nil {
		of = fmt.Sprintf(" of %s from %s", user, host)
	}
	return fmt.Sprintf("the server's connection %d%s; KILL CONNECTION %d ends it", id.Int64, of, id.Int64)
}

func taken(err error) bool { return errors.Is(err, external.ErrTaken) }
