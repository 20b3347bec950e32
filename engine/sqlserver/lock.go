package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"filewise"
	"filewise/engine/internal/external"
)

// lockName is the prefix of the program name of the connection that holds the lock.
const lockName = appName + " measures"

// Lock takes the server's measuring lock. It is an application lock of a session in master, where every account can
// take one. The server releases it when the session ends.
func (s *externalServer) Lock(ctx context.Context, h filewise.Holder) (filewise.Lock, error) {
	pool := s.login.pool("master", program(h.Who), 1)
	return external.Measuring{Claim: &claim{pool: pool}, Holder: s.holder, Explain: s.login.explain}.Lock(ctx)
}

// claim is the connection that holds the measuring lock.
type claim struct {
	pool *sql.DB
	conn *sql.Conn
}

// Take opens the connection and takes the lock.
func (c *claim) Take(ctx context.Context) error {
	text, err := server.Statement("lock", nil)
	if err != nil {
		return err
	}
	if c.conn, err = c.pool.Conn(ctx); err != nil {
		return err
	}
	return takeLock(ctx, c.conn, text)
}

// Check asks on the connection whether it still holds the lock.
func (c *claim) Check(ctx context.Context) error {
	r, err := ask(ctx, c.conn, "held", nil)
	if err == nil && r.Text("mode") != "Exclusive" {
		err = fmt.Errorf("the server reports %q", r.Text("mode"))
	}
	return err
}

// Release gives the lock back. After a lost connection the server has released it.
func (c *claim) Release(ctx context.Context) error {
	if err := do(ctx, c.conn, "unlock", nil); !broken(err) {
		return err
	}
	return nil
}

// Close ends the connection.
func (c *claim) Close() error {
	if c.conn != nil {
		_ = c.conn.Close() // closing a lost connection can fail, but the lock is gone either way
	}
	return c.pool.Close()
}

// program returns the name of the holder for sys.dm_exec_sessions, at most 128 letters.
func program(who string) string {
	name := []rune(lockName + ": " + strings.Join(strings.Fields(who), " "))
	return string(name[:min(len(name), 128)])
}

// holder describes who has the lock, as far as the account can see.
func (s *externalServer) holder(ctx context.Context) string {
	rows, err := askAll(ctx, s.control, "holder", nil)
	if err != nil || len(rows) == 0 {
		return ""
	}
	who := strings.TrimPrefix(rows[0].Text("program"), lockName+": ")
	process, _ := rows[0].Number("process")
	return fmt.Sprintf("another Filewise (%s, process %d on %s)", who, process, rows[0].Text("host"))
}

// Activity returns the number of others' sessions. Without the right to see them the gauges are absent, because an
// account sees only itself, which would look like a quiet server.
func (s *externalServer) Activity(ctx context.Context) ([]filewise.Gauge, error) {
	if !s.may.view {
		return nil, nil
	}
	r, err := ask(ctx, s.control, "activity", nil, int64(os.Getpid()))
	if err != nil {
		return nil, s.login.explain(fmt.Errorf("activity: %w", err))
	}
	var all []filewise.Gauge
	for _, name := range []string{"active", "sessions"} {
		n, ok := r.Number(name)
		if sessions, _ := r.Number("sessions"); !ok && sessions == 0 {
			n, ok = 0, true // a sum over no sessions is NULL
		}
		if ok {
			all = append(all, filewise.Gauge{Name: name, Unit: "sessions", Value: float64(n)})
		}
	}
	return all, nil
}
