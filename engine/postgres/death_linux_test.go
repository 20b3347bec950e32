package postgres

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/host/scratch"
	"filewise/lab/workload"
)

// A server that is killed in the middle of the work fails the trial with the
// reason, and the next build works.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	need(t)
	ctx := deadline(t)
	target := onScratch(t, 1)
	var last int
	target.OnStart = func(pid int) error { last = pid; return nil }
	s := open(t, ctx, target)
	w := inserts(t, nil)
	db := buildOn(t, ctx, s, partitions(2, 1<<20), w)
	session, err := db.Connect(ctx, 0, 0)
	must(t, err)
	defer session.Close()
	pid := last
	kill := time.AfterFunc(100*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	defer kill.Stop()
	_, err = session.Do(ctx, 0, 1<<40)
	for name, err := range map[string]error{"Do": err, "Settle": db.Settle(ctx),
		"Check": w.Check(ctx, db, 0, []filewise.Ledger{make(filewise.Ledger, 4)})} {
		if err == nil || !strings.Contains(err.Error(), "ended by itself: signal: killed") {
			t.Errorf("%s after the server's death: %v", name, err)
		}
	}
	must(t, db.Drop(ctx))
	must(t, buildOn(t, ctx, s, partitions(2, 1<<20), w).Drop(ctx))
}

// The server comes back with all that was committed from a clean stop, and from a
// crash with a true ledger.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	need(t)
	ctx := deadline(t)
	target := onScratch(t, 3)
	target.Durability = filewise.DurabilityFull
	s := open(t, ctx, target)
	w := inserts(t, nil)
	l := partitions(2, 1<<20)
	l.LogVolume, l.Indexes, l.IndexVolume = "v1", filewise.IndexesApart, "v3" // the data lie on v2 alone
	db := buildOn(t, ctx, s, l, w)
	rows, err := db.Build.(*build).link.Rows(ctx, "SELECT datname FROM pg_database")
	if must(t, err); len(rows) != 1 {
		t.Errorf("a managed server has the databases %v", rows)
	}
	ledger := work(t, ctx, db, w, 0, 50)
	_, err = db.Lifecycle.Checkpoint(ctx)
	must(t, err)
	_, err = db.Lifecycle.Shutdown(ctx)
	must(t, err)
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err == nil {
		t.Error("a stopped server answers")
	}
	_, err = db.Lifecycle.Open(ctx)
	must(t, err)
	must(t, w.Check(ctx, db, 0, []filewise.Ledger{ledger}))
	ledger = work(t, ctx, db, w, 50, 50)
	must(t, db.Lifecycle.Crash(ctx))
	_, err = db.Lifecycle.Open(ctx)
	must(t, err)
	must(t, w.Check(ctx, db, 0, []filewise.Ledger{ledger}))
	files, err := db.Observe(ctx)
	must(t, err)
	on := map[filewise.Role]string{filewise.RoleData: "v2", filewise.RoleIndex: "v3", filewise.RoleLog: "v1"}
	for _, f := range files {
		dir := target.Volumes[map[string]int{"v1": 0, "v2": 1, "v3": 2}[f.Volume]].Dir
		if f.Volume != on[f.Role] || !strings.HasPrefix(f.Path, dir) {
			t.Errorf("%+v", f)
		}
	}
}

// Settings are taken, or refused with the reason; nothing opens the server to
// others.
func TestSettings(t *testing.T) {
	t.Parallel()
	need(t)
	ctx := deadline(t)
	for set, code := range map[string]filewise.Code{"work_mem=8MB": "", "nonsense=1": filewise.CodeUsage,
		"listen_addresses=*":  filewise.CodeUsage,
		"shared_buffers=many": filewise.CodeUsage, "max_connections=3": filewise.CodeUsage, "include=/etc/passwd": filewise.CodeUsage} {
		target := onScratch(t, 1)
		name, value, _ := strings.Cut(set, "=")
		target.Settings = map[string]string{name: value}
		s, err := Engine{}.Open(ctx, target)
		if code != "" {
			if filewise.CodeOf(err) != code || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", set, err)
			}
			continue
		}
		must(t, err)
		facts, err := s.Facts(ctx)
		must(t, err)
		if last := facts[len(facts)-1]; last.Name != "work_mem (--set)" || last.Value != "8MB" {
			t.Errorf("%+v", facts)
		}
		must(t, s.Close())
	}
}

