package nearest

import "testing"

func TestName(t *testing.T) {
	known := []string{"sqlite", "mariadb", "fake"}
	for given, want := range map[string]string{
		"sqlite3": "sqlite", "SQLITE": "sqlite", "mariabd": "mariadb", "fak": "fake",
	} {
		if got := Name(given, known); got != want {
			t.Errorf("Name(%q) = %q, want %q", given, got, want)
		}
	}
	if got := Name("x", nil); got != "" {
		t.Errorf("Name of nothing known = %q, want nothing", got)
	}
}
