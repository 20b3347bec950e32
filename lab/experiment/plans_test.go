package experiment

import (
	"context"
	"errors"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// planning plans two further processes for query 4 alone.
type planning struct{ filewise.Build }

func (planning) Observe(context.Context) ([]filewise.File, error) { return nil, nil }
func (planning) parallelWorkers(_ context.Context, phase int) (int, error) {
	return map[int]int{3: 2}[phase], nil
}

// Whether the plan of a scan was parallel is recorded with it.
func TestPlansAreRecorded(t *testing.T) {
	w, err := workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	l := &life{program: w.Program(), db: &filewise.Database{Build: planning{}, ParallelWorkers: planning{}.parallelWorkers}}
	if err := l.observe(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, phase := range l.program.Phases[:4] {
		if err := l.recorded(phase, filewise.Measure{Operation: phase.Operation}); err != nil {
			t.Fatal(err)
		}
	}
	for i, m := range l.trial.Measures {
		want := filewise.Delta{Probe: filewise.ProbePlan, Name: filewise.ParallelWorkers, Unit: filewise.UnitPlanned, Value: []float64{3: 2}[i]}
		if len(m.Deltas) != 1 || m.Deltas[0] != want {
			t.Errorf("%s: %+v, want %+v", m.Operation, m.Deltas, want)
		}
	}
	l.trial = filewise.Trial{}
	l.db.ParallelWorkers = func(context.Context, int) (int, error) { return 0, errors.New("refused") }
	if err := l.observe(t.Context()); err != nil || len(l.trial.Warnings) != 1 || !strings.Contains(l.trial.Warnings[0].Message, "query 1") {
		t.Errorf("plans that cannot be read: %v, %+v", err, l.trial.Warnings)
	}
}
