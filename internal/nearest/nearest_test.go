package nearest

import (
	"testing"

	"filewise"
)

func TestName(t *testing.T) {
	engines := []string{"sqlite", "mariadb", "fake"}
	files := []string{"1 file", "2 files", "4 files", "16 files"}
	flags := []string{"budget", "seed", "set", "size", "table", "window"}
	for _, c := range []struct {
		given string
		known []string
		want  string
	}{
		{"sqlite3", engines, "sqlite"}, {"SQLITE", engines, "sqlite"}, {"mariabd", engines, "mariadb"}, {"fak", engines, "fake"},
		{"oracle", engines, ""}, {"postgresql", engines, ""}, {"x", engines, ""}, {"", engines, ""}, {"x", nil, ""},
		{"ÄÖÜ", engines, ""}, // as many edits as letters, though fewer than bytes
		{"2 file", files, "2 files"}, {"16 file", files, "16 files"}, {"1 files", files, "1 file"},
		{"widnow", flags, "window"}, {"sead", flags, "seed"}, {"sett", flags, "set"}, {"colour", flags, ""}, {"q", flags, ""},
		{"grow", []string{"preallocated", "growing"}, "growing"}, {"win", flags, "window"}, {"wi", flags, ""},
		{"cat", []string{"bat", "cats", "cap"}, "cats"}, // equally near: the longest common start
		{"cat", []string{"bats", "bat"}, "bat"},         // the nearer one, though it is later
		{"act", []string{"xacts", "xac"}, "xac"},        // equally near, no common start: the same length
		{"beside", []string{"size", "concurrent-load"}, "concurrent-load"}, {"beside", flags, "size"},
	} {
		if got := Name(c.given, c.known); got != c.want {
			t.Errorf("Name(%q, %q) = %q, want %q", c.given, c.known, got, c.want)
		}
	}
}

func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		given string
		known []string
		want  string
	}{
		{"fak", []string{"sqlite", "fake"}, `did you mean "fake"? Known: sqlite, fake`},
		{"oracle", []string{"sqlite", "fake"}, "known: sqlite, fake"},
		{"oracle", []string{"sqlite"}, `use "sqlite", the only one there is`},
		{"oracle", nil, ""},
	} {
		if got := Remedy(c.given, c.known); got != c.want {
			t.Errorf("Remedy(%q, %q) = %q, want %q", c.given, c.known, got, c.want)
		}
	}
	if err := Unknown("engine", "oracle", []string{"sqlite", "fake"}); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("%v is no usage error", err)
	}
}
