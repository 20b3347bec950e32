//go:build unix

package server

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"filewise"
	"filewise/internal/process"
)

// shell starts a shell script as a server.
func shell(t *testing.T, script string, change func(*Spec)) *Process {
	t.Helper()
	dir := t.TempDir()
	s := Spec{Path: "/bin/sh", Args: []string{"-c", script}, Dir: dir, Log: filepath.Join(dir, "log")}
	if change != nil {
		change(&s)
	}
	p, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

func TestDeathIsTold(t *testing.T) {
	p := shell(t, "echo starting; echo '[ERROR] the disk is on fire'; echo later; exit 3", func(s *Spec) {
		s.Tells = func(line string) bool { return strings.Contains(line, "ERROR") }
	})
	<-p.Exited()
	err := p.Died()
	for _, want := range []string{"exit status 3", "disk is on fire", strconv.Itoa(p.PID())} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %q is missing", err, want)
		}
	}
	if strings.Contains(err.Error(), "later") {
		t.Errorf("lines that do not tell are shown: %v", err)
	}
	cause := errors.New("broken pipe")
	if err := p.Why(cause); !errors.Is(err, cause) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("why: %v", err)
	}
	if err := p.Stop(t.Context(), syscall.SIGTERM, time.Second); err == nil {
		t.Error("stopping the dead is no error")
	}
	if err := p.Ready(t.Context(), time.Second, func(context.Context) error { return cause }); err == nil ||
		!strings.Contains(err.Error(), "on fire") {
		t.Errorf("ready: %v", err)
	}
}

func TestStop(t *testing.T) {
	clean := shell(t, "trap 'exit 0' TERM; echo up; while :; do sleep 0.02; done", nil)
	await(t, "the trap", func() bool { return Tail(clean.spec.Log, nil) == "up" })
	if err := clean.Stop(t.Context(), syscall.SIGTERM, 20*time.Second); err != nil {
		t.Error(err)
	}
	if err := clean.Died(); err != nil {
		t.Errorf("a stopped process has died: %v", err)
	}
	stopped := shell(t, "trap 'exit 0' TERM; echo up; while :; do sleep 0.02; done", nil)
	await(t, "the trap", func() bool { return Tail(stopped.spec.Log, nil) == "up" })
	if err := syscall.Kill(-stopped.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := stopped.Stop(t.Context(), syscall.SIGTERM, 20*time.Second); err != nil {
		t.Errorf("a process that is stopped does not hear: %v", err)
	}
	deaf := shell(t, "trap '' TERM; echo up; while :; do sleep 0.02; done", nil)
	await(t, "the trap", func() bool { return Tail(deaf.spec.Log, nil) == "up" })
	if err := deaf.Stop(t.Context(), syscall.SIGTERM, 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("a process that does not stop: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hurried := shell(t, "trap '' TERM; while :; do sleep 0.02; done", nil)
	if err := hurried.Stop(ctx, syscall.SIGTERM, time.Minute); err != nil && !errors.Is(err, context.Canceled) &&
		!strings.Contains(err.Error(), "cleanly") {
		t.Error(err)
	}
	<-hurried.Exited()
}

// A start is timed: it is not rounded up to the pause between two questions.
func TestReadyIsSeenAtOnce(t *testing.T) {
	for _, answers := range []time.Duration{0, 51 * time.Millisecond, 217 * time.Millisecond, 3 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			p, start := &Process{exited: make(chan struct{})}, time.Now()
			err := p.Ready(t.Context(), time.Hour, func(context.Context) error {
				if time.Since(start) < answers {
					return errors.New("not yet")
				}
				return nil
			})
			if late := time.Since(start) - answers; err != nil || late > max(answers/50, 2*time.Millisecond) {
				t.Errorf("answers after %v: seen %v later: %v", answers, late, err)
			}
		})
	}
}

func TestReadyAndPatience(t *testing.T) {
	p := shell(t, "sleep 600", nil)
	n := 0
	if err := p.Ready(t.Context(), 20*time.Second, func(context.Context) error {
		if n++; n < 3 {
			return errors.New("not yet")
		}
		return nil
	}); err != nil || n != 3 {
		t.Errorf("asked %d times: %v", n, err)
	}
	never := errors.New("never")
	if err := p.Ready(t.Context(), 30*time.Millisecond, func(context.Context) error { return never }); !errors.Is(err, never) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Ready(ctx, time.Minute, func(context.Context) error { return never }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-p.Exited()
}

// A process is in a separate group, so that Ctrl-C does not reach it, and is
// registered before anything else.
func TestGroupAndRegister(t *testing.T) {
	registered := 0
	p := shell(t, "sleep 600", func(s *Spec) { s.Register = func(pid int) error { registered = pid; return nil } })
	if group, err := syscall.Getpgid(p.PID()); err != nil || group != p.PID() || registered != p.PID() {
		t.Errorf("group %d, registered %d, process %d: %v", group, registered, p.PID(), err)
	}
	refused := errors.New("the registry is full")
	var pid int
	if _, err := Start(Spec{Path: "/bin/sleep", Args: []string{"600"}, Log: filepath.Join(t.TempDir(), "log"),
		Register: func(p int) error { pid = p; return refused }}); !errors.Is(err, refused) {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("a process that could not be registered runs on: %v", err)
	}
	brief := shell(t, "sleep 0.3; exit 4", func(s *Spec) { s.Register = func(int) error { return refused } }) // as on a busy machine
	if err := brief.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("one that ended before it was registered: %v", err)
	}
	if _, err := Start(Spec{Path: "/nowhere", Log: filepath.Join(t.TempDir(), "log")}); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Error(err)
	}
}

