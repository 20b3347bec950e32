package experiment_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
)

// designedWorld runs each layout some times, one layout after the other.
func designedWorld(t *testing.T, repeats int, faults ...fake.Fault) *world {
	w := newWorld(t, []int{1, 2, 4}, fake.Config{Noise: 0.01, Seed: 4, Faults: faults,
		Throughput: byFiles(map[int]float64{1: 1000, 2: 1000, 4: 1400})})
	w.plan.Window, w.plan.PilotWindow, w.plan.WarmUp, w.plan.Work = 0, 0, 0, 1<<18
	w.plan.MaxBlocks, w.plan.AsPublished = repeats, &experiment.AsPublished{Repeats: repeats, Scale: 1}
	return w
}

func places(trials []filewise.Trial) []string {
	var out []string
	for _, t := range trials {
		out = append(out, t.Cell.Layout)
	}
	return slices.Compact(out)
}

func TestAsPublishedRunsOneLayoutAfterTheOther(t *testing.T) {
	w := designedWorld(t, 5)
	trials, d := w.run(t)
	if len(trials) != 15 || !slices.Equal(places(trials), []string{"1 file", "2 files", "4 files"}) || d.Ending != experiment.Spent {
		t.Fatalf("%d trials, %v, %+v", len(trials), places(trials), d)
	}
	for i, cell := range w.plan.Trials() {
		if got := trials[i].Cell; got != cell || got.Pilot || got.Block != i%5+1 {
			t.Errorf("trial %d is %+v, planned %+v", i, got, cell)
		}
	}
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if analysis, ok := j.First().Result.Last(); !ok || analysis.Estimates[2].Lo <= 0 {
		t.Errorf("4 files are 40 %% faster, and the sound verdict on the same trials does not say so: %v", j.Sentences())
	}
}

// What comes next follows from the trials alone: a run that is cut off anywhere
// goes on with the same trial.
func TestAsPublishedResumes(t *testing.T) {
	w := designedWorld(t, 3)
	trials, _ := w.run(t)
	for n := range trials {
		if cell, d := w.plan.Next(trials[:n]); d.Ending != experiment.GoesOn || cell != trials[n].Cell {
			t.Errorf("after %d trials %+v (%+v), want %+v", n, cell, d, trials[n].Cell)
		}
	}
	if _, d := w.plan.Next(trials); d.Ending != experiment.Spent || !strings.Contains(d.Why, "all 9 runs") {
		t.Errorf("at the end: %+v", d)
	}
}

func TestAsPublishedOnceAllowsNoVerdict(t *testing.T) {
	w := designedWorld(t, 1)
	trials, _ := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := j.First().Result.Last(); ok || len(trials) != 3 ||
		!strings.HasPrefix(j.Sentences()[0], "No sound verdict is possible from this design: each layout is run once") {
		t.Errorf("%d trials, %v", len(trials), j.Sentences())
	}
}

// A run that fails is tried again at once; a layout that never works is given up,
// and the others are run and judged all the same.
func TestAsPublishedGivesUpWhatFails(t *testing.T) {
	w := designedWorld(t, 4, fake.Fault{Stage: filewise.StageBuild, Layout: "2 files"})
	trials, d := w.run(t)
	failed := 0
	for _, tr := range trials {
		if tr.State == filewise.Failed {
			failed++
		}
	}
	if failed != 3 || len(trials) != 4+3+4 || d.Ending != experiment.Spent {
		t.Fatalf("%d of %d failed, %+v", failed, len(trials), d)
	}
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if j.First().Result.Blocks != 4 || !slices.ContainsFunc(j.Warnings, func(w filewise.Warning) bool { return w.Code == "withdrawn" }) {
		t.Errorf("%d blocks are judged, want 4; warnings %+v", j.First().Result.Blocks, j.Warnings)
	}
}

func TestAsPublishedWithinABudget(t *testing.T) {
	w := designedWorld(t, 5)
	w.plan.Budget = time.Nanosecond
	if trials, d := w.run(t); len(trials) != 1 || d.Ending != experiment.Spent ||
		!strings.Contains(d.Why, "before the published design is complete") {
		t.Errorf("%d trials, %+v", len(trials), d)
	}
}

func TestShortPhasesAreListedOnce(t *testing.T) {
	w, _ := phasedWorld(t)
	w.plan.Scenario = "scan"
	trials, _ := w.run(t)
	took := func(d time.Duration, unit, operation string) {
		for i := range trials {
			for k := range trials[i].Measures {
				m := &trials[i].Measures[k]
				m.Window[1], m.Unit, m.Work = m.Window[0]+d, unit, 1
				if m.Operation != operation && operation != "" {
					m.Window[1] = m.Window[0] + time.Minute
				}
			}
		}
	}
	lasts := func() filewise.Condition {
		j, err := w.plan.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(j.Conditions, func(c filewise.Condition) bool { return c.Name == filewise.CondDuration })
		return j.Conditions[i]
	}
	took(120*time.Microsecond, "queries", "query 1")
	if got := lasts(); !got.Broken() || got.Measured != "too short to resolve: query 1 120 µs" || got.Mend != "" {
		t.Errorf("%+v", got)
	}
	w.plan.Target.Database = "shop"
	if got := lasts(); !got.Broken() || got.Mend != "" {
		t.Errorf("of a database whose rows are its owner's: %+v", got)
	}
	w.plan.Target.Database = ""
	w.plan.Params.Repeat = 3
	if got := lasts(); !got.Broken() || !strings.Contains(got.Mend, "--repeat") {
		t.Errorf("%+v", got)
	}
	// A cold query and a whole backup need more than a warm query, and the plan reports how much.
	w.plan.Params.Rows = 1000
	for _, c := range []struct {
		cache, unit, mend string
		d                 time.Duration
	}{
		{"buffer-cold", "queries", "--rows 4000 ", 5 * time.Millisecond}, {"buffer-cold", "queries", "", 25 * time.Millisecond},
		{"", "backups", "--rows", 62 * time.Millisecond}, {"", "backups", "--rows", 1900 * time.Millisecond},
		{"", "backups", "", 2 * time.Second},
	} {
		w.plan.Params.Cache, w.plan.Params.Repeat = c.cache, 0
		took(c.d, c.unit, "")
		if got := lasts(); got.OK != (c.mend == "") || !strings.Contains(got.Mend, c.mend) {
			t.Errorf("%s of %v, cache %q: %+v", c.unit, c.d, c.cache, got)
		}
	}
}
