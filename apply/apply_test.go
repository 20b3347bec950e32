package apply

import (
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/archive"
	"filewise/experiment"
	"filewise/storage"
	"filewise/store"
)

// No name, server or verdict ends a comment, and what is for later stays one.
func TestCommentsStayComments(t *testing.T) {
	evil := "a\nDROP TABLE x;\rDROP TABLE y;"
	step := filewise.MigrationStep{Title: evil, Locks: evil, Stop: evil, SQL: []string{"SELECT 1"}}
	later := filewise.MigrationStep{Title: evil, SQL: []string{"DROP TABLE \"" + evil + "\""}, Later: true}
	s := Scripts{Verdict: evil, Layout: filewise.Layout{Name: evil}, Untested: []string{evil}, Migration: filewise.Migration{Database: evil,
		Server: evil, Tables: []string{evil}, Effects: []string{evil}, Stays: []string{evil}, Client: []string{evil}, Opening: "SELECT 0;",
		Space: map[string]int64{evil: 1}, Steps: []filewise.MigrationStep{step, later}, Back: []filewise.MigrationStep{step}}}
	for _, back := range []bool{false, true} {
		text := s.Text("v", back, "there\n.sql", "back\n.sql")
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if !strings.HasPrefix(line, "-- ") && line != "SELECT 0;" && line != "SELECT 1;" {
				t.Errorf("a line that is no comment: %q", line)
			}
		}
		if top := strings.Join(strings.SplitN(text, "\n", 4)[:3], "\n"); !strings.Contains(top, "SAYS NOTHING ABOUT THIS DATABASE") {
			t.Errorf("what was not tested is not said on top:\n%s", top)
		}
	}
}

// The storage's rates are those that a run has stored, of its slowest volume.
func TestTimeByStorage(t *testing.T) {
	limit := func(read, written float64) string {
		return storage.Limit{Files: 1, Page: 4096, Measured: time.Now(), Tool: "fio", Figures: []storage.Figure{
			{Pattern: storage.SequentialRead, Bytes: read}, {Pattern: storage.SequentialWrite, Bytes: written}}}.String()
	}
	var r archive.Run
	r.Plan.Target.Volumes = []filewise.Volume{{Name: "a"}, {Name: "b"}}
	r.Machine = []filewise.Fact{{Name: "storage limit of volume a", Value: limit(2e9, 100e6)},
		{Name: "storage limit of volume b", Value: limit(1e9, 500e6)}}
	s := Scripts{}
	if s.Read, s.Written = rates(r); s.Read != 1e9 || s.Written != 100e6 {
		t.Errorf("%g and %g", s.Read, s.Written)
	}
	if text := s.time(filewise.MigrationStep{Read: 10e9, Written: 20e9}); !strings.HasPrefix(text, "3m30s at least") {
		t.Error(text)
	}
	r.Machine = r.Machine[:1]
	if s.Read, s.Written = rates(r); s.Read != 0 || !strings.Contains(s.time(filewise.MigrationStep{Read: 1}), "not known") {
		t.Errorf("%g, %s", s.Read, s.time(filewise.MigrationStep{Read: 1}))
	}
}

type digits struct{ filewise.Migrator }

func (digits) Release(version string) string { return strings.TrimPrefix(version, "server ") }

// A run says nothing of another release, of other storage or of more data.
func TestUntested(t *testing.T) {
	at := func(host string) filewise.Target { return filewise.Target{Address: &filewise.Address{Host: host}} }
	for name, c := range map[string]struct {
		host, version string
		bytes         int64
		says          string
	}{
		"same":    {"h", "server 16", 100, ""},
		"release": {"h", "server 17", 100, "on release 16, the server is 17"},
		"storage": {"g", "server 16", 100, "on the server //h"},
		"size":    {"h", "server 16", 101, "its trials had 100 B, the tables have 101 B"},
	} {
		r := archive.Run{Run: store.Run{Plan: experiment.Plan{Target: at("h")}, Server: []filewise.Fact{{Name: "version", Value: "server 16"}}},
			Trials: []filewise.Trial{{Files: []filewise.File{{Role: filewise.RoleData, Bytes: 100}, {Role: filewise.RoleLog, Bytes: 100}}}}}
		s := Scripts{target: at(c.host), Migration: filewise.Migration{Server: c.version, Bytes: c.bytes}}
		s.compare(r, digits{}, filewise.Inspection{Local: true})
		if got := strings.Join(s.Untested, "; "); got == "" != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
}

// A managed run is of this machine's storage, and of none that lies elsewhere.
func TestStorageOfManagedRun(t *testing.T) {
	var r archive.Run
	r.Plan.Target.Volumes = []filewise.Volume{{Name: "here", Dir: t.TempDir()}}
	seen := filewise.Inspection{Local: true, Places: []filewise.Place{{Path: t.TempDir()}}}
	to := filewise.Target{Address: &filewise.Address{Host: "localhost"}}
	if why := otherStorage(r, to, seen); why != "" {
		t.Error(why)
	}
	if seen.Places[0].Path = "/proc"; otherStorage(r, to, seen) == "" {
		t.Error("/proc is the storage of a volume")
	}
	if seen.Local = false; !strings.Contains(otherStorage(r, to, seen), "another machine") {
		t.Error("a server elsewhere has the storage of this machine")
	}
}
