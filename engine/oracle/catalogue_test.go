package oracle

import (
	"os"
	"slices"
	"strings"
	"testing"

	"filewise/engine/enginetest"
)

// ofContainer are the sections that ask dynamic views which report a pluggable database alone.
// Theirs is its work and its sessions; what they cannot have there is absent, or stated.
var ofContainer = []string{"capture/capture-sessions", "capture/capture-statements", "inspect/inspect-cache", "inspect/inspect-io",
	"server/access", "server/activity", "server/alive", "server/announced", "server/file-io", "server/parameters", "server/rman",
	"server/session-serial", "server/sessions-limit", "server/standby", "server/waits"}

// newer are columns that the oldest release does not have: who asks for them goes by the release.
var newer = map[string]string{"version_full": "18"}

// Every view and column that is referred to is in Oracle's reference, in the oldest release
// that the adapter takes, and granted by what `engines` lists; what is granted is referred to.
// None of these names could be misspelt unnoticed.
func TestCatalogue(t *testing.T) {
	known := enginetest.ReadCatalogue(t, "testdata/catalogue.txt")
	rights := strings.Join(Engine{}.Describe().Rights, "\n")
	needed, misspelt := map[string]bool{}, map[string]bool{}
	everyStatement(t).each(func(section, text string) {
		u := known.Use(text)
		for _, what := range u.Unknown {
			t.Errorf("section %s: unknown %s", section, what)
		}
		if !misspelt[section] {
			misspelt[section] = true
			for _, place := range known.Overlooked(text) {
				t.Errorf("section %s: a name of %s could be misspelt", section, place)
			}
		}
		for view := range u.Views {
			v := known[view]
			if v.Scope == "pdb" && strings.HasPrefix(view, "sys.v_$") && !slices.Contains(ofContainer, section) {
				t.Errorf("section %s asks %s, which tells of the pluggable database alone: is that what is meant?", section, view)
			}
			needed[v.Permission] = true
			if v.Permission != "public" && !strings.Contains(rights, v.Permission+" TO") {
				t.Errorf("%s needs a right on %s, which engines does not list", view, v.Permission)
			}
		}
		for _, c := range u.Bare() {
			if kind := known[c.View].Columns[c.Name].Of(); kind != "NUMBER" && kind != "VARCHAR2" {
				t.Errorf("section %s reads %s.%s of type %s, as no accessor does", section, c.View, c.Name, kind)
			}
		}
	})
	for view, v := range known {
		if !slices.Contains([]string{"pdb", "cdb", "session", "account"}, v.Scope) {
			t.Errorf("testdata/catalogue.txt: %s has no scope", view)
		}
		for name, c := range v.Columns {
			for _, since := range []string{v.Since, c.Since} {
				if since == "" || since == newer[name] {
					continue
				}
				if r, err := releaseOf(since + ".0"); err != nil || r[0] > oldest[0] || r[0] == oldest[0] && r[1] > oldest[1] {
					t.Errorf("%s.%s is there since %s; the adapter takes %v", view, name, since, oldest)
				}
			}
		}
	}
	given := map[string]bool{}
	for line := range strings.Lines(rights) {
		if line = strings.TrimSpace(line); given[line] {
			t.Errorf("engines lists %s twice", line)
		}
		given[line] = true
		if _, on, ok := strings.Cut(line, "GRANT SELECT ON "); ok {
			if name, _, _ := strings.Cut(on, " TO "); !needed[name] {
				t.Errorf("%s is to be granted, and nothing reads it", name)
			}
		}
	}
}

// The catalogue names the source of every view.
func TestCatalogueSources(t *testing.T) {
	text, err := os.ReadFile("testdata/catalogue.txt")
	if err != nil {
		t.Fatal(err)
	}
	comment, views, looked := "", 0, 0
	for line := range strings.Lines(string(text)) {
		switch line[0] {
		case '#':
			comment += line
			continue
		case ' ', '\n':
		default:
			views++
			if !strings.Contains(comment, "# source: ") {
				t.Errorf("%s has no source", line)
			}
			if strings.Contains(comment, "docs.oracle.com/") {
				looked++
			}
		}
		comment = ""
	}
	t.Logf("%d of %d views were looked up", looked, views)
}

// What is wrong is reported.
func TestCatalogueTells(t *testing.T) {
	known := enginetest.ReadCatalogue(t, "testdata/catalogue.txt")
	for sql, want := range map[string]string{
		"SELECT hostname FROM sys.v_$instance":                                             "column hostname",
		"SELECT s.sid FROM sys.v_$filestat s":                                              "column sid",
		"SELECT name FROM sys.v_$databases":                                                "view sys.v_$databases",
		"SELECT table_name FROM dba_tables":                                                "view dba_tables",
		"SELECT COUNT(*) FROM sys.dba_segments WHERE owner = :1 AND bytes_used > 1":        "column bytes_used",
		"SELECT f.member FROM sys.v_$log l JOIN sys.v_$logfile f ON f.group# = l.group_no": "column group_no",
	} {
		if got := strings.Join(known.Use(sql).Unknown, "; "); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	if bare := known.Use("SELECT startup_time, TO_CHAR(startup_time, 'YYYY') FROM sys.v_$instance").Bare(); len(bare) != 1 ||
		bare[0].Name != "startup_time" {
		t.Errorf("%v", bare)
	}
}
