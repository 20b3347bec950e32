package archive

import (
	"strings"
	"testing"

	"filewise"
	"filewise/experiment"
	"filewise/store"
	"filewise/workload"
)

// Parameters that differ are named as plans name them, and no others: no struct of Go's, and no
// address in memory, by which two runs of one custom SQL would differ.
func TestDiffering(t *testing.T) {
	custom := func(sql string) *workload.Custom {
		return &workload.Custom{Transactions: []workload.Transaction{{Name: "add", Weight: 1, SQL: workload.Script{"": {{Text: sql}}}}}}
	}
	a := workload.Params{Connections: 8, Rows: 1_000_000, Users: []int{8, 32}, Custom: custom("INSERT")}
	b := a
	b.Custom = custom("INSERT")
	if x, y := differing(a, b); x != "" || y != "" {
		t.Errorf("equal parameters differ: %q, %q", x, y)
	}
	b.Connections, b.Rows, b.Users, b.Mode, b.Custom = 4, 0, []int{8}, "both", custom("DELETE")
	x, y := differing(a, b)
	if want := "connections 8, custom.transactions[1].sql.[1].text INSERT, mode not set, rows 1000000, users 8 32"; x != want {
		t.Errorf("%q, want %q", x, want)
	}
	if want := "connections 4, custom.transactions[1].sql.[1].text DELETE, mode both, rows not set, users 8"; y != want {
		t.Errorf("%q, want %q", y, want)
	}
	if x, y = differing(map[string]string(nil), map[string]string{"work_mem": "4MB"}); x != "work_mem not set" || y != "work_mem 4MB" {
		t.Errorf("%q, %q", x, y)
	}
}

// Of runs of two scenarios that alone is said: what is measured, and by what parameters, follows.
func TestComparedScenarios(t *testing.T) {
	run := func(id int64, scenario string, connections int) Run {
		var r Run
		r.ID, r.Plan.Scenario, r.Plan.Params.Connections = id, scenario, connections
		return r
	}
	if _, err := Compare(run(1, "inserts", 16), run(2, "dml", 8), 0.95, nil); err == nil ||
		err.Error() != "runs 1 and 2 are of different things; scenario: inserts, then dml" {
		t.Error(err)
	}
}

// What is free on a volume is another with every run: it is told, and not warned of.
func TestFreeSpaceIsNoWarning(t *testing.T) {
	fact := func(name, value string) store.Run {
		return store.Run{Machine: []filewise.Fact{{Name: name, Value: value}}}
	}
	for name, kind := range map[string]string{"volume here: free": Noted, "volume here: device": Warned} {
		if got := differences(fact(name, "a"), fact(name, "b"), nil); len(got) != 1 || got[0].Kind != kind {
			t.Errorf("%s: %+v, want %s", name, got, kind)
		}
	}
}

// Of several families the headline counts layouts in each of them.
func TestHeadlineOfFamilies(t *testing.T) {
	c := Comparison{Families: []FamilyChanges{{Layouts: make([]Change, 2)}, {Layouts: make([]Change, 2)}}}
	if got := c.sum(); !strings.HasPrefix(got, "of 4 results (each layout in each family), 4 without a proven change.") {
		t.Error(got)
	}
}

// A command that a sentence offers names the run.
func TestOffersNameTheRun(t *testing.T) {
	j := experiment.Judgement{Families: []experiment.Family{{Sentences: []string{"To resolve 2 %: filewise resume RUN --budget 9m"}}}}
	if numbered(j, 7); j.Families[0].Sentences[0] != "To resolve 2 %: filewise resume 7 --budget 9m" {
		t.Error(j.Families[0].Sentences[0])
	}
}
