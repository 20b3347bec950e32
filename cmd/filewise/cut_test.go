//go:build unix

package main

import (
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise/cmd/filewise/filewisetest"
)

// line is a way to a server's socket over the loopback address that can be cut.
type line struct {
	net.Listener
	socket string

	mu    sync.Mutex
	pairs []*pair
}

// pair are both ends of a connection.
type pair struct {
	client *net.TCPConn
	server net.Conn
	mu     sync.Mutex // set while the line is dead and silent
}

func startLine(t *testing.T, socket string) *line {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	way := &line{Listener: l, socket: socket}
	go way.serve()
	t.Cleanup(func() { _ = l.Close(); way.reset() })
	return way
}

func (l *line) serve() {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("unix", l.socket)
		if err != nil {
			_ = c.Close()
			continue
		}
		p := &pair{client: c.(*net.TCPConn), server: s}
		l.mu.Lock()
		l.pairs = append(l.pairs, p)
		l.mu.Unlock()
		go p.pass(p.server, p.client)
		go p.pass(p.client, p.server)
	}
}

func (p *pair) pass(to io.WriteCloser, from io.Reader) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		p.mu.Unlock() //nolint:staticcheck // it waits while the line is dead
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			_ = to.Close()
			return
		}
	}
}

// silence has the connections that there are pass nothing, without a word to either end;
// new ones work.
func (l *line) silence() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pairs {
		p.mu.Lock()
	}
	l.pairs = nil
}

// reset ends the present connections as a router does that has forgotten them.
func (l *line) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pairs {
		_ = p.client.SetLinger(0)
		_ = p.client.Close()
		_ = p.server.Close()
	}
	l.pairs = nil
}

// overLine has a server's target lead over a line that can be cut.
func (f *existing) overLine(t *testing.T) *line {
	t.Helper()
	u, err := url.Parse(f.target)
	if err != nil {
		t.Fatal(err)
	}
	socket := u.Query().Get("host")
	if u.RawQuery = ""; u.Scheme == "postgres" {
		socket += "/.s.PGSQL.5432"
		u.RawQuery = "sslmode=disable"
	}
	way := startLine(t, socket)
	u.Host = way.Addr().String()
	f.target = u.String()
	return way
}

// untilWorking waits until as many sessions work.
func (f *existing) untilWorking(t *testing.T, c *child, sessions string) {
	t.Helper()
	if err := until(2*time.Minute, func() (bool, error) {
		select {
		case <-c.ended:
			return false, errors.New("filewise has ended")
		default:
		}
		out, err := f.sql(f.working)
		return strings.TrimSpace(out) == sessions, err
	}); err != nil {
		t.Fatalf("%s sessions do not come to work: %v\n%s", sessions, err, &c.stderr)
	}
}

// A line that goes dead without a word, or is reset, costs the trial that ran: the run
// takes its lock again from its own dead session, goes on, and leaves nothing.
func TestCutLine(t *testing.T) {
	t.Parallel()
	for name, start := range byURL() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			way := f.overLine(t)
			p := newPlace(t)
			p.env = append(p.env, "FILEWISE_PASSWORD="+accountPassword)
			c := p.start("filewise", f.args("run", externalRun("500ms")...)...)
			for _, cut := range []func(){way.silence, way.reset} {
				f.untilWorking(t, c, "2")
				cut()
				f.untilWorking(t, c, "0")
			}
			code := p.exit(c)
			_, state, plan, trials := p.newest()
			complete, err := filewisetest.AsPlanned(plan, trials) // the connection that was reset may have failed
			if err != nil || !complete || state != "done" || code != 0 {
				t.Errorf("exit code %d, complete %v, %s: %v\n%s%s", code, complete, state, err, &c.stderr, &c.stdout)
			}
			if out, err := f.sql(listDatabases); err != nil || strings.Contains(out, "filewise_") && name == "postgres" {
				t.Errorf("left: %s %v\n%s", out, err, &c.stderr)
			}
			f.killedWhileItWaits(t, p, way, lockOf[name].holder)
			p.tidy()
		})
	}
}

// killedWhileItWaits: a run that has built nothing and is killed behind a line that has gone dead silently blocks no
// other run on its host.
func (f *existing) killedWhileItWaits(t *testing.T, p *place, way *line, holder string) {
	t.Helper()
	now := time.Now()
	hours := now.Add(2*time.Hour).Format("15:04") + "-" + now.Add(3*time.Hour).Format("15:04")
	c := p.start("filewise", f.args("run", append(externalRun("200ms"), "--maintenance-window="+hours)...)...)
	held := func() (bool, error) { out, err := f.sql(holder); return strings.TrimSpace(out) != "", err }
	if err := until(time.Minute, held); err != nil {
		t.Fatalf("it takes no lock: %v\n%s", err, &c.stderr)
	}
	way.silence()
	_ = c.Process.Kill()
	<-c.ended
	if stands, err := held(); err != nil || !stands {
		t.Fatalf("the dead lock does not stand: %v", err)
	}
	p.run(0, f.args("run", externalRun("200ms")...)...)
}

// Sessions of a run that was killed behind a line that had gone dead without a word stand on
// the server. The next run has them ended and goes on at once, and clean leaves nothing.
func TestCutAndKilled(t *testing.T) {
	t.Parallel()
	servers := map[string]func(*testing.T) *existing{"mariadb": externalMariaDB}
	if everything() {
		servers["mysql"] = externalMySQL
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			way := f.overLine(t)
			p := newPlace(t)
			p.env = append(p.env, "FILEWISE_PASSWORD="+accountPassword)
			c := p.start("filewise", f.args("run", externalRun("500ms")...)...)
			f.untilWorking(t, c, "2")
			way.silence()
			_ = c.Process.Kill()
			<-c.ended
			const stand = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'filewise' AND DB LIKE 'filewise\\_%'"
			if out, err := f.sql(stand); err != nil || strings.TrimSpace(out) == "0" {
				t.Fatalf("no sessions stand: %q %v", out, err)
			}
			p.run(0, "resume")
			_, _, plan, trials := p.newest()
			if complete, err := inOrder(plan, trials); err != nil || !complete {
				t.Errorf("complete %v: %v", complete, err)
			}
			if c := p.run(0, f.args("clean", "--yes")...); !strings.Contains(c.stdout.String(), "removed database") {
				t.Errorf("clean: %s%s", &c.stdout, &c.stderr)
			}
			if out, err := f.sql(stand + "; SHOW DATABASES LIKE 'filewise\\_%'"); err != nil || strings.TrimSpace(out) != "0" {
				t.Errorf("left: %q %v", out, err)
			}
			p.tidy()
		})
	}
}
