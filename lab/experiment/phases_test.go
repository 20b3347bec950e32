package experiment_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// phased is a workload of two work phases on loaded data, a backup and its restore; it checks against the driver's
// ledgers.
type phased struct {
	t       *testing.T
	program filewise.Program
	checked *[]int
}

func (w phased) Program() filewise.Program { return w.program }

func (w phased) Check(_ context.Context, _ filewise.Querier, phase int, ledgers []filewise.Ledger) error {
	*w.checked = append(*w.checked, phase)
	if p := w.program.Phases[phase]; p.Act == filewise.ActWork && ledgers[phase].Total() != p.Ops {
		w.t.Errorf("phase %d did %d operations, want %d", phase, ledgers[phase].Total(), p.Ops)
	}
	return nil
}

func (w phased) Data() []filewise.TableData {
	none := func(int64, filewise.RowWriter) error { return nil }
	return []filewise.TableData{{Table: "a", Batches: 3, Write: none}, {Table: "b", Batches: 1, Write: none}}
}

// phasedWorld is a world whose backups are faster with 4 files and whose work is not.
func phasedWorld(t *testing.T, faults ...fake.Fault) (*world, *[]int) {
	w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.003, Seed: 5, Faults: faults,
		Life: func(l filewise.Layout, operation string) time.Duration {
			if operation == workload.OperationBackup && l.Data.Files == 4 {
				return 50 * time.Millisecond
			}
			return 100 * time.Millisecond
		}})
	program := w.runner.Workload.Program()
	program.ReadOnly = true
	program.Phases = []filewise.Phase{
		{Operation: "query 1", Unit: "queries", Connections: 1, Ops: 40, Client: true},
		{Operation: "query 2", Unit: "queries", Connections: 2, Ops: 100, Discard: 1},
		{Operation: workload.OperationBackup, Unit: "backups", Act: filewise.ActBackup, Ops: 1},
		{Operation: workload.OperationRestore, Unit: "restores", Act: filewise.ActRestore, Ops: 1},
	}
	w.plan.Phases, w.plan.Overall = program.Operations(), true
	w.plan.Window, w.plan.PilotWindow, w.plan.Builds = 0, 0, 2
	checked := new([]int)
	w.runner.Workload = phased{t, program, checked}
	return w, checked
}

func TestPhasesAreJudgedByOperation(t *testing.T) {
	w, checked := phasedWorld(t)
	trials, d := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Operations) != 5 || d.Ending != experiment.Decided {
		t.Fatalf("%d operations, %+v; want two queries, backup, restore and all together, decided", len(j.Operations), d)
	}
	for _, f := range j.Operations {
		analysis, ok := f.Result.Last()
		if !ok {
			t.Fatalf("%s: no analysis", f.Name)
		}
		planted := f.Name == workload.OperationBackup || f.Name == experiment.OperationOverall
		if better := analysis.Estimates[1].Lo > 0; better != planted {
			t.Errorf("%s: 4 files are better: %v; planted: the backup (%v)", f.Name, better, f.Sentences)
		}
	}
	if !slices.Equal((*checked)[:6], []int{0, 1, 2, 0, 1, 2}) {
		t.Errorf("checked after phases %v; the engine itself verifies a restore", (*checked)[:6])
	}
	if w.engine.Builds() != 4 || w.engine.Undropped() != 0 {
		t.Errorf("%d builds of 2 layouts with 2 builds each, %d left: read-only builds are used again", w.engine.Builds(), w.engine.Undropped())
	}
	for _, m := range trials[len(trials)-1].Measures[2:] {
		if took := m.Window[1]; took > 300*time.Millisecond {
			t.Errorf("%s took %v: what is beside the statement is counted", m.Operation, took)
		}
	}
	if last := trials[len(trials)-1]; last.Build == "" || len(last.Measures) != 4 || len(last.Final) < 2 {
		t.Errorf("%+v", last)
	}
}

// Work during a backup has a window, and takes turns with it: only the work is warmed up, since a backup has no connections.
func TestBackupsTakeTurnsWithWork(t *testing.T) {
	w := newInterleaved(t, []int{1, 4}, fake.Config{Noise: 0.003, Seed: 5})
	w.plan.Interleaved, w.plan.MaxBlocks, w.plan.Builds = true, 3, 0
	program := w.runner.Workload.Program()
	program.ReadOnly = true
	program.Phases = []filewise.Phase{
		{Operation: workload.OperationForeground, Unit: "updates", Connections: 1},
		{Operation: workload.OperationBackup, Unit: "backups", Connections: 1, Act: filewise.ActBackup, Ops: 1},
		{Operation: workload.OperationRestore, Unit: "restores", Connections: 1, Act: filewise.ActRestore, Ops: 1},
	}
	w.plan.Phases = program.Operations()
	w.runner.Workload = unchecked{phased{t, program, new([]int)}}
	trials, _ := w.run(t)
	for _, x := range trials {
		if x.State != filewise.Done {
			t.Errorf("%+v: %s", x.Cell, x.Reason)
		}
	}
}

// unchecked is a workload whose data are not checked.
type unchecked struct{ phased }

func (unchecked) Check(context.Context, filewise.Querier, int, []filewise.Ledger) error { return nil }

func TestLostConnectionWhileLoading(t *testing.T) {
	for _, class := range []filewise.Class{filewise.ClassConnection, filewise.ClassDeadlock} {
		w, _ := phasedWorld(t, fake.Fault{Stage: filewise.StageLoad, Times: 2, Err: &filewise.Classed{Class: class, Err: fake.ErrPlanted}})
		if trials, _ := w.run(t); trials[0].State != filewise.Done {
			t.Errorf("a batch that failed by %s was not loaded again: %s", class, trials[0].Reason)
		}
	}
	w, _ := phasedWorld(t, fake.Fault{Stage: filewise.StageLoad, Times: 1})
	if trials, _ := w.run(t); trials[0].State != filewise.Failed {
		t.Error("a batch that failed for another reason was dropped in silence")
	}
}