// The kernel ends a process with its parent, also when threads of the parent
// come and go, and when it runs as another user.
func TestGoneWithItsParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the parent-death signal is Linux's")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(exe)
	parent.Env = append(os.Environ(), parentOf+"="+filepath.Join(t.TempDir(), "log"))
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, convErr := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || convErr != nil {
		t.Fatalf("%q: %v %v", line, err, convErr)
	}
	child, err := process.Of(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed
	killed := time.Now()
	await(t, "the child's end", func() bool { return child.Status() == process.Dead })
	if took := time.Since(killed); took > 2*time.Second {
		t.Errorf("gone after %v, want 2 s at most", took)
	}
}

// The thread that starts a process must not end before it: with it would end
// the process.
func TestSurvivesThreads(t *testing.T) {
	p := shell(t, "sleep 600", nil)
	for range 50 {
		done := make(chan bool)
		go func() {
			runtime.LockOSThread() // its thread ends with it
			close(done)
		}()
		<-done
		runtime.GC()
	}
	time.Sleep(50 * time.Millisecond)
	select {
	case <-p.Exited():
		t.Fatalf("ended: %v", p.Died())
	default:
	}
}

func TestAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process as another user")
	}
	p := shell(t, "id -u", func(s *Spec) { s.User = &User{UID: 65534, GID: 65534}; s.Dir = "/" })
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := Tail(p.spec.Log, nil); got != "65534" {
		t.Errorf("runs as %q", got)
	}
}

// A socket works however long its directory's path is.
func TestLongSocket(t *testing.T) {
	dir := t.TempDir()
	for len(dir) < 200 {
		dir = filepath.Join(dir, "a-directory-with-a-long-name")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	l, err := net.Listen("unix", "s.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Socket{Dir: dir, Name: "s.sock"}.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := (Socket{Dir: dir, Name: "none.sock"}).Dial(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestTailIsShortAndClean(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	text := strings.Repeat("x", 1<<20) + "\n\x1b[31mred\x07\n" + strings.Repeat("line\n", 100)
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Tail(log, nil); strings.Count(got, "\n") != tailLines-1 || strings.Contains(got, "xx") {
		t.Errorf("%q", got)
	}
	if got := Tail(log, func(l string) bool { return strings.Contains(l, "red") }); got != "[31mred" {
		t.Errorf("%q", got)
	}
	if got := Tail(log+"none", nil); got != "" {
		t.Errorf("%q", got)
	}
}
