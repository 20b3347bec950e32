package archive

import (
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/results/store"
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
	if got := differing(a, b); got != nil {
		t.Errorf("equal parameters differ: %q", got)
	}
	b.Connections, b.Rows, b.Users, b.Mode, b.Custom = 4, 0, []int{8}, "both", custom("DELETE")
	want := [][3]string{{"connections", "8", "4"}, {"custom.transactions[1].sql.[1].text", "INSERT", "DELETE"}, {"mode", "not set", "both"},
		{"rows", "1000000", "not set"}, {"users", "8 32", "8"}}
	if got := differing(a, b); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := differing(map[string]string(nil), map[string]string{"work_mem": "4MB"}); !slices.Equal(got,
		[][3]string{{"work_mem", "not set", "4MB"}}) {
		t.Errorf("%q", got)
	}
}

// For runs of two scenarios that difference alone is reported: what is measured, and by what parameters, follows.
func TestComparedScenarios(t *testing.T) {
	run := func(id int64, scenario string, connections int) Run {
		var r Run
		r.ID, r.Plan.Scenario, r.Plan.Params.Connections = id, scenario, connections
		return r
	}
	if _, err := Compare(run(1, "inserts", 16), run(2, "dml", 8), 0.95, nil); err == nil ||
		err.Error() != "runs 1 and 2 cannot be compared: they differ in scenario (inserts, dml)" ||
		filewise.RemedyOf(err) != "if you mean to measure this change, add --meant workload" {
		t.Error(err)
	}
}

// The free space on a volume differs with every run: it is shown, and not warned of.
func TestFreeSpaceIsNoWarning(t *testing.T) {
	fact := func(name, value string) store.Run {
		return store.Run{Machine: []filewise.Fact{{Name: name, Value: value}}}
	}
	for name, kind := range map[string]string{"volume here: free": Noted, "volume here: device": Refused, "kernel": Warned} {
		if got := differences(fact(name, "a"), fact(name, "b"), nil); len(got) != 1 || got[0].Kind != kind {
			t.Errorf("%s: %+v, want %s", name, got, kind)
		}
	}
}

// Whatever is refused has a name for --meant, by which it is not.
func TestWhateverIsRefusedCanBeMeant(t *testing.T) {
	facts := func(value string) (out []filewise.Fact) {
		for _, name := range []string{"cores", "memory", "memory limit of the container", "volume a: device", "volume a: file system",
			"volume a: mount options", "volume " + value + ": device"} {
			out = append(out, filewise.Fact{Name: name, Value: value})
		}
		return out
	}
	run := func(id int64, value string, n int) (r Run) {
		r.ID, r.Started = id, time.Now()
		p := &r.Plan
		p.Scenario, p.Params.Connections, p.Observe, p.Rules = value, n, map[int]string{1: "", 2: experiment.ObserveRest}[n], n+1
		p.Window, p.Preload = time.Duration(n)*time.Second, int64(n)
		p.Target = filewise.Target{Engine: value, Mode: filewise.Mode(value), Durability: filewise.Durability(value), Cores: n, Memory: int64(n),
			Settings: map[string]string{"a": value}}
		p.Layouts = []filewise.Layout{{Kind: filewise.Kind(value), Data: filewise.Spread{Bytes: int64(n)}}}
		r.Machine = append(facts(value), filewise.Fact{Name: "volume a: size", Value: map[int]string{1: "1 GiB", 2: "9 GiB"}[n]})
		r.Server = []filewise.Fact{{Name: "version", Value: value}, {Name: "work_mem", Value: value}}
		return r
	}
	a, b := run(1, "x", 1), run(2, "y", 2)
	refused := func(meant []string) (out []string) {
		for _, d := range differences(a.Run, b.Run, meant) {
			if d.Kind == Refused {
				out = append(out, d.What)
			}
		}
		return out
	}
	if left := refused(MeantNames); len(left) > 0 {
		t.Errorf("refused whatever is meant: %q", left)
	}
	all := len(refused(nil))
	for _, name := range MeantNames {
		if got := refused([]string{name}); len(got) == all {
			t.Errorf("--meant %s allows nothing of %q", name, got)
		}
	}
}

// Runs of several hosts are of several machines.
func TestHostsAreAlike(t *testing.T) {
	run := func(device string) (r HostRun) {
		r.Machine = []filewise.Fact{{Name: "volume a: device", Value: device}, {Name: "cores", Value: device}}
		return r
	}
	if differ, err := sameExperiment(run("sda"), run("sdb"), nil); err != nil || len(differ) > 0 {
		t.Errorf("%q, %v", differ, err)
	}
}

// Of several operations the headline counts layouts in each of them.
func TestHeadlineOfOperations(t *testing.T) {
	c := Comparison{Operations: []OperationChanges{{Layouts: make([]Change, 2)}, {Layouts: make([]Change, 2)}}}
	if got := c.sum(); !strings.HasPrefix(got, "of 4 results (each layout in each operation), 4 without a proven change.") {
		t.Error(got)
	}
}

// A command that a sentence offers names the run.
func TestOffersNameTheRun(t *testing.T) {
	j := experiment.Judgement{Operations: []experiment.Operation{{Sentences: []string{"To resolve 2 %: filewise resume RUN --budget 9m"}}}}
	if numbered(j, 7); j.Operations[0].Sentences[0] != "To resolve 2 %: filewise resume 7 --budget 9m" {
		t.Error(j.Operations[0].Sentences[0])
	}
}
