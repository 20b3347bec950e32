package oracle

import (
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// As published, single-row work is the article's on Oracle, and each of it is reported;
// else it waits for its commits, fetches its rows and reaches its files.
// First contact: Oracle 2, 3, 13, 16.
func TestDMLAsPublished(t *testing.T) {
	for _, published := range []bool{false, true} {
		w, err := workload.NewDML(workload.Params{Connections: 2, Rows: 100, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
			Index: workload.IndexNone, Published: published}, 7)
		if err != nil {
			t.Fatal(err)
		}
		l := smallfile(2)
		l.Data.Allocation, l.Data.Growth = filewise.Growing, mib
		script, err := Engine{}.Statements(serverTarget(), l, w.Program())
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, s := range script.Steps {
			all.WriteString(s.SQL + "\n")
		}
		for text, want := range map[string]bool{"COMMIT WRITE IMMEDIATE WAIT": !published, "COMMIT;": published, "UNIFORM SIZE 64K": !published,
			"AUTOALLOCATE": published, "PCTFREE 95 PCTUSED 5 ": !published,
			"PCTFREE 10 PCTUSED 40 ": published, "EXECUTE IMMEDIATE 'SELECT": published,
			"INTO v_int": !published, " NEXT ": !published} {
			if strings.Contains(all.String(), text) != want {
				t.Errorf("published %v: %q stands there: %v", published, text, !want)
			}
		}
		for _, w := range script.Warnings {
			if published && strings.Contains(w.Remedy, "--growth") {
				t.Errorf("%s: --as-published does not take %s", w.Code, w.Remedy)
			}
		}
		for _, code := range []string{"parse-only", "growth-not-used"} {
			if reported := slices.ContainsFunc(script.Warnings, func(w filewise.Warning) bool { return w.Code == code }); reported != published {
				t.Errorf("published %v: %s is said: %v", published, code, reported)
			}
		}
	}
	s, err := workload.Lookup("dml")
	if err != nil {
		t.Fatal(err)
	}
	differs := strings.Join(s.On("oracle").Design.Differs, "\n") // Oracle 13 and 16 of the first contact
	for _, want := range []string{"changed both columns", "FLOAT", "DBMS_RANDOM", "6265 KB", "bequeath", "as many as it needs"} {
		if !strings.Contains(differs, want) {
			t.Errorf("%q is not said to differ:\n%s", want, differs)
		}
	}
	if (Engine{}).Describe().PublishedOne != filewise.KindBigfile {
		t.Error("one file of the article was a bigfile")
	}
}
