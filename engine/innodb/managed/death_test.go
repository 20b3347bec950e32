//go:build linux

package managed_test

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"filewise"
	"filewise/internal/process"
)

// A server that is killed in the middle of the work fails the trial with the
// reason, and the next build works.
func testServerKilled(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	target := sub.onScratch(t, 1)
	var last int
	target.OnStart = func(pid int) error { last = pid; return nil }
	s := sub.open(t, ctx, target)
	w := inserts(t, nil)
	db := build(t, ctx, s, systemLayout(2, 24<<20), w)
	session, err := db.Connect(ctx, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if n, err := session.Do(ctx, 0, 10); n != 10 || err != nil {
		t.Fatal(n, err)
	}
	pid := last
	kill := time.AfterFunc(100*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	defer kill.Stop()
	_, err = session.Do(ctx, 10, 1<<40)
	for name, err := range map[string]error{
		"Do":     err,
		"Settle": db.Settle(ctx),
		"Check":  w.Check(ctx, db, 0, []filewise.Ledger{make(filewise.Ledger, 4)}),
	} {
		if err == nil || !strings.Contains(err.Error(), "ended by itself: signal: killed") || strings.Contains(err.Error(), "[Note]") {
			t.Errorf("%s after the server's death: %v", name, err)
		}
	}
	if _, err := db.Observe(ctx); err == nil {
		t.Error("a dead server is observed")
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
	life(t, ctx, s, 1, systemLayout(2, 24<<20), w)
}

// However Filewise is killed, its servers are gone within 2 s, and the next
// start removes what they left.
func testKilledFilewise(t *testing.T, sub subject) {
	sub.Need(t)
	dir := t.TempDir()
	for _, name := range []string{"v1", "v2", "state"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	state := "FILEWISE_STATE=" + filepath.Join(dir, "state")
	r := rand.New(rand.NewPCG(7, 7))
	rounds := 6
	if sub.Slow {
		rounds = 3
	}
	for range rounds {
		killOnce(t, sub, dir, state, time.Duration(r.IntN(2500))*time.Millisecond)
		next := another(t, state, sweeping+"=1")
		if out, err := next.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, name := range []string{"v1", "v2"} {
			if left, err := os.ReadDir(filepath.Join(dir, name)); err != nil || len(left) > 0 {
				t.Fatalf("left in %s: %v %v", name, left, err)
			}
		}
	}
}

// another returns a process of the test binary, with more in its environment.
func another(t *testing.T, more ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), more...)
	return cmd
}

// killOnce starts a Filewise, kills it after its first server and a while, and
// waits for the end of all its servers.
func killOnce(t *testing.T, sub subject, dir, state string, after time.Duration) {
	t.Helper()
	filewise := another(t, state, workIn+"="+dir, workOn+"="+sub.Engine.Name())
	out, err := filewise.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := filewise.Start(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var servers []process.Identity
	first, over := make(chan bool, 1), make(chan bool)
	go func() {
		defer close(over)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			pid, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Error(lines.Text())
				continue
			}
			if id, err := process.Of(pid); err == nil {
				mu.Lock()
				servers = append(servers, id)
				mu.Unlock()
			}
			select {
			case first <- true:
			default:
			}
		}
	}()
	select {
	case <-first:
	case <-over:
	case <-time.After(time.Minute):
		t.Error("no server was started")
	}
	time.Sleep(after) // the moment to kill at, not something to wait for
	if err := filewise.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	<-over
	_ = filewise.Wait() // killed
	mu.Lock()
	defer mu.Unlock()
	for _, id := range servers {
		for id.Status() != process.Dead {
			if time.Since(killed) > 2*time.Second {
				t.Fatalf("%v runs 2 s after Filewise was killed", id)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// Filewise runs as root and as an ordinary user.
func testOrdinaryUser(t *testing.T, sub subject) {
	sub.Need(t)
	if os.Getuid() != 0 {
		t.Skip("this is an ordinary user: all other tests are the test")
	}
	dir, err := os.MkdirTemp("", "fw")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	copied := filepath.Join(dir, "copy.test")
	if err := os.WriteFile(copied, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, copied, "-test.v", "-test.run=^TestServer$/^"+sub.Engine.Name()+"$/^(Life|Reset)$/^system_4$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	if sub.Bring != nil {
		cmd.Env = append(cmd.Env, sub.Bring(t, dir)...)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestServer/"+sub.Engine.Name()+"/Life/system_4") ||
		!strings.Contains(string(out), "PASS: TestServer/"+sub.Engine.Name()+"/Reset") {
		t.Errorf("%v\n%s", err, out)
	}
}
