package postgres

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
)

// PostgreSQL's advisory locks hold within one database. Two runs on one server can be in different databases. So each
// announces itself by its session's application_name, which everyone sees in pg_stat_activity. They queue as in
// Lamport's bakery (“A New Solution of Dijkstra's Concurrent Programming Problem”, 1974). A run announces that it draws
// a number before it draws, and then waits for others that draw. The lowest number has the lock; among equal numbers,
// the lowest process ID. The lock ends with the session.
const (
	drawing       = "drawing"
	lockMeasuring = "measuring"
)

var announced = regexp.MustCompile(`^filewise [0-9a-f]{8} (drawing|measuring)(?: (\d{1,18}))?(?: @([0-9a-f]{12}))? ?(.*)$`)

// ticket is another run's announcement.
type ticket struct {
	pid     int32
	number  int64
	drawing bool
	host    string // the measuring lock of the run's host; "" if not known
	who     string
	name    string
}

func parseTicket(pid int32, name string) (ticket, bool) {
	m := announced.FindStringSubmatch(name)
	if m == nil || m[1] == lockMeasuring && m[2] == "" {
		return ticket{}, false
	}
	n, err := strconv.ParseInt("0"+m[2], 10, 64)
	return ticket{pid: pid, number: n, drawing: m[1] == drawing, host: m[3], who: m[4], name: name}, err == nil
}

const (
	announce  = "SELECT set_config('application_name', $1, false)"
	readQueue = "SELECT pid, application_name FROM pg_stat_activity WHERE application_name LIKE 'filewise %' AND pid <> pg_backend_pid()"
	// drawPatience limits how long another run can take to draw its number.
	drawPatience = 15 * time.Second
)

// takeLock takes a server's measuring lock, on a separate connection.
func takeLock(ctx context.Context, l *client.Link, h filewise.Holder) (filewise.Lock, error) {
	who := h.Who
	if h.Host != "" {
		who = "@" + h.Host + " " + who
	}
	return external.Measuring{Claim: &claim{link: l, host: h.Host, who: who}, Explain: l.Why}.Lock(ctx)
}

// claim is the session that announces this run.
type claim struct {
	link *client.Link
	host string // the measuring lock of this host, which this process holds
	who  string // who measures, with host in front
	conn *pgx.Conn
	name string // the application_name that the session announces
}

// Take draws a number and waits until no other run is drawing. If another run comes first, the error has CodeBusy.
func (c *claim) Take(ctx context.Context) (err error) {
	config := c.link.Config.Copy()
	if _, known := config.RuntimeParams["idle_session_timeout"]; known {
		config.RuntimeParams["idle_session_timeout"] = fmt.Sprint(external.Silence.Milliseconds())
	}
	if c.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return client.OrCause(ctx, err)
	}
	return c.draw(ctx)
}

const readAnnounced = "SELECT current_setting('application_name')"

// Check asks whether the session lives and still announces the run.
func (c *claim) Check(ctx context.Context) error {
	var name string
	err := c.link.Done(ctx, readAnnounced, c.conn.QueryRow(ctx, readAnnounced).Scan(&name))
	if t, ok := parseTicket(0, name); err == nil && (!ok || t.drawing) {
		err = fmt.Errorf("its session is called %q", name)
	}
	return err
}

// Release withdraws the announcement, because the server's process ends only a moment after the connection. A server
// that is gone has released the lock.
func (c *claim) Release(ctx context.Context) error {
	_, _ = c.conn.Exec(ctx, announce, client.AppName())
	return nil
}

// Close ends the session.
func (c *claim) Close() error {
	if c.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	leftByLock.Store(int32(c.conn.PgConn().PID()), c.name)
	_ = c.conn.Close(ctx) // closing a lost connection fails, but it is gone either way
	return nil
}

// leftByLock maps the process IDs of sessions that this process has closed to what they announced. If the connection
// was cut, the server can keep such a session for long.
var leftByLock sync.Map

const endLeft = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name = $2 AND usename = current_user"

// endOwn ends a session that this process has left, or one of a run on this host that died. It returns false if the
// session belongs to another run.
func (c *claim) endOwn(ctx context.Context, t ticket) (bool, error) {
	name, own := leftByLock.Load(t.pid)
	died := c.host != "" && t.host == c.host && !strings.HasPrefix(t.name, client.AppName())
	if !died && (!own || name != t.name) {
		return false, nil
	}
	_, err := c.conn.Exec(ctx, endLeft, t.pid, t.name)
	return true, c.link.Done(ctx, endLeft, err)
}

func (c *claim) announce(ctx context.Context, format string, args ...any) error {
	c.name = lockPlain(client.AppName() + " " + fmt.Sprintf(format, args...))
	_, err := c.conn.Exec(ctx, announce, c.name)
	return c.link.Done(ctx, announce, err)
}

func (c *claim) draw(ctx context.Context) error {
	if err := c.announce(ctx, drawing); err != nil {
		return err
	}
	queue, err := c.queue(ctx)
	if err != nil {
		return err
	}
	mine := ticket{pid: int32(c.conn.PgConn().PID()), number: 1}
	for _, t := range queue {
		mine.number = max(mine.number, t.number+1)
	}
	if err := c.announce(ctx, "%s %d %s", lockMeasuring, mine.number, c.who); err != nil {
		return err
	}
	for limit := time.Now().Add(drawPatience); ; {
		if queue, err = c.queue(ctx); err != nil {
			return err
		}
		wait := false
		for _, t := range queue {
			before, err := c.waitsFor(ctx, t, mine, time.Now().After(limit))
			if err != nil {
				return err
			}
			wait = wait || before
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

// waitsFor reports whether this run must wait for another ticket to disappear or finish drawing. If the other run comes
// first, or draws for too long, it returns an error.
func (c *claim) waitsFor(ctx context.Context, t, mine ticket, late bool) (bool, error) {
	own, err := c.endOwn(ctx, t)
	if err != nil || own && !late {
		return own, err
	}
	if !t.drawing && (t.number < mine.number || t.number == mine.number && t.pid < mine.pid) || t.drawing && late {
		return false, busy(t)
	}
	return t.drawing, nil
}

// queue returns the other runs' tickets. Each call reads them in a new transaction.
func (c *claim) queue(ctx context.Context) ([]ticket, error) {
	rows, err := client.Collect(c.conn.Query(ctx, readQueue))
	var all []ticket
	for _, row := range rows {
		pid, _ := row[0].(int32)
		if t, ok := parseTicket(pid, client.Text(row[1])); ok {
			all = append(all, t)
		}
	}
	return all, c.link.Done(ctx, readQueue, err)
}

func busy(t ticket) error {
	return filewise.Errorf(filewise.CodeBusy, "wait until it is over, or measure another server",
		"the server is being measured: %s (process %d of the server)", cmp.Or(t.who, "another run of Filewise"), t.pid)
}

// lockPlain returns a name as PostgreSQL stores it: at most 63 bytes of printable ASCII.
func lockPlain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
	return name[:min(len(name), dialect.MaxName)]
}
