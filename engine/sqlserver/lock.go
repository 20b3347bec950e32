package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"filewise"
)

// lockName begins the program name of the connection that holds the lock.
const lockName = appName + " measures"

// Lock takes the server's measuring lock: a lock of a session's in master, where
// every account may take one. The server releases it when the session ends.
func (s *externalServer) Lock(ctx context.Context, who string) (filewise.Lock, error) {
	text, err := fixed("lock", nil)
	if err != nil {
		return nil, err
	}
	pool := s.login.pool("master", program(who), 1)
	conn, err := pool.Conn(ctx)
	if err == nil {
		err = takeLock(ctx, conn, text)
	}
	if err != nil {
		holder := ""
		if errors.Is(err, errLocked) {
			holder = s.holder(ctx)
		}
		closeBoth(conn, pool)
		if holder != "" {
			return nil, filewise.Errorf(filewise.CodeBusy, "wait until it has ended", "%s measures on this server: %w", holder, err)
		}
		return nil, s.login.explain(fmt.Errorf("measuring lock: %w", err))
	}
	return &lock{s, conn, pool}, nil
}

// lock is the connection that has the measuring lock.
type lock struct {
	server *externalServer
	conn   *sql.Conn
	pool   *sql.DB
}

// Held asks whether the connection lives and has the lock still.
func (l *lock) Held(ctx context.Context) error {
	r, err := ask(ctx, l.conn, "held", nil)
	if err == nil && r.text("mode") != "Exclusive" {
		err = fmt.Errorf("the server says %q", r.text("mode"))
	}
	if err != nil {
		return l.server.login.explain(fmt.Errorf("the measuring lock is lost: %w", err))
	}
	return nil
}

// program names the holder in sys.dm_exec_sessions, where 128 letters fit.
func program(who string) string {
	name := []rune(lockName + ": " + strings.Join(strings.Fields(who), " "))
	return string(name[:min(len(name), 128)])
}

// holder says who has the lock, as far as the account may see.
func (s *externalServer) holder(ctx context.Context) string {
	const somebody = "another Filewise"
	text, err := fixed("holder", nil)
	if err != nil {
		return somebody
	}
	rows, err := query(ctx, s.control, text)
	if err != nil || len(rows) == 0 {
		return somebody
	}
	who := strings.TrimPrefix(rows[0].text("program"), lockName+": ")
	process, _ := rows[0].number("process")
	return fmt.Sprintf("%s (%s, process %d on %s)", somebody, who, process, rows[0].text("host"))
}

// Release gives the lock back; that of a lost connection the server has released.
func (l *lock) Release() error {
	defer closeBoth(l.conn, l.pool)
	text, err := fixed("unlock", nil)
	if err != nil {
		return err
	}
	if err := exec(context.Background(), l.conn, text); err != nil && !broken(err) {
		return l.server.login.explain(fmt.Errorf("releasing the measuring lock: %w", err))
	}
	return nil
}

func closeBoth(conn *sql.Conn, pool *sql.DB) {
	if conn != nil {
		_ = conn.Close() // the lock goes with the connection, however it ends
	}
	_ = pool.Close()
}

// Activity are the sessions of others. Without the right to see them the gauges
// are absent: an account sees at least itself, which would look like quiet.
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
		n, ok := r.number(name)
		if sessions, _ := r.number("sessions"); !ok && sessions == 0 {
			n, ok = 0, true // a sum over no session is NULL
		}
		if ok {
			all = append(all, filewise.Gauge{Name: name, Unit: "sessions", Value: float64(n)})
		}
	}
	return all, nil
}
