package store

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise"
)

// Whatever AddTrial had returned for is there after a kill, and nothing half.
func TestKillAtRandomMoments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filewise.db")
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 40 {
		cmd := writer(path, 1_000_000)
		pipe, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		out := bufio.NewScanner(pipe)
		var run int64
		stored := 0
		read := func() bool {
			if !out.Scan() {
				return false
			}
			if strings.HasPrefix(out.Text(), "error") {
				t.Errorf("round %d: %s", round, out.Text())
			}
			fmt.Sscanf(out.Text(), "run %d", &run)
			fmt.Sscanf(out.Text(), "stored %d", &stored)
			return true
		}
		for range rng.IntN(6) { // 0: killed while the store is being made or opened
			read()
		}
		time.Sleep(time.Duration(rng.IntN(8000)) * time.Microsecond)
		cmd.Process.Kill()
		for read() {
		}
		cmd.Wait()
		checkKilled(t, path, run, stored)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

func checkKilled(t *testing.T, path string, run int64, stored int) {
	t.Helper()
	s, err := OpenExisting(t.Context(), path)
	if run == 0 && filewise.CodeOf(err) == filewise.CodeNotFound {
		return // killed before there was a store
	}
	must(t, err)
	defer s.Close()
	if run == 0 {
		return
	}
	r, err := s.Run(t.Context(), run)
	must(t, err)
	if r.State != Interrupted {
		t.Errorf("run %d is %s", run, r.State)
	}
	trials, err := s.Trials(t.Context(), run)
	must(t, err)
	// The kill may have come after the commit and before its report.
	if len(trials) != stored && len(trials) != stored+1 {
		t.Errorf("%d trials of %d", len(trials), stored)
	}
	for i, trial := range trials {
		if diff := cmp.Diff(sampleTrial(i+1), trial); diff != "" {
			t.Error(diff)
		}
	}
}

// Reading and writing from several processes at once.
func TestReadersBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filewise.db")
	cmd := writer(path, 60)
	pipe, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	out := bufio.NewScanner(pipe)
	stored := 0
	for out.Scan() {
		if strings.HasPrefix(out.Text(), "error") {
			t.Fatal(out.Text())
		}
		if n, _ := fmt.Sscanf(out.Text(), "stored %d", &stored); n != 1 {
			continue
		}
		s, err := OpenExisting(t.Context(), path)
		must(t, err)
		list, err := s.Runs(t.Context())
		if err != nil || len(list) != 1 || list[0].Trials < stored {
			t.Fatalf("after trial %d: %+v, %v", stored, list, err)
		}
		trials, err := s.Trials(t.Context(), list[0].ID)
		if err != nil || len(trials) < stored {
			t.Fatalf("after trial %d: %d, %v", stored, len(trials), err)
		}
		must(t, s.Close())
	}
	must(t, cmd.Wait())
	if stored != 60 {
		t.Errorf("%d trials were stored", stored)
	}
}

// Several processes that make the same store at once make one.
func TestConcurrentCreation(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "new", "filewise.db")
		var processes sync.WaitGroup
		for range 4 {
			processes.Go(func() {
				if out, err := writer(path, 2).Output(); err != nil || strings.Contains(string(out), "error") {
					t.Errorf("%s, %v", out, err)
				}
			})
		}
		processes.Wait()
		s, err := Open(t.Context(), path)
		must(t, err)
		list, err := s.Runs(t.Context())
		if err != nil || len(list) != 4 {
			t.Errorf("%d runs, %v", len(list), err)
		}
		must(t, s.Close())
	}
}

// A second handle of the same process must not drop the locks of the first.
func TestTwoHandlesInOneProcess(t *testing.T) {
	s := openNew(t)
	id := newRun(t, s)
	err := s.write(t.Context(), "test", func(c *sql.Conn) error {
		if _, err := c.ExecContext(t.Context(), "UPDATE runs SET why = 'x'"); err != nil {
			return err
		}
		other, err := OpenExisting(t.Context(), s.Path())
		if err != nil {
			return err
		}
		defer other.Close()
		cmd := exec.Command("sqlite3", s.Path(), "BEGIN IMMEDIATE; ROLLBACK")
		if _, err := exec.LookPath("sqlite3"); err != nil {
			t.Skip("needs the command sqlite3, for a process that does not share this one's locks")
		}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "locked") {
			return fmt.Errorf("the write lock is lost: %s, %w", out, err)
		}
		return nil
	})
	must(t, err)
	must(t, s.Finish(t.Context(), id, Outcome{State: Done}))
}

