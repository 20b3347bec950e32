package scratch

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise/internal/process"
)

func TestSweepRemovesOrphans(t *testing.T) {
	r, volume := setup(t)
	write(t, filepath.Join(volume, "mine"), "x")
	write(t, filepath.Join(volume, "filewise-user", "data"), "x")
	e := orphan(t, r, volume)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "canary"), "x")
	if err := os.Symlink(outside, filepath.Join(e.path(), "sub", "link")); err != nil {
		t.Fatal(err)
	}
	found, err := r.Leftovers(t.Context())
	if err != nil || len(found) != 1 || found[0].Path != e.path() || found[0].Kept != "" || found[0].Removed || !present(e.path()) {
		t.Fatalf("Leftovers: %+v, %v", found, err)
	}
	if l := sweepOne(t, r); !l.Removed || l.Kept != "" || l.Label != "test" {
		t.Errorf("%+v", l)
	}
	if present(e.path()) || entries(t, r) != 0 {
		t.Error("not removed")
	}
	for _, path := range []string{filepath.Join(volume, "mine"), filepath.Join(volume, "filewise-user", "data"),
		filepath.Join(outside, "canary")} {
		if !present(path) {
			t.Errorf("%s is gone", path)
		}
	}
}

// A child of a server's program that was killed with its owner writes on for a moment.
func TestSweepWhileAChildWrites(t *testing.T) {
	r, volume := setup(t)
	e := orphan(t, r, volume)
	end := time.Now().Add(300 * time.Millisecond)
	var child sync.WaitGroup
	for n := range 8 {
		child.Go(func() {
			for time.Now().Before(end) {
				_ = os.Mkdir(filepath.Join(e.path(), "sub", strconv.Itoa(n)), 0o700)
			}
		})
	}
	if l := sweepOne(t, r); !l.Removed || present(e.path()) || entries(t, r) != 0 {
		t.Errorf("%+v", l)
	}
	child.Wait()
}

// A kill may come between registering, making the directory and marking it.
func TestSweepAfterKillDuringCreate(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, entry){
		"registered only": func(*testing.T, entry) {},
		"empty":           func(t *testing.T, e entry) { mkdir(t, e.path()) },
		"mark unfinished": func(t *testing.T, e entry) { write(t, filepath.Join(e.path(), newMarkerName), `{"for`) },
	} {
		t.Run(name, func(t *testing.T) {
			r, volume := setup(t)
			e := registered(t, r, volume)
			leave(t, e)
			if l := sweepOne(t, r); !l.Removed || present(e.path()) || entries(t, r) != 0 {
				t.Errorf("%+v", l)
			}
		})
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestSweepKillAtRandomMoments(t *testing.T) {
	r, volume := setup(t)
	write(t, filepath.Join(volume, "mine"), "x")
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 30 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SCRATCH_TEST_OWNER="+volume)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + rng.IntN(4) {
			if !lines.Scan() {
				t.Fatalf("round %d: the owner ended by itself", round)
			}
		}
		if _, err := r.Sweep(t.Context()); err != nil { // the owner lives: nothing of its may go
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()
		found, err := r.Sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range found {
			if !l.Removed {
				t.Errorf("round %d: kept %s: %s", round, l.Path, l.Kept)
			}
		}
		names, err := os.ReadDir(volume)
		if err != nil || len(names) != 1 || names[0].Name() != "mine" || entries(t, r) != 0 {
			t.Fatalf("round %d: left %v, %d registrations, %v", round, names, entries(t, r), err)
		}
	}
}

func TestConcurrentSweeps(t *testing.T) {
	r, volume := setup(t)
	for range 12 {
		orphan(t, r, volume)
	}
	var sweeps sync.WaitGroup
	for range 4 {
		sweeps.Go(func() {
			found, err := r.Sweep(t.Context())
			if err != nil {
				t.Error(err)
			}
			for _, l := range found {
				if l.Kept != "" {
					t.Errorf("kept: %s", l.Kept)
				}
			}
		})
	}
	sweeps.Wait()
	if names, _ := os.ReadDir(volume); len(names) != 0 || entries(t, r) != 0 {
		t.Errorf("left %v, %d registrations", names, entries(t, r))
	}
}

