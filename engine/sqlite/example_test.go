package sqlite

import (
	"context"
	"os"
	"strings"
	"testing"
	"text/template"
	"time"

	"filewise"
	"filewise/docs/example"
	"filewise/internal/sqlfile"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// The example of docs/adding-a-workload.md is measured by an experiment as it stands
// there: its file, its SQL, and its line in Scenarios.
func TestExampleWorkload(t *testing.T) {
	text := quoted(t, "visits.sql")
	quoted(t, "visits.go")
	sql, err := sqlfile.Parse("visits.sql", text, template.FuncMap{"ident": ident})
	must(t, err)
	workloads["visits"] = sql // as if the file were in sql/
	defer delete(workloads, "visits")
	sc := example.VisitsScenario()
	w, err := sc.New(sc.Params, 1)
	must(t, err)
	p := examplePlan(t, sc.Name, sc.NameOf, sc.Files, sc.Bytes)
	p.Params, p.Phases = sc.Params, w.Program().Operations()
	server, err := New().Open(t.Context(), p.Target)
	must(t, err)
	defer func() { must(t, server.Close()) }()
	r := experiment.Runner{Plan: p, Workload: w, Server: server, Clock: filewise.RealClock{},
		Record: func(context.Context, filewise.Trial) error { return nil }}
	trials, _, err := r.Run(t.Context(), nil)
	must(t, err)
	if len(trials) != len(sc.Files)*(1+p.MaxBlocks) {
		t.Errorf("%d trials", len(trials))
	}
	for _, trial := range trials {
		if x, ok := trial.Throughput("visits"); !ok || x <= 0 || trial.State != filewise.Done {
			t.Errorf("%+v: %s %s, %v visits a second", trial.Cell, trial.State, trial.Reason, x)
		}
	}
	if j, err := p.Judge(trials); err != nil || j.First().Result.Blocks != p.MaxBlocks {
		t.Errorf("%d blocks are judged: %v", j.First().Result.Blocks, err)
	}
}

// quoted returns a file of the example, which the documentation shows whole.
func quoted(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/example/" + name)
	must(t, err)
	page, err := os.ReadFile("../../docs/adding-a-workload.md")
	must(t, err)
	if !strings.Contains(string(page), "\n"+string(text)+"```\n") {
		t.Errorf("docs/adding-a-workload.md does not show %s as it is", name)
	}
	return string(text)
}

func examplePlan(t *testing.T, scenario string, name func(int) string, files []int, bytes int64) experiment.Plan {
	t.Helper()
	p := experiment.Plan{Scenario: scenario, Seed: 1, Window: 50 * time.Millisecond, PilotWindow: 50 * time.Millisecond,
		SliceLength: 5 * time.Millisecond,
		Margin:      2, Confidence: 0.95, Goal: verdict.GoalRecommend, MaxBlocks: verdict.FirstAnalysis, Attempts: 1,
		Target: filewise.Target{Engine: "sqlite", Mode: filewise.Embedded, Durability: filewise.DurabilityOff,
			Volumes: []filewise.Volume{{Name: "here", Dir: t.TempDir()}}}}
	for _, n := range files {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: name(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: bytes, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	p.Baseline = p.Layouts[0].Name
	return p
}