// A volume that fills up ends the work with the reason, whichever file of the
// server meets its end first.
func TestFullVolume(t *testing.T) {
	t.Parallel()
	need(t)
	if os.Getuid() != 0 {
		t.Skip("a full volume is NOT tested: mounting a small tmpfs needs root")
	}
	ctx := deadline(t)
	dir := t.TempDir()
	if err := unix.Mount("filewise-test", dir, "tmpfs", 0, "size=160m"); err != nil {
		t.Skipf("a full volume is NOT tested: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	target := filewise.Target{Engine: "postgres", Mode: filewise.Managed, Durability: filewise.DurabilityOff,
		Volumes: []filewise.Volume{{Name: "v1", Dir: dir}}}
	s, err := Engine{}.Open(ctx, target)
	must(t, err)
	defer s.Close()
	w := inserts(t, func(p *workload.Params) { p.RowBytes, p.CommitEvery = 4000, 10 })
	db := buildOn(t, ctx, s, partitions(2, 24<<20), w)
	var done int64
	err = workOne(ctx, db, 0, 0, 200000, &done)
	t.Logf("%d rows: %v", done, err)
	if !errors.Is(err, filewise.ErrSpace) {
		t.Errorf("a full volume: %v", err)
	}
}

// workIn in the environment makes the test binary a Filewise that works in that
// directory until it is killed, saying the PIDs of its servers.
const workIn = "TEST_FILEWISE_WORK_IN"

func workUntilKilled(t *testing.T, dir string) {
	ctx := t.Context()
	reg, err := scratch.Open()
	must(t, err)
	d, err := reg.Create(dir, "test")
	must(t, err)
	target := filewise.Target{Engine: "postgres", Mode: filewise.Managed, Durability: filewise.DurabilityOff,
		Volumes: []filewise.Volume{{Name: "v1", Dir: d.Path}}}
	target.OnStart = func(pid int) error { println("started", pid); return d.AddProcess(pid) }
	s := open(t, ctx, target)
	w := inserts(t, nil)
	for {
		db := buildOn(t, ctx, s, partitions(4, 1<<20), w)
		session, err := db.Connect(ctx, 0, 0)
		must(t, err)
		println("working")
		_, err = session.Do(ctx, 0, 1<<40)
		t.Fatal(err)
	}
}

// However Filewise is killed, all processes of its server are gone within 2 s, a
// busy one included, and the next start removes what they left.
func TestKilledFilewise(t *testing.T) {
	need(t)
	if dir := os.Getenv(workIn); dir != "" {
		workUntilKilled(t, dir)
	}
	dir := t.TempDir()
	t.Setenv("FILEWISE_STATE", filepath.Join(dir, "state"))
	volume := filepath.Join(dir, "v1")
	must(t, os.Mkdir(volume, 0o755))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledFilewise$")
	cmd.Env = append(os.Environ(), workIn+"="+volume)
	out, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	var pids []int
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if pid, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "started ")); err == nil {
			pids = append(pids, pid)
		}
		if lines.Text() == "working" {
			break
		}
	}
	if len(pids) == 0 {
		t.Fatal("no server was started")
	}
	cwd, err := os.Readlink("/proc/" + strconv.Itoa(pids[len(pids)-1]) + "/cwd")
	must(t, err)
	exe, err := os.Readlink("/proc/" + strconv.Itoa(pids[len(pids)-1]) + "/exe")
	must(t, err)
	if len(server.ProcessesOf(exe, cwd)) < 3 {
		t.Fatalf("processes of %s in %s: %v", exe, cwd, server.ProcessesOf(exe, cwd))
	}
	must(t, cmd.Process.Kill())
	for killed := time.Now(); len(server.ProcessesOf(exe, cwd)) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Since(killed) > 2*time.Second {
			t.Fatalf("%v run 2 s after Filewise was killed", server.ProcessesOf(exe, cwd))
		}
	}
	_ = cmd.Wait() // killed
	reg, err := scratch.Open()
	must(t, err)
	_, err = reg.Sweep(t.Context())
	must(t, err)
	if left, err := os.ReadDir(volume); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// Filewise runs as root, if the server has its own user, and as an
// ordinary user.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	need(t)
	if os.Getuid() != 0 {
		t.Skip("this is an ordinary user: all other tests are the test")
	}
	dir, err := os.MkdirTemp("", "fw")
	must(t, err)
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	must(t, err)
	text, err := os.ReadFile(exe)
	must(t, err)
	const nobody = 65534
	copied := filepath.Join(dir, "postgres.test")
	must(t, os.WriteFile(copied, text, 0o755))
	must(t, os.Chown(dir, nobody, nobody))
	cmd := exec.CommandContext(deadline(t), copied, "-test.v", "-test.run=^(TestLifecycle|TestServerKilled)$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestLifecycle") ||
		!strings.Contains(string(out), "--- PASS: TestServerKilled") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Opening that is interrupted at any moment leaves neither files nor processes,
// nor shared memory.
func TestInterruptedOpening(t *testing.T) {
	need(t)
	sharing, trying := makeTemplate, tried // no parallel test runs next to it
	makeTemplate, tried = realTemplate, func(_ *managedServer, try func() ([]filewise.Fact, error)) ([]filewise.Fact, error) { return try() }
	t.Cleanup(func() { makeTemplate, tried = sharing, trying })
	segments := func() map[string]bool {
		found, err := filepath.Glob(shm + "/PostgreSQL.*")
		must(t, err)
		all := map[string]bool{}
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) < time.Minute {
				all[path] = true
			}
		}
		return all
	}
	before := segments()
	for _, after := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, 900 * time.Millisecond} {
		target := onScratch(t, 1)
		ctx, cancel := context.WithTimeout(t.Context(), after)
		s, err := Engine{}.Open(ctx, target)
		cancel()
		if err == nil {
			must(t, s.Close())
		}
		left, err := os.ReadDir(target.Volumes[0].Dir)
		if err != nil || len(left) > 0 {
			t.Errorf("interrupted after %v, %v are left: %v", after, left, err)
		}
	}
	for path := range segments() {
		if !before[path] && !used(filepath.Base(path)) {
			t.Errorf("%s is left", path)
		}
	}
}

// used reports whether some process still has a segment of shared memory.
func used(name string) bool {
	maps, _ := filepath.Glob("/proc/[0-9]*/maps")
	for _, path := range maps {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), name) {
			return true
		}
	}
	return false
}
