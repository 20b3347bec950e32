package process

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// start runs a command that is ended with the test.
func start(t *testing.T, dir string, env []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func of(t *testing.T, cmd *exec.Cmd) Identity {
	t.Helper()
	id, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestStatus(t *testing.T) {
	cmd := start(t, "", nil, "sleep", "60")
	id := of(t, cmd)
	change := func(f func(*Identity)) Identity { c := id; f(&c); return c }
	for name, c := range map[string]struct {
		id   Identity
		want Status
	}{
		"itself":                  {id, Alive},
		"an older one of its PID": {change(func(i *Identity) { i.Start-- }), Dead},
		"of an earlier boot":      {change(func(i *Identity) { i.Boot = "x" }), Dead},
		"of another host":         {change(func(i *Identity) { i.Boot, i.Host = "x", "y" }), Unknown},
		"of another container":    {change(func(i *Identity) { i.Space = "pid:[1]" }), Unknown},
		"no process":              {Identity{}, Unknown},
	} {
		if got := c.id.Status(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := change(func(i *Identity) { i.Space = "pid:[1]" }).String(); !strings.Contains(got, "of another container") {
		t.Errorf("a number that means another process here: %s", got)
	}
	cmd.Process.Kill()
	if gone, err := id.await(t.Context(), 5*time.Second); !gone || err != nil {
		t.Errorf("killed and not yet waited for: still %s (%v)", id.Status(), err)
	}
	cmd.Wait()
	if got := id.Status(); got != Dead {
		t.Errorf("ended: %s", got)
	}
}

// A command name may hold what separates the fields of /proc/PID/stat.
func TestOfOddName(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	odd := t.TempDir() + "/a) S 1 (b"
	if err := os.Symlink(sleep, odd); err != nil {
		t.Fatal(err)
	}
	id := of(t, start(t, "", nil, odd, "60"))
	if self, _ := Self(); id.Start < self.Start {
		t.Errorf("start %d lies before this process's %d", id.Start, self.Start)
	}
	if id.Status() != Alive {
		t.Error("not alive")
	}
}

func TestMarked(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		cmd  *exec.Cmd
		want bool
	}{
		"command line": {start(t, "", nil, "sh", "-c", "sleep 60; :", dir+"/datadir"), true},
		"environment":  {start(t, "", []string{"DATA=" + dir}, "sleep", "60"), true},
		"directory":    {start(t, dir, []string{"A=b"}, "sleep", "60"), true},
		"none":         {start(t, "/", []string{"A=b"}, "sleep", "60"), false},
	} {
		if got, err := of(t, c.cmd).Marked(dir); err != nil || got != c.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
}

func TestEnd(t *testing.T) {
	dir := t.TempDir()
	patience := 200 * time.Millisecond
	polite := of(t, start(t, "", nil, "sleep", "60"))
	if err := polite.End(t.Context(), dir, patience); err == nil || polite.Status() != Alive {
		t.Errorf("without the mark: %v, %s", err, polite.Status())
	}
	other := of(t, start(t, dir, nil, "sleep", "60"))
	older := other
	older.Start--
	if err := older.End(t.Context(), dir, patience); err != nil || other.Status() != Alive {
		t.Errorf("another process of that PID: %v, %s", err, other.Status())
	}
	if err := other.End(t.Context(), dir, 10*time.Second); err != nil || other.Status() != Dead {
		t.Errorf("with the mark: %v, %s", err, other.Status())
	}
	deaf := start(t, dir, nil, "sh", "-c", `trap "" TERM; echo >ready; while :; do sleep 0.05; done`)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(dir + "/ready"); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal("the shell did not get ready")
		}
	}
	id := of(t, deaf)
	if err := id.End(t.Context(), dir, patience); err != nil || id.Status() != Dead {
		t.Errorf("deaf to SIGTERM: %v, %s", err, id.Status())
	}
	if err := id.End(t.Context(), dir, patience); err != nil {
		t.Errorf("ended before: %v", err)
	}
}

// A killed process shows neither command line nor environment for as long as the
// kernel takes to free its memory. That is no reason to keep what it left.
func TestEndOfEnding(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		big := start(t, "/", []string{"DATA=" + dir}, "dd", "if=/dev/zero", "of=/dev/null", "bs=400M", "status=none")
		id := of(t, big)
		statm := "/proc/" + strconv.Itoa(id.PID) + "/statm"
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			b, err := os.ReadFile(statm)
			if f := bytes.Fields(b); err == nil && len(f) > 1 && len(f[1]) >= 5 { // 10,000 pages and more
				break
			} else if time.Now().After(end) {
				t.Fatal("dd does not fill its buffer")
			}
		}
		big.Process.Kill()
		for { // until its marker is gone, or it is
			if marked, err := id.Marked(dir); err != nil || !marked || id.Status() == Dead {
				break
			}
		}
		if err := id.End(t.Context(), dir, 20*time.Second); err != nil || id.Status() != Dead {
			t.Errorf("%v, %s", err, id.Status())
		}
	}
}

func TestEndHonoursContext(t *testing.T) {
	dir := t.TempDir()
	deaf := of(t, start(t, dir, nil, "sh", "-c", `trap "" TERM; while :; do sleep 0.05; done`))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if err := deaf.End(ctx, dir, time.Hour); err == nil && deaf.Status() == Alive {
		t.Error("no error")
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestOfNobody(t *testing.T) {
	cmd := start(t, "", nil, "true")
	cmd.Wait()
	if id, err := Of(cmd.Process.Pid); err == nil {
		t.Errorf("an ended process is %v", id)
	}
	if got := (Identity{PID: 4711}).String(); got != "process "+strconv.Itoa(4711) {
		t.Error(got)
	}
}
