package experiment_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/drive"
	"filewise/lab/experiment"
)

// stillDrivers are drivers of a fake server on whose machine something stands still now and then.
type stillDrivers struct {
	still func(n int, s experiment.Share) drive.Still
	n     int
}

// Drive implements experiment.Drivers by driving its own sessions.
func (d *stillDrivers) Drive(_ context.Context, s experiment.Share) (drive.Result, error) {
	d.n++
	work := 1000.0
	return drive.Result{Still: d.still(d.n, s), Ledger: make(filewise.Ledger, len(s.Sessions)), Measure: filewise.Measure{
		Window: [2]time.Duration{s.WarmUp, s.WarmUp + s.Window}, Work: work, SliceLength: s.SliceLength, Slices: []int64{}}}, nil
}

// Await implements experiment.Drivers.
func (d *stillDrivers) Await(context.Context, func(string)) error { return nil }

func stillWorld(t *testing.T, still func(n int, s experiment.Share) drive.Still) *world {
	w := newWorld(t, []int{1, 4}, fake.Config{})
	w.plan.MaxBlocks = 6
	w.runner.Drivers = &stillDrivers{still: still}
	return w
}

func warnings(t *testing.T, w *world, trials []filewise.Trial) string {
	t.Helper()
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, x := range j.Warnings {
		all = append(all, x.Code+": "+x.Message)
	}
	return strings.Join(all, "\n")
}

// A trial in which the machine stood still does not count, is measured again, and the first warning counts it. One
// in which it stood still for less than a twentieth of the window counts.
func TestMachineStoodStill(t *testing.T) {
	w := stillWorld(t, func(n int, _ experiment.Share) drive.Still {
		return map[int]drive.Still{5: {Machine: 2 * time.Second}, 7: {Machine: 90 * time.Millisecond}}[n]
	})
	trials, _ := w.run(t)
	void := 0
	for i, tr := range trials {
		if experiment.Void(tr) {
			void++
			if again := trials[i+1:]; len(again) == 0 || len(tr.Measures) == 0 || tr.Remedy != "" {
				t.Errorf("void: %+v", tr)
			}
		}
	}
	if got := warnings(t, w, trials); void != 1 ||
		!strings.HasPrefix(got, "stood-still: This machine stood still in 1 trial, which do not count") ||
		strings.Contains(got, "failed-trials") {
		t.Errorf("%d void; warnings:\n%s", void, got)
	}
}

// If one layout has clearly more void trials, none is void, and the first warning names it.
func TestStandsStillWithOneLayout(t *testing.T) {
	w := stillWorld(t, func(_ int, s experiment.Share) drive.Still {
		if s.Layout.Name == "4 files" {
			return drive.Still{Machine: time.Second}
		}
		return drive.Still{}
	})
	w.plan.Layouts = append(w.plan.Layouts, w.plan.Layouts[0], w.plan.Layouts[0])
	for i, name := range []string{"2 files", "8 files"} {
		w.plan.Layouts[2+i].Name, w.plan.Layouts[2+i].Rank = name, 10+i
	}
	trials, d := w.run(t)
	if got := warnings(t, w, trials); d.Ending == experiment.Broken ||
		!strings.HasPrefix(got, "stood-still: This machine stood still clearly more often with 4 files") {
		t.Errorf("%v; warnings:\n%s", d, got)
	}
	for _, tr := range trials {
		if tr.Cell.Layout == "4 files" && tr.Cell.Attempt > 4 {
			t.Errorf("attempt %d of block %d", tr.Cell.Attempt, tr.Cell.Block)
		}
	}
}

// A machine that stands still in every trial ends the run, which can be resumed.
func TestStandsStillAlways(t *testing.T) {
	w := stillWorld(t, func(int, experiment.Share) drive.Still { return drive.Still{Machine: time.Second} })
	w.runner.Plan = w.plan
	trials, d, err := w.runner.Run(t.Context(), nil)
	if filewise.CodeOf(err) != filewise.CodeStopped || d.Ending != experiment.GoesOn || !strings.Contains(filewise.RemedyOf(err), "resume") {
		t.Errorf("%v, %v", d, err)
	}
	if last := trials[len(trials)-1]; last.Cell.Attempt != 4 {
		t.Errorf("ended at attempt %d", last.Cell.Attempt)
	}
}

// A server that did nothing counts, with its length and block among the first lines; if a process of it was stopped,
// the trial is void once.
func TestServerDidNothing(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		w := stillWorld(t, func(n int, s experiment.Share) drive.Still {
			if n >= 5 && s.Layout.Name == "4 files" {
				return drive.Still{Server: 1500 * time.Millisecond, Stopped: stopped}
			}
			return drive.Still{}
		})
		trials, d := w.run(t)
		void := 0
		for _, tr := range experiment.Counted(trials) {
			if experiment.Void(tr) {
				if void++; tr.Cell.Attempt != 1 {
					t.Errorf("void at attempt %d", tr.Cell.Attempt)
				}
			}
		}
		got := warnings(t, w, trials)
		if (void > 0) != stopped || d.Ending == experiment.Broken || !strings.Contains(got, "The server did nothing for 1.5 s in block ") ||
			!strings.Contains(got, "(4 files); the trial counts") {
			t.Errorf("stopped %v: %d void, %v; warnings:\n%s", stopped, void, d, got)
		}
	}
}