func TestFullStorage(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("needs the right to mount: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	s, err := Open(t.Context(), filepath.Join(dir, "filewise.db"))
	must(t, err)
	defer s.Close()
	id := newRun(t, s)
	stored := 0
	for stored < 1000 && err == nil {
		if err = s.AddTrial(t.Context(), id, sampleTrial(stored+1)); err == nil {
			stored++
		}
	}
	if filewise.CodeOf(err) != filewise.CodeStore || !strings.Contains(err.Error(), "storage is full") ||
		!strings.Contains(filewise.RemedyOf(err), "free space there and give the command again") {
		t.Fatalf("%v (%s)", err, filewise.RemedyOf(err))
	}
	check := func(want int) {
		t.Helper()
		trials, err := s.Trials(t.Context(), id)
		if err != nil || len(trials) != want || stored == 0 {
			t.Fatalf("%d trials of %d, %v", len(trials), want, err)
		}
	}
	check(stored)
	must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=8m"))
	must(t, s.AddTrial(t.Context(), id, sampleTrial(stored+1)))
	check(stored + 1)
}

// A full storage from the start leaves an error, and a store once there is space.
func TestCreateOnFullStorage(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		t.Skipf("needs the right to mount: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	path := filepath.Join(dir, "filewise.db")
	if _, err := Open(t.Context(), path); filewise.CodeOf(err) != filewise.CodeStore || filewise.RemedyOf(err) == "" {
		t.Errorf("%v", err)
	}
	must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=8m"))
	s, err := Open(t.Context(), path)
	must(t, err)
	newRun(t, s)
	must(t, s.Close())
}

// A store that may only be read can be read, and reports why it cannot be written.
func TestReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		asNobody(t)
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "filewise.db")
	must(t, os.WriteFile(path, sampleStore(t), 0o444))
	must(t, os.Chmod(dir, 0o555))
	defer os.Chmod(dir, 0o755)
	s, err := OpenExisting(t.Context(), path)
	must(t, err)
	defer s.Close()
	if list, err := s.Runs(t.Context()); err != nil || len(list) != 1 || list[0].Trials != 8 {
		t.Errorf("%+v, %v", list, err)
	}
	_, err1 := s.CreateRun(t.Context(), Run{Plan: samplePlan()})
	_, err2 := Open(t.Context(), filepath.Join(dir, "new.db"))
	_, err3 := Open(t.Context(), filepath.Join(dir, "sub", "new.db"))
	must(t, os.Chmod(path, 0))
	_, err4 := OpenExisting(t.Context(), path)
	for i, err := range []error{err1, err2, err3, err4} {
		if filewise.CodeOf(err) != filewise.CodeStore || !strings.Contains(filewise.RemedyOf(err), "--store") {
			t.Errorf("%d: %v (%s)", i+1, err, filewise.RemedyOf(err))
		}
	}
}

// asNobody runs the test again as a user that permissions hold for.
func asNobody(t *testing.T) {
	dir, err := os.MkdirTemp("/var/tmp", "filewise-test-")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o777))
	b, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "test"), b, 0o755))
	cmd := exec.Command(filepath.Join(dir, "test"), "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, []string{"TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

// Ctrl-C ends the run's context; the trial that was finished is kept.
func TestRecordAfterCtrlC(t *testing.T) {
	s := openNew(t)
	id := newRun(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, s.Recorder(id).Record(ctx, sampleTrial(1)))
	if err := s.AddTrial(ctx, id, sampleTrial(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("AddTrial: %v", err)
	}
	if trials, err := s.Trials(t.Context(), id); err != nil || len(trials) != 1 {
		t.Errorf("%d trials, %v", len(trials), err)
	}
}

// A store that another process keeps locked for longer than a statement waits costs no trial; one that is damaged in
// mid-run is reported when the run ends.
func TestLockedAndDamagedInMidRun(t *testing.T) {
	s := openNew(t)
	id := newRun(t, s)
	_, err := s.db.Exec("PRAGMA busy_timeout = 50") // and the pool has one connection while nothing else runs
	must(t, err)
	locked, unlock := make(chan struct{}), make(chan struct{})
	other, err := Open(t.Context(), s.Path())
	must(t, err)
	defer other.Close()
	held := make(chan error, 1)
	go func() {
		held <- other.write(t.Context(), "test", func(*sql.Conn) error { close(locked); <-unlock; return nil })
	}()
	<-locked
	recorded := make(chan error, 1)
	go func() { recorded <- s.Recorder(id).Record(t.Context(), sampleTrial(1)) }()
	select {
	case err := <-recorded:
		t.Errorf("recorded while the store was locked: %v", err)
	case <-time.After(300 * time.Millisecond): // six times what a statement waits
	}
	close(unlock)
	must(t, <-held)
	must(t, <-recorded)

	f, err := os.OpenFile(s.Path(), os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt(make([]byte, 8192), 8192)
	must(t, err)
	must(t, f.Close())
	if err := s.Finish(t.Context(), id, Outcome{State: Done}); filewise.CodeOf(err) != filewise.CodeStore {
		t.Errorf("the end of a run in a damaged store: %v", err)
	}
}
