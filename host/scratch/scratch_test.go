package scratch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
)

func TestCreateAndRemove(t *testing.T) {
	r, volume := setup(t)
	d, err := r.Create(volume, "inserts")
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(d.Path) != volume || filepath.Base(d.Path) != "filewise-"+d.ID {
		t.Errorf("path %s", d.Path)
	}
	if info, err := os.Stat(d.Path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if b, err := os.ReadFile(filepath.Join(d.Path, ".filewise-mark")); err != nil || !strings.Contains(string(b), d.ID) {
		t.Errorf("mark %q, %v", b, err)
	}
	if found, err := r.Sweep(t.Context()); err != nil || len(found) != 0 {
		t.Errorf("a live owner's directory was swept: %+v, %v", found, err)
	}
	write(t, filepath.Join(d.Path, "a", "b"), "x")
	for range 2 {
		if err := d.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	if present(d.Path) || entries(t, r) != 0 || !present(volume) {
		t.Error("something is left, or too much is gone")
	}
}

func TestCreateInSymlinkedVolume(t *testing.T) {
	r, volume := setup(t)
	link := filepath.Join(t.TempDir(), "data")
	if err := os.Symlink(volume, link); err != nil {
		t.Fatal(err)
	}
	d, err := r.Create(link, "")
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(d.Path) != volume {
		t.Errorf("%s is not in %s", d.Path, volume)
	}
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
}

func TestCreateFails(t *testing.T) {
	r, volume := setup(t)
	file := filepath.Join(volume, "file")
	write(t, file, "x")
	for _, dir := range []string{filepath.Join(volume, "absent"), file} {
		_, err := r.Create(dir, "")
		if filewise.CodeOf(err) != filewise.CodePreflight || filewise.RemedyOf(err) == "" || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if os.Geteuid() != 0 { // root may write everywhere
		closed := filepath.Join(volume, "closed")
		must(t, os.Mkdir(closed, 0o100))
		if _, err := r.Create(closed, ""); filewise.CodeOf(err) != filewise.CodePreflight {
			t.Errorf("a directory that may not be read: %v", err)
		}
	}
	if n := entries(t, r); n != 0 {
		t.Errorf("%d registrations are left", n)
	}
}

func TestRemoveWhenTheDirectoryIsGone(t *testing.T) {
	r, volume := setup(t)
	d, err := r.Create(volume, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(d.Path); err != nil {
		t.Fatal(err)
	}
	if err := d.Remove(); err != nil || entries(t, r) != 0 {
		t.Errorf("%v, %d registrations", err, entries(t, r))
	}
}

func TestStateDir(t *testing.T) {
	for _, c := range []struct{ state, xdg, home, want string }{
		{"/s", "/x", "/h", "/s"},
		{"", "/x", "/h", "/x/filewise"},
		{"", "relative", "/h", "/h/.local/state/filewise"},
		{"", "", "/h", "/h/.local/state/filewise"},
		{"", "", "", ""},
	} {
		t.Setenv("FILEWISE_STATE", c.state)
		t.Setenv("XDG_STATE_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		got, err := StateDir()
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
		if c.want == "" {
			_, err := Open()
			if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), "FILEWISE_STATE") {
				t.Errorf("without any: %v", err)
			}
		}
	}
}

func TestNothingToSweep(t *testing.T) {
	r, _ := setup(t)
	if found, err := r.Sweep(t.Context()); err != nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
	if present(r.dir) {
		t.Error("a sweep made the registry")
	}
}

func BenchmarkSweepNothing(b *testing.B) {
	b.Setenv("FILEWISE_STATE", b.TempDir())
	for b.Loop() {
		r, err := Open()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Sweep(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
