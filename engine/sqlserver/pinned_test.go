package sqlserver

import (
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// TestPinned: what a database would have from model, and measures another thing, is set; the
// rest is reported.
func TestPinned(t *testing.T) {
	lab := newLab(t, nil)
	s := lab.open()
	lab.build(s, layout(1), inserts(t, nil))
	set := strings.Join(lab.model.databases[lab.names()[0]].options, "\n")
	for _, want := range []string{"QUERY_STORE = OFF", "READ_COMMITTED_SNAPSHOT OFF", "ALLOW_SNAPSHOT_ISOLATION OFF",
		"AUTO_UPDATE_STATISTICS OFF", "TARGET_RECOVERY_TIME = 60 SECONDS", "PAGE_VERIFY CHECKSUM"} {
		if !strings.Contains(set, want) {
			t.Errorf("%s is not set", want)
		}
	}
	facts, err := s.Facts(t.Context())
	ok(t, err)
	for _, want := range []filewise.Fact{{Name: "compatibility level", Value: "160"}, {Name: "collation", Value: "Latin1_General_CI_AS"},
		{Name: "memory that the server aims at", Value: "16 GiB"}, {Name: "instance", Value: "DBHOST"},
		{Name: "accelerated database recovery", Value: "on"}, {Name: "trace flags", Value: "3226, 1117"}} {
		if !slices.Contains(facts, want) {
			t.Errorf("no fact %+v in %+v", want, facts)
		}
	}
}

// TestMixedPages: tables created and dropped share extents by a setting, as all did until 2016; that they usually do not, and
// what 64 warehouses change, differs from the article. First contact: SQL Server 12.
func TestMixedPages(t *testing.T) {
	sc, err := workload.Lookup("orders")
	ok(t, err)
	for value, want := range map[string]bool{"on": true, "off": false} {
		lab := newLab(t, nil)
		lab.target.Settings = map[string]string{settingMix: value}
		db := lab.build(lab.open(), layout(1), inserts(t, nil))
		if set := strings.Join(lab.model.databases[lab.names()[0]].options, "\n"); strings.Contains(set, "MIXED_PAGE_ALLOCATION ON") != want {
			t.Errorf("%s: %s", value, set)
		}
		ok(t, db.Drop(t.Context()))
	}
	differs := strings.Join(sc.On(engineName).Design.Differs, "\n")
	for _, want := range []string{"--set " + settingMix + "=on", "64 warehouses"} {
		if !strings.Contains(differs, want) {
			t.Errorf("%q is not among what differs:\n%s", want, differs)
		}
	}
}

// TestLogSize: the log does not fill up for its own sake while inserts are measured, and is
// reported if it has grown.
// First contact: SQL Server 8.
func TestLogSize(t *testing.T) {
	window, fixed := inserts(t, nil).Program(), inserts(t, nil).Program()
	fixed.WorkBytes = 100 * mib
	long := window
	long.Window = 2 * recoveryTime
	dml, err := workload.NewDML(workload.Params{Connections: 2, Rows: 10, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
		Index: workload.IndexNone}, 1)
	ok(t, err)
	for _, c := range []struct {
		p    filewise.Program
		want int64
	}{{window, 256 * mib}, {long, 256 * mib}, {fixed, 400 * mib}, {dml.Program(), 64 * mib}} {
		s, err := Engine{}.Statements(newLab(t, nil).target, layout(1), c.p)
		ok(t, err)
		if log := s.Files[len(s.Files)-1]; log.Role != filewise.RoleLog || log.Bytes != c.want {
			t.Errorf("%+v, want %d", log, c.want)
		}
		if slices.ContainsFunc(s.Warnings, func(w filewise.Warning) bool { return w.Code == "checkpoint-after-window" }) {
			t.Errorf("the drain is observed, too: %+v", s.Warnings)
		}
	}
	lab := newLab(t, nil)
	db := lab.build(lab.open(), layout(1), inserts(t, nil))
	lab.model.mu.Lock()
	files := lab.model.databases[db.Build.(*build).design.name].files
	files[len(files)-1].kb += 1024
	lab.model.mu.Unlock()
	found, err := db.Observe(t.Context())
	ok(t, err)
	if w := filewise.FillWarnings(found); len(w) != 1 || w[0].Code != "log-grew" || !strings.Contains(w[0].Message, "1.0 MiB") {
		t.Errorf("%+v", w)
	}
}
