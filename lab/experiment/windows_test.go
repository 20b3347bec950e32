package experiment_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
)

// levels is a workload of load levels, of two types of operations.
type levels struct {
	phased
	ledgers *[][]filewise.Ledger
}

func (w levels) Check(_ context.Context, _ filewise.Querier, phase int, ledgers []filewise.Ledger) error {
	if len(ledgers) != phase+1 || ledgers[phase].Total() == 0 {
		w.t.Errorf("after phase %d: ledgers %v", phase, ledgers)
	}
	*w.ledgers = append(*w.ledgers, ledgers)
	return nil
}

// twoTypes are arguments of two types in turn.
type twoTypes struct{}

func (twoTypes) Args(dst []any, _ int, i int64) []any { return append(dst, i) }
func (twoTypes) Pool() string                         { return "" }
func (twoTypes) TypeOf(_ int, i int64) int            { return int(i % 2) }

func levelsWorld(t *testing.T) *world {
	w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.003, Seed: 5, Throughput: func(l filewise.Layout) float64 {
		if l.Data.Files == 4 {
			return 1200
		}
		return 1000
	}})
	program := w.runner.Workload.Program()
	program.Phases = nil
	for _, n := range []int{2, 8} {
		operation := map[int]string{2: "2 users", 8: "8 users"}[n]
		program.Phases = append(program.Phases, filewise.Phase{Operation: operation, Unit: "transactions", Connections: n, Client: true,
			Types: []string{"a", "b"}, Sections: []string{"a", "b"}, Args: twoTypes{}})
	}
	w.plan.Phases = program.Operations()
	w.plan.Window, w.plan.PilotWindow = time.Second/2, time.Second/4
	w.runner.Workload = levels{phased{t, program, new([]int)}, new([][]filewise.Ledger)}
	return w
}

// Load levels are phases of a window each, after the warm-up that the pilots
// fixed, and separate operations.
func TestLevelsAreWindows(t *testing.T) {
	w := levelsWorld(t)
	trials, d := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if d.Ending != experiment.Decided || len(j.Operations) != 2 {
		t.Fatalf("%+v, %d operations", d, len(j.Operations))
	}
	for _, tr := range trials {
		want := w.plan.Window
		if tr.Cell.Pilot {
			want = w.plan.PilotWindow
		}
		for _, m := range tr.Measures {
			if m.Window[1]-m.Window[0] != want || len(m.Types) != 2 || !tr.Cell.Pilot && m.Window[0] != j.Schedule.WarmUp {
				t.Fatalf("%+v: window %v, types %v; want %v after %v", tr.Cell, m.Window, m.Types, want, j.Schedule.WarmUp)
			}
			if sum := m.Types["a"].Work + m.Types["b"].Work; sum < m.Work-1e-6 || sum > m.Work+1e-6 {
				t.Errorf("types did %v of %v", sum, m.Work)
			}
		}
		if !slices.ContainsFunc(tr.Stages, func(s filewise.Stage) bool { return s.Name == filewise.StageWarmUp }) {
			t.Errorf("the warm-up's time is not booked: %v", tr.Stages)
		}
	}
	for _, f := range j.Operations {
		if analysis, ok := f.Result.Last(); !ok || analysis.Estimates[1].Lo <= 0 {
			t.Errorf("%s: 4 files are 20 %% better: %v", f.Name, f.Sentences)
		}
	}
	if j.Measuring <= 0 {
		t.Errorf("measured for %v", j.Measuring)
	}
}
