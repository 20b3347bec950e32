//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filewise"
	"filewise/cmd/filewise/filewisetest"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
	"filewise/internal/process"
	"filewise/lab/experiment"
	"filewise/results/store"
)

// serverRuns are the shortest runs with servers: 2 pilots and 6 trials of about a
// second, some 30 s with all restarts of the server.
var serverRuns = []struct {
	name   string
	args   []string
	within time.Duration // a kill comes: several trials, the loading included
}{
	{"built anew", withServers("--window=200ms", "--warm-up=50ms"), 5 * time.Second},
	{"reset", withServers("--window=200ms", "--warm-up=50ms", "--preload=256KiB", "--builds=2"), 9 * time.Second},
	{"life cycle", withServers("--measure=lifecycle", "--work=256KiB"), 5 * time.Second},
}

func withServers(args ...string) []string {
	return append([]string{"run", "--engine=mariadb", "--files=1,2", "--size=12MiB", "--connections=2",
		"--durability=normal", "--max-blocks=3", "--budget=0", "--seed=3"}, args...)
}

// servers are the processes on the place's scratch directories.
func (p *place) servers() []filewisetest.Server { return filewisetest.ServersBelow(p.volume) }

// noServers waits until none runs. One that is ending shows no command line any more, so those that are known are
// checked by their ids.
func (p *place) noServers(known []filewisetest.Server, deadline time.Duration) {
	p.t.Helper()
	err := until(deadline, func() (bool, error) {
		for _, s := range known {
			if s.ID.Status() != process.Dead {
				return false, nil
			}
		}
		return len(p.servers()) == 0, nil
	})
	if err != nil {
		p.t.Fatalf("servers are left: of %+v and %+v: %v", known, p.servers(), err)
	}
}

// ownServer is the machine's own instance as Filewise must never touch it.
type ownServer struct {
	daemon  *daemon
	process process.Identity
	dir     string
}

// startOwn creates and starts a MariaDB of the user's, which lives until the test
// has ended.
func startOwn(t *testing.T, more ...string) *ownServer {
	t.Helper()
	return startOwnAt(t, servertest.MariaDB.Temp(), "mariadbd", more,
		"mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db", "--force")
}

// startOwnMySQL does so with MySQL.
func startOwnMySQL(t *testing.T, more ...string) *ownServer {
	t.Helper()
	in, err := dialect.MySQL.Managed.Find(t.Context(), "")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the commands were not tried on MySQL: ", err)
		}
		t.Skip("NO MYSQL SERVER: ", err)
	}
	create := []string{"--initialize-insecure"}
	for _, option := range more {
		if strings.HasPrefix(option, "--lower-case-table-names") { // which it has for good
			create = append(create, option)
		}
	}
	return startOwnAt(t, servertest.MySQL.Temp(), in.Binary, more, in.Binary, create...)
}

