//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/run/plan"
)

// A run that was started with --no-password goes on without a password prompt.
func TestNoPasswordIsRemembered(t *testing.T) {
	t.Setenv("FILEWISE_PASSWORD", "")
	a := &app{stdin: strings.NewReader(""), stderr: io.Discard}
	address := filewise.Address{Scheme: "mysql", User: "me", Host: "db1"}
	p := experiment.Plan{Target: filewise.Target{Mode: filewise.External, Address: &address}}
	named := &plan.TargetOptions{Target: plan.Of("mysql://me@db1")}
	for _, again := range []struct {
		command []string
		asked   bool
	}{{nil, true}, {[]string{"--no-password"}, false}} {
		p.Command = again.command
		login, err := a.accessAgain(named, archive.Run{Run: store.Run{Plan: p}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := login(t.Context()); (err != nil) != again.asked {
			t.Errorf("%q: %v", again.command, err)
		}
	}
}

// Without a user, SQL Server signs in the account that runs Filewise, without a prompt.
func TestTrustedConnectionAsksForNoPassword(t *testing.T) {
	t.Setenv("FILEWISE_PASSWORD", "")
	a := &app{stdin: strings.NewReader(""), stderr: io.Discard}
	for text, asked := range map[string]bool{"Server=db1;Trusted_Connection=yes": false, "(local)": false, "Server=db1;User ID=ada": true,
		"sqlserver://ada@db1": true, "mysql://db1": true} {
		c, err := registry().Choose(&plan.TargetOptions{Target: plan.Of(text)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.login(t.Context(), c.Target, c.Secret, &plan.TargetOptions{}); (err != nil) != asked {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func ended(c *child) bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// typed holds an answer to give on a terminal, once the question is shown.
type typed struct{ question, answer string }

// onTerminal runs filewise on a pseudo terminal, types the answers, and returns
// all that the terminal showed.
func (p *place) onTerminal(code int, env []string, answers []typed, args ...string) string {
	p.t.Helper()
	c := &child{Cmd: exec.Command("filewise", args...), ended: make(chan struct{})}
	c.Env = append([]string{"TERM=dumb"}, env...)
	var tty *os.File
	p.launch(c, func() (err error) { tty, err = pty.StartWithSize(c.Cmd, &pty.Winsize{Cols: 80, Rows: 24}); return err })
	defer tty.Close()
	var shown strings.Builder
	buf := make([]byte, 16<<10)
	for {
		n, err := tty.Read(buf)
		shown.Write(buf[:n])
		if len(answers) > 0 && strings.Contains(shown.String(), answers[0].question) {
			time.Sleep(100 * time.Millisecond) // until the echo is off
			if _, err := io.WriteString(tty, answers[0].answer); err != nil {
				p.t.Fatal(err)
			}
			answers = answers[1:]
		}
		if err != nil { // how Linux reports that no process has it open
			break
		}
	}
	if got := p.exit(c); got != code || len(answers) > 0 {
		p.t.Fatalf("exit code %d, want %d; not asked: %v; the terminal shows\n%s", got, code, answers, &shown)
	}
	return shown.String()
}

// newMemory is a server in memory with a password and something left behind.
func newMemory(t *testing.T, p *place) (env []string, dir string) {
	t.Helper()
	dir = filepath.Join(filepath.Dir(p.store), "server")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "objects", "thing1"), 0o755),
		os.WriteFile(filepath.Join(dir, "activity"), []byte("active 0\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "password"), []byte("Zx9Canary wörd\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return []string{"MEMORY_SERVER=" + dir}, dir
}

// The password prompt is on a terminal, without echo; what is to be removed is agreed to there.
func TestAskedOnTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	env, dir := newMemory(t, p)
	password := typed{"Password for memory://ada@db.example: ", "Zx9Canary wörd\n"}
	clean := []string{"clean", "--target=memory://ada@db.example"}
	left := func() bool { _, err := os.Stat(filepath.Join(dir, "objects", "thing1")); return err == nil }

	shown := p.onTerminal(2, env, []typed{password, {"[y/N] ", "n\n"}}, clean...)
	if !strings.Contains(shown, "thing thing1") || !strings.Contains(shown, "not agreed to") || !left() {
		t.Errorf("answered n:\n%s", shown)
	}
	wrong := typed{password.question, "Qq7Canary\n"}
	shown += p.onTerminal(3, env, []typed{wrong}, clean...)
	shown += p.onTerminal(130, env, []typed{{password.question, "\x03"}}, clean...)
	shown += p.onTerminal(0, env, []typed{password, {"[y/N] ", "y\n"}}, clean...)
	if left() || !strings.Contains(shown, "removed thing thing1") {
		t.Errorf("answered y:\n%s", shown)
	}
	if strings.Contains(shown, "Canary") {
		t.Errorf("the terminal shows a password:\n%s", shown)
	}
}

// Outside its hours a run waits and reports until when; stop ends it, and never hits another process than the one
// that measures.
func TestStopWhileItWaits(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	now := time.Now()
	window := now.Add(2*time.Hour).Format("15:04") + "-" + now.Add(3*time.Hour).Format("15:04")
	c := p.start("filewise", append(shortRun[:len(shortRun):len(shortRun)], "--maintenance-window="+window)...)
	if err := until(time.Minute, func() (bool, error) { id, _, _, _ := p.newest(); return id > 0, nil }); err != nil {
		t.Fatal(err)
	}
	stopped := p.run(0, "stop")
	if code := p.exit(c); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, &c.stderr)
	}
	if !strings.Contains(stopped.stdout.String(), "Stopped run 1 (process ") ||
		!strings.Contains(c.stderr.String(), "outside the maintenance window ("+window+"): waiting until ") {
		t.Errorf("stop says %q, the run %q", &stopped.stdout, &c.stderr)
	}
	if _, state, _, trials := p.newest(); state != store.Interrupted || len(trials) > 0 {
		t.Errorf("state %s with %d trials", state, len(trials))
	}
	p.run(7, "stop")
	p.tidy()
	// From another store, the one that holds the host's lock is named, and ended by its number alone.
	c = p.start("filewise", shortRun...)
	p.untilTrials(c, 1)
	number := strconv.Itoa(c.Process.Pid)
	away := filepath.Join(p.state, "other.db")
	refused := p.run(2, "stop", "--store", away)
	if text := refused.stderr.String(); ended(c) || !strings.Contains(text, "--pid "+number) || !strings.Contains(text, "process "+number) {
		t.Errorf("from another store: %s", text)
	}
	p.run(7, "stop", "--pid", strconv.Itoa(os.Getpid())) // an innocent process
	other := p.run(0, "stop", "--store", away, "--pid", number)
	if code := p.exit(c); code != 130 || !strings.Contains(other.stdout.String(), "the run of process ") {
		t.Errorf("exit code %d; stop says %q", code, &other.stdout)
	}
}
