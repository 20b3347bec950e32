package scratch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filewise/internal/process"
)

// TestMain lets tests run this binary as an owner that can be killed.
func TestMain(m *testing.M) {
	if volume := os.Getenv("SCRATCH_TEST_OWNER"); volume != "" {
		own(volume)
	}
	os.Exit(m.Run())
}

// own makes and removes scratch directories until it is killed.
func own(volume string) {
	r, err := Open()
	for i := 0; err == nil; i++ {
		var d *Dir
		if d, err = r.Create(volume, "test"); err != nil {
			break
		}
		for j := range 3 {
			sub := filepath.Join(d.Path, fmt.Sprint("shard", j))
			err = os.MkdirAll(sub, 0o700)
			if err == nil {
				err = os.WriteFile(filepath.Join(sub, "data.db"), make([]byte, 5000), 0o600)
			}
			if err != nil {
				break
			}
		}
		fmt.Println(d.Path)
		if err == nil && i%2 == 1 {
			err = d.Remove()
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// setup gives the test a state directory and a separate volume.
func setup(t *testing.T) (*Registry, string) {
	t.Helper()
	t.Setenv("FILEWISE_STATE", t.TempDir())
	r, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	volume, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return r, volume
}

// deadOwner is the identity of a process that has ended.
func deadOwner(t *testing.T) process.Identity {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := process.Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	return id
}

// orphan makes a scratch directory whose owner is dead, with some content.
func orphan(t *testing.T, r *Registry, volume string) entry {
	t.Helper()
	e := registered(t, r, volume)
	life, err := makeMarked(e)
	if err != nil {
		t.Fatal(err)
	}
	life.Close()
	write(t, filepath.Join(e.path(), "sub", "deep", "data.db"), "data")
	return e
}

// registered is an entry of a dead owner without its directory.
func registered(t *testing.T, r *Registry, volume string) entry {
	t.Helper()
	e := entry{Format: formatVersion, ID: newID(), Volume: volume, Label: "test", Created: time.Now().UTC(), Owner: deadOwner(t)}
	if err := r.write(e); err != nil {
		t.Fatal(err)
	}
	return e
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func present(path string) bool { _, err := os.Lstat(path); return err == nil }

// entries counts the registry's files, unfinished files included.
func entries(t *testing.T, r *Registry) int {
	t.Helper()
	files, err := os.ReadDir(r.dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(files)
}

// sweepOne sweeps and expects exactly one leftover.
func sweepOne(t *testing.T, r *Registry) Leftover {
	t.Helper()
	found, err := r.Sweep(t.Context())
	if err != nil || len(found) != 1 {
		t.Fatalf("Sweep: %+v, %v; want one leftover", found, err)
	}
	return found[0]
}

func mustKeep(t *testing.T, l Leftover, reason string) {
	t.Helper()
	if l.Removed || !strings.Contains(l.Kept, reason) {
		t.Errorf("removed %v, kept because %q; want a reason with %q", l.Removed, l.Kept, reason)
	}
}