func TestVolumeGone(t *testing.T) {
	r, volume := setup(t)
	e := orphan(t, r, volume)
	if err := os.Rename(volume, volume+".unmounted"); err != nil {
		t.Fatal(err)
	}
	mustKeep(t, sweepOne(t, r), "volume's directory does not exist")
	if entries(t, r) != 1 {
		t.Fatal("the registration was dropped")
	}
	if err := os.Rename(volume+".unmounted", volume); err != nil {
		t.Fatal(err)
	}
	if l := sweepOne(t, r); !l.Removed || present(e.path()) {
		t.Errorf("%+v", l)
	}
}

// An owner's lock shows whether it lives; its identity counts if there is none.
func TestOwnerElsewhere(t *testing.T) {
	r, volume := setup(t)
	d, err := r.Create(volume, "")
	must(t, err)
	living := d.entry
	living.Owner = deadOwner(t) // as it looks from another boot, or another time namespace
	must(t, r.write(living))
	if found, err := r.Sweep(t.Context()); err != nil || len(found) != 0 || !present(d.Path) {
		t.Fatalf("the directory of a living owner: %+v, %v", found, err)
	}
	must(t, d.Remove())

	e := orphan(t, r, volume)
	e.Owner.Space = "pid:[1]"
	e.Processes = []process.Identity{e.Owner}
	must(t, r.write(e))
	markerFile := filepath.Join(e.path(), markerName)
	locked, err := os.ReadFile(markerFile)
	must(t, err)
	must(t, os.WriteFile(markerFile, []byte(strings.Replace(string(locked), `,"locked":true`, "", 1)), 0o600))
	mustKeep(t, sweepOne(t, r), "another container")
	must(t, os.WriteFile(markerFile, locked, 0o600))
	if l := sweepOne(t, r); !l.Removed || present(e.path()) {
		t.Errorf("killed in another container: %+v", l)
	}
}

// What is absent because another file system is mounted, or none, is not gone.
func TestVolumeNotMounted(t *testing.T) {
	r, volume := setup(t)
	d, err := r.Create(volume, "")
	must(t, err)
	must(t, os.Rename(volume, volume+".unmounted"))
	must(t, os.Mkdir(volume, 0o700))
	if err := d.Remove(); err == nil || !strings.Contains(err.Error(), "is its file system mounted") {
		t.Errorf("removed where it was not: %v", err)
	}
	dead := d.entry
	dead.Owner = deadOwner(t)
	must(t, r.write(dead))
	mustKeep(t, sweepOne(t, r), "is its file system mounted")
	must(t, os.Remove(volume))
	must(t, os.Rename(volume+".unmounted", volume))
	if l := sweepOne(t, r); !l.Removed || present(d.Path) || entries(t, r) != 0 {
		t.Errorf("%+v", l)
	}
}

// A writer of the registry that was killed leaves no rest for good.
func TestUnfinishedEntry(t *testing.T) {
	r, _ := setup(t)
	dead := deadOwner(t)
	write(t, filepath.Join(r.dir, unfinishedName(newID(), dead)), `{"for`)
	write(t, filepath.Join(r.dir, "notes.new"), "the user's")
	if found, err := r.Leftovers(t.Context()); err != nil || len(found) != 0 || entries(t, r) != 2 {
		t.Errorf("listing: %v, %v, %d files", found, err, entries(t, r))
	}
	if found, err := r.Sweep(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	if n := entries(t, r); n != 1 {
		t.Errorf("%d files, want the user's alone", n)
	}
}

func TestLeftoverJSON(t *testing.T) {
	b, err := json.Marshal(Leftover{ID: "a", Kept: "why"})
	if err != nil || string(b) != `{"id":"a","removed":false,"kept":"why"}` {
		t.Errorf("%s, %v", b, err)
	}
}