// startOwnAt has a program create and another one start a server.
func startOwnAt(t *testing.T, temp, program string, more []string, creator string, options ...string) *ownServer {
	t.Helper()
	dir, err := os.MkdirTemp(temp, "own") // short, for its socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	args := []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=8M",
		"--tmpdir=" + dir} // a server that starts removes what others have in a common one
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	if out, err := exec.Command(creator, append(args[:len(args):len(args)], options...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", creator, err, out)
	}
	server := exec.Command(program, append(append(args, "--socket="+filepath.Join(dir, "own.sock"), "--skip-networking"), more...)...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	o := &ownServer{dir: dir, daemon: &daemon{server}}
	t.Cleanup(o.daemon.kill)
	if o.process, err = process.Of(server.Process.Pid); err != nil {
		t.Fatal(err)
	}
	err = until(time.Minute, func() (bool, error) {
		_, err := o.ask("CREATE DATABASE IF NOT EXISTS filewise; CREATE TABLE IF NOT EXISTS filewise.fw_rows (id INT PRIMARY KEY); REPLACE " +
			"INTO filewise.fw_rows VALUES (42)")
		return err == nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// ask runs SQL on it with the distribution's own client.
func (o *ownServer) ask(sql string) (string, error) {
	out, err := exec.Command("mariadb", "--no-defaults", "--socket="+filepath.Join(o.dir, "own.sock"), "--user=root", "--batch",
		"--skip-column-names", "--execute="+sql).CombinedOutput()
	return string(out), err
}

// untouched: the same process runs, nothing was written to its tables, and no
// account or database was added.
func (o *ownServer) untouched(t *testing.T) {
	t.Helper()
	if s := o.process.Status(); s != process.Alive {
		t.Fatalf("the machine's own server is %s", s)
	}
	const want = "42\nfilewise\ninformation_schema\nmysql\nperformance_schema\nsys\n"
	got, err := o.ask("SELECT id FROM filewise.fw_rows; SHOW DATABASES")
	if err != nil || got != want {
		t.Errorf("the machine's own server has %q, want %q: %v", got, want, err)
	}
}

// Ctrl-C in the middle of a trial on a server leaves neither process nor file.
func TestInterruptWithServers(t *testing.T) {
	t.Parallel()
	needServer(t)
	for _, kind := range serverRuns[:2] { // in the third, no moment is sure to be within work
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			c := p.start("filewise", append(kind.args[:len(kind.args):len(kind.args)], "--window=20s", "--warm-up=0s")...)
			p.untilWork(c)
			p.interrupt(c, syscall.SIGINT)
		})
	}
}

// untilWork waits until a server has the workload's connections, and returns it.
func (p *place) untilWork(c *child) (working filewisetest.Server) {
	p.t.Helper()
	const listening, control = 1, 1
	err := until(time.Minute, func() (bool, error) {
		select {
		case <-c.ended:
			return false, fmt.Errorf("filewise ended:\n%s", &c.stderr)
		default:
		}
		for _, s := range p.servers() {
			if !s.Creates && s.Sockets >= listening+control+2 {
				working = s
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return working
}

// A server that is killed in the middle of a trial fails that trial, with the reason; it is measured again, and the
// run goes on to its end.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	needServer(t)
	for _, kind := range serverRuns[:2] {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			c := p.start("filewise", append(kind.args[:len(kind.args):len(kind.args)], "--window=1s", "--warm-up=1s")...)
			p.untilTrials(c, 3) // the pilots and one more
			if err := syscall.Kill(p.untilWork(c).ID.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			select {
			case <-c.ended:
			case <-time.After(3 * time.Minute):
				t.Fatal("filewise does not end")
			}
			if code := c.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit code %d, want 0\n%s", code, &c.stderr)
			}
			_, state, plan, trials := p.newest()
			complete, err := filewisetest.AsPlanned(plan, trials)
			if err != nil || !complete || state != store.Done {
				t.Errorf("complete %v, state %s: %v", complete, state, err)
			}
			oneKilled(t, plan, trials)
			p.tidy()
		})
	}
}

// oneKilled checks that one trial has failed since its server was killed, and
// that all others are whole, or were repeated.
func oneKilled(t *testing.T, plan experiment.Plan, trials []filewise.Trial) {
	t.Helper()
	failed := 0
	for _, trial := range trials {
		switch {
		case trial.State == filewise.Done && whole(plan, trial), experiment.Void(trial): // a busy machine stands still
		case trial.State == filewise.Failed && strings.Contains(trial.Reason, "the server (mariadbd, process ") &&
			strings.Contains(trial.Reason, "signal: killed"): // by itself, or while it was stopped for a snapshot
			failed++
		default:
			t.Errorf("%+v: %s %s", trial.Cell, trial.State, trial.Reason)
		}
	}
	if failed != 1 {
		t.Errorf("%d trials failed for want of their server, want 1", failed)
	}
}
