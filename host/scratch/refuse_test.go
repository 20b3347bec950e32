package scratch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// What is not ours beyond doubt stays, whatever is in the registry.
func TestSweepRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(t *testing.T, e entry)
		reason string
	}{
		"mark of another": {func(t *testing.T, e entry) {
			b, _ := json.Marshal(marker{Format: formatVersion, ID: newID()})
			write(t, filepath.Join(e.path(), markerName), string(b))
		}, "not the registered one"},
		"mark damaged": {func(t *testing.T, e entry) { write(t, filepath.Join(e.path(), markerName), "{") }, "not the registered one"},
		"mark huge": {func(t *testing.T, e entry) {
			must(t, os.Truncate(filepath.Join(e.path(), markerName), 1<<30))
		}, "longer than"},
		"mark a link": {func(t *testing.T, e entry) {
			must(t, os.Rename(filepath.Join(e.path(), markerName), filepath.Join(e.path(), "m")))
			must(t, os.Symlink("m", filepath.Join(e.path(), markerName)))
		}, "not a regular file"},
		"mark a pipe": {func(t *testing.T, e entry) {
			must(t, os.Remove(filepath.Join(e.path(), markerName)))
			makePipe(t, filepath.Join(e.path(), markerName))
		}, "not a regular file"},
		"no mark":   {func(t *testing.T, e entry) { must(t, os.Remove(filepath.Join(e.path(), markerName))) }, "not Filewise's marker"},
		"a file":    {func(t *testing.T, e entry) { must(t, os.RemoveAll(e.path())); write(t, e.path(), "x") }, "not a directory"},
		"a symlink": {func(t *testing.T, e entry) { relink(t, e.path()) }, "not a directory"},
		"volume a symlink": {func(t *testing.T, e entry) {
			relink(t, e.Volume)
		}, "has become a symbolic link"},
		"volume's parent a symlink": {func(t *testing.T, e entry) { relink(t, filepath.Dir(e.Volume)) }, "has become a symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			r, base := setup(t)
			volume := filepath.Join(base, "disk", "volume")
			must(t, os.MkdirAll(volume, 0o700))
			e := orphan(t, r, volume)
			c.spoil(t, e)
			before := tree(t, base)
			mustKeep(t, sweepOne(t, r), c.reason)
			if after := tree(t, base); after != before {
				t.Errorf("altered:\n%s\nwas\n%s", after, before)
			}
			if entries(t, r) != 1 {
				t.Error("the registration is gone")
			}
		})
	}
}

// relink moves path aside and puts a symbolic link to it in its place.
func relink(t *testing.T, path string) {
	t.Helper()
	must(t, os.Rename(path, path+".moved"))
	must(t, os.Symlink(path+".moved", path))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree lists all paths below dir with their types.
func tree(t *testing.T, dir string) (all string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all += path + " " + d.Type().String() + "\n"
		return nil
	}))
	return all
}

// Forged registrations are reported, never acted on.
func TestForgedEntries(t *testing.T) {
	r, volume := setup(t)
	e := orphan(t, r, volume)
	change := func(f func(*entry)) string {
		c := e
		f(&c)
		b, err := json.Marshal(c)
		must(t, err)
		return string(b)
	}
	before := tree(t, volume)
	for name, content := range map[string]string{
		"empty":            "",
		"null":             "null",
		"cut":              change(func(*entry) {})[:40],
		"two values":       change(func(*entry) {}) + "{}",
		"other id":         change(func(e *entry) { e.ID = newID() }),
		"traversal":        change(func(e *entry) { e.ID = "../" + e.ID }),
		"relative volume":  change(func(e *entry) { e.Volume = "." }),
		"unclean volume":   change(func(e *entry) { e.Volume += "/../" + filepath.Base(e.Volume) }),
		"volume with NUL":  change(func(e *entry) { e.Volume += "\x00" }),
		"newer format":     change(func(e *entry) { e.Format++ }),
		"no owner":         change(func(e *entry) { e.Owner.PID = 0 }),
		"negative process": change(func(e *entry) { e.Processes = append(e.Processes, e.Owner); e.Processes[0].PID = -1 }),
		"init as process":  change(func(e *entry) { e.Processes = append(e.Processes, e.Owner); e.Processes[0].PID = 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(r.file(e.ID), []byte(content), 0o600))
			mustKeep(t, sweepOne(t, r), "not usable")
			if tree(t, volume) != before {
				t.Error("altered")
			}
		})
	}
	t.Run("a symlink", func(t *testing.T) {
		aside := filepath.Join(t.TempDir(), "entry")
		must(t, os.WriteFile(aside, []byte(change(func(*entry) {})), 0o600))
		must(t, os.Remove(r.file(e.ID)))
		must(t, os.Symlink(aside, r.file(e.ID)))
		mustKeep(t, sweepOne(t, r), "not usable")
		must(t, os.Remove(r.file(e.ID)))
	})
	t.Run("another user's", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("needs root to give a file to another user")
		}
		must(t, r.write(e))
		must(t, os.Chown(r.file(e.ID), 65534, 65534))
		mustKeep(t, sweepOne(t, r), "another user")
	})
}

func FuzzEntry(f *testing.F) {
	state := f.TempDir()
	f.Setenv("FILEWISE_STATE", state)
	r, err := Open()
	if err != nil {
		f.Fatal(err)
	}
	id := newID()
	canary := filepath.Join(state, "canary", dirPrefix+id)
	if err := os.MkdirAll(canary, 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(canary, "data"), nil, 0o600); err != nil {
		f.Fatal(err)
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		f.Fatal(err)
	}
	valid, _ := json.Marshal(entry{Format: 1, ID: id, Volume: filepath.Dir(canary)})
	f.Add(valid)
	f.Add([]byte(`{"format":1,"id":"` + id + `","volume":"` + filepath.Dir(canary) + `","owner":{"pid":1073741824}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		must(t, os.WriteFile(r.file(id), content, 0o600))
		if _, err := r.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if !present(filepath.Join(canary, "data")) {
			t.Error("an unmarked directory was removed")
		}
		if e, err := parseEntry(content, id); err == nil {
			if _, err := parseMarker(content, e); err == nil && e.ID != id {
				t.Error("another id was accepted")
			}
		}
	})
}
