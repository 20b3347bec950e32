package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
)

// PostgreSQL's advisory locks are those of one database. So that two runs on one
// server meet from whichever database, each announces itself by the name of a
// session, which everybody sees in pg_stat_activity, and they queue as in Lamport's
// bakery (“A New Solution of Dijkstra's Concurrent Programming Problem”, 1974): who
// draws a number says so first, and who has drawn waits for those who draw. The
// lowest number has the lock, of equal ones the lowest process. It ends with the
// session.
const (
	drawing   = "drawing"
	measuring = "measuring"
)

var announced = regexp.MustCompile(`^filewise [0-9a-f]{8} (drawing|measuring)(?: (\d{1,18}))? ?(.*)$`)

// ticket is another run's announcement.
type ticket struct {
	pid     int32
	number  int64
	drawing bool
	who     string
}

func parseTicket(pid int32, name string) (ticket, bool) {
	m := announced.FindStringSubmatch(name)
	if m == nil || m[1] == measuring && m[2] == "" {
		return ticket{}, false
	}
	n, err := strconv.ParseInt("0"+m[2], 10, 64)
	return ticket{pid: pid, number: n, drawing: m[1] == drawing, who: m[3]}, err == nil
}

const (
	announce  = "SELECT set_config('application_name', $1, false)"
	readQueue = "SELECT pid, application_name FROM pg_stat_activity WHERE application_name LIKE 'filewise %' AND pid <> pg_backend_pid()"
	// drawPatience is how long another run may take to draw its number.
	drawPatience = 15 * time.Second
)

// Lock takes the server's measuring lock, on a connection of its own.
func (s *foreignServer) Lock(ctx context.Context, who string) (filewise.Lock, error) {
	conn, err := pgx.ConnectConfig(ctx, s.link.config)
	if err != nil {
		return nil, s.link.why(orCause(ctx, err))
	}
	l := &lock{s, conn}
	if err := s.draw(ctx, conn, who); err != nil {
		_ = l.Release()
		return nil, err
	}
	return l, nil
}

// lock is the session that announces the run.
type lock struct {
	server *foreignServer
	conn   *pgx.Conn
}

const readAnnounced = "SELECT current_setting('application_name')"

// Held asks whether the session lives and announces the run still.
func (l *lock) Held(ctx context.Context) error {
	var name string
	err := l.server.link.done(ctx, readAnnounced, l.conn.QueryRow(ctx, readAnnounced).Scan(&name))
	if t, ok := parseTicket(0, name); err == nil && (!ok || t.drawing) {
		err = fmt.Errorf("its session is called %q", name)
	}
	return err
}

// Release takes the announcement back: the server's process ends a moment after
// the connection. A server that is gone has released it.
func (l *lock) Release() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, _ = l.conn.Exec(ctx, announce, appName())
	_ = l.conn.Close(ctx)
	return nil
}

func (s *foreignServer) draw(ctx context.Context, conn *pgx.Conn, who string) error {
	tell := func(name string) error {
		_, err := conn.Exec(ctx, announce, name)
		return s.link.done(ctx, announce, err)
	}
	if err := tell(appName() + " " + drawing); err != nil {
		return err
	}
	queue, err := s.queue(ctx, conn)
	if err != nil {
		return err
	}
	own := ticket{pid: int32(conn.PgConn().PID()), number: 1}
	for _, t := range queue {
		own.number = max(own.number, t.number+1)
	}
	if err := tell(plain(fmt.Sprintf("%s %s %d %s", appName(), measuring, own.number, who))); err != nil {
		return err
	}
	for limit := time.Now().Add(drawPatience); ; {
		if queue, err = s.queue(ctx, conn); err != nil {
			return err
		}
		wait := false
		for _, t := range queue {
			if !t.drawing && (t.number < own.number || t.number == own.number && t.pid < own.pid) || t.drawing && time.Now().After(limit) {
				return busy(t)
			}
			wait = wait || t.drawing
		}
		if !wait {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// queue are the other runs, each look in a transaction of its own.
func (s *foreignServer) queue(ctx context.Context, conn *pgx.Conn) ([]ticket, error) {
	rows, err := conn.Query(ctx, readQueue)
	if err != nil {
		return nil, s.link.done(ctx, readQueue, err)
	}
	var all []ticket
	var pid int32
	var name string
	_, err = pgx.ForEachRow(rows, []any{&pid, &name}, func() error {
		if t, ok := parseTicket(pid, name); ok {
			all = append(all, t)
		}
		return nil
	})
	return all, s.link.done(ctx, readQueue, err)
}

func busy(t ticket) error {
	who := t.who
	if who == "" {
		who = "another run of Filewise"
	}
	return filewise.Errorf(filewise.CodeBusy, "wait until it is over, or measure another server", "the server is being measured: %s (process %d of the server)", who, t.pid)
}

// plain is a name as PostgreSQL keeps it: up to 63 bytes of printable ASCII.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
	return name[:min(len(name), maxName)]
}
