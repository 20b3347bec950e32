package experiment_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// climber is a run of two layouts of 1 MiB that is about files if the data are four times the memory; the number of
// warehouses sets the amount of data. A build takes a tenth of a second.
func climber(t *testing.T, memory int64, throughput map[int]float64, faults ...fake.Fault) *world {
	w := newInterleaved(t, []int{1, 2}, fake.Config{Faults: faults, Noise: 0.01, Seed: 3, Throughput: byFiles(throughput),
		Stages: map[string]time.Duration{filewise.StageBuild: 100 * time.Millisecond}})
	w.plan.Scenario, w.plan.Target.Memory, w.plan.Params.Warehouses = workload.OperationOrders, memory, 1
	w.plan.Phases = []string{workload.OperationInserts}
	w.plan.Ladder = &experiment.Ladder{Data: "warehouses", Size: true}
	w.plan.Budget, w.plan.MaxBlocks = 20*time.Minute, 3
	w.runner.Redesign = func(_ context.Context, p experiment.Plan) (bool, error) {
		w.plan = p
		return true, nil
	}
	return w
}

// rungs are the options of the designs that a plan came to, and what its conditions are in the end.
func rungs(t *testing.T, p experiment.Plan, trials []filewise.Trial) (out []string, reads filewise.Condition, j experiment.Judgement) {
	t.Helper()
	for _, r := range p.Rungs {
		out = append(out, strings.Join(r.Options, " "))
	}
	j, err := p.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(j.Conditions, func(c filewise.Condition) bool { return c.Name == filewise.CondReads })
	return out, j.Conditions[i], j
}

func TestLadder(t *testing.T) {
	for name, x := range map[string]struct {
		memory int64
		want   []string
		holds  bool
	}{
		"no rung is needed": {200 << 10, nil, true},
		"one rung":          {10 << 20, []string{"--warehouses 48 --size 48MiB"}, true},
		"three rungs": {40 << 30, []string{"--warehouses 64 --size 64MiB", "--warehouses 4096 --size 4096MiB",
			"--warehouses 196608 --size 196608MiB"}, true},
		"none": {1 << 40, []string{"--warehouses 64 --size 64MiB", "--warehouses 4096 --size 4096MiB",
			"--warehouses 262144 --size 262144MiB"}, false},
	} {
		for _, faster := range []map[int]float64{{1: 1000, 2: 500}, {1: 1000, 2: 2000}} {
			w := climber(t, x.memory, faster)
			trials, _ := w.run(t)
			got, reads, j := rungs(t, w.plan, trials)
			if !slices.Equal(got, x.want) || reads.OK != x.holds {
				t.Errorf("%s: %q, %+v; want %q", name, got, reads, x.want)
			}
			warned := slices.ContainsFunc(j.Warnings, func(v filewise.Warning) bool {
				return v.Code == "conditions" && strings.Contains(v.Remedy, "--warehouses")
			})
			if warned == x.holds {
				t.Errorf("%s: warnings %+v", name, j.Warnings)
			}
			if n := j.First().Result.Blocks; n != 3 || w.engine.Undropped() != 0 {
				t.Errorf("%s: %d blocks, %d builds are left", name, n, w.engine.Undropped())
			}
		}
	}
}

// A run that was ended anywhere goes on with its design, and comes to the same one.
func TestLadderIsResumed(t *testing.T) {
	w := climber(t, 256<<20, map[int]float64{1: 1000, 2: 1000})
	trials, _ := w.run(t)
	want, _, whole := rungs(t, w.plan, trials)
	pilots := 0
	for _, tr := range trials {
		if tr.Cell.Pilot {
			pilots++
		}
	}
	if pilots != 2*3 || len(want) != 2 {
		t.Fatalf("%d pilots, %q", pilots, want)
	}
	for cut := range pilots + 1 {
		again := climber(t, 256<<20, map[int]float64{1: 1000, 2: 1000})
		for pilots := 2; cut >= pilots; pilots += 2 { // what is stored by then: the design that comes next
			next, ok := again.plan.Climb(trials[:pilots])
			if !ok {
				break
			}
			again.plan = next
		}
		got, _ := again.run(t, trials[:cut]...)
		options, _, j := rungs(t, again.plan, got)
		if !slices.Equal(options, want) || len(got) != len(trials) || j.Elapsed < 9*whole.Elapsed/10 {
			t.Errorf("after %d trials: %q with %d trials in %v; want %q, %d, %v",
				cut, options, len(got), j.Elapsed, want, len(trials), whole.Elapsed)
		}
	}
}

// A rung's builds take no more than their part of the budget, and none is tried late.
func TestLadderKeepsToTheBudget(t *testing.T) {
	w := climber(t, 4<<30, map[int]float64{1: 1000, 2: 1000})
	w.plan.Budget = 24 * time.Second // a twelfth is ten times the builds of the pilots
	trials, _ := w.run(t)
	if got, _, _ := rungs(t, w.plan, trials); len(got) == 0 || got[0] != "--warehouses 10 --size 10MiB" {
		t.Errorf("%q", got)
	}
	for _, none := range []struct {
		budget time.Duration
		most   int64
		why    string
	}{
		{5 * time.Second, 0, "the pilots took more than a third of the budget"},
		{20 * time.Minute, 1 << 20, "a run may load 1.0 MiB at most"},
	} {
		w = climber(t, 4<<30, map[int]float64{1: 1000, 2: 1000})
		w.plan.Budget, w.plan.Ladder.MostBytes = none.budget, none.most
		trials, _ = w.run(t)
		got, reads, j := rungs(t, w.plan, trials)
		i := slices.IndexFunc(j.Warnings, func(x filewise.Warning) bool { return x.Code == "conditions" })
		if len(got) != 0 || reads.OK || i < 0 || !strings.Contains(j.Warnings[i].Message, "More --warehouses were not tried: "+none.why) {
			t.Errorf("%v: %q, %+v, %+v", none.budget, got, reads, j.Warnings)
		}
	}
}

// If no rung holds, the warning of what it would take stands while two thirds of the budget are left, and stays.
func TestWhatItWouldTakeIsSaidEarly(t *testing.T) {
	for _, budget := range []time.Duration{30 * time.Second, 2 * time.Minute, 20 * time.Minute} {
		w := climber(t, 1<<40, map[int]float64{1: 1000, 2: 1000})
		w.plan.Budget, w.plan.MaxBlocks = budget, 30
		trials, _ := w.run(t)
		reported := false
		for n := range trials {
			j, err := w.plan.Judge(trials[:n+1])
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(j.Warnings, func(x filewise.Warning) bool { return x.Code == "conditions" })
			if first := i >= 0 && !reported; first && (j.Elapsed > budget/3 || !strings.HasPrefix(j.Warnings[i].Remedy, "It needs ")) {
				t.Errorf("budget %v: after %v, with %d rungs: %+v", budget, j.Elapsed, len(w.plan.Rungs), j.Warnings[i])
			}
			if reported && i < 0 {
				t.Errorf("budget %v: after %v it is no longer said", budget, j.Elapsed)
			}
			reported = reported || i >= 0
		}
		if !reported {
			t.Errorf("budget %v: not said, with %d rungs", budget, len(w.plan.Rungs))
		}
	}
}

// A design that cannot be had leaves the run with its own.
func TestLadderIsLeft(t *testing.T) {
	w := climber(t, 10<<20, map[int]float64{1: 1000, 2: 1000})
	asked := 0
	w.runner.Redesign = func(context.Context, experiment.Plan) (bool, error) { asked++; return false, nil }
	trials, _ := w.run(t)
	if got, _, j := rungs(t, w.plan, trials); len(got) != 0 || asked != 1 || j.First().Result.Blocks != 3 {
		t.Errorf("asked %d times, %q, %d blocks", asked, got, j.First().Result.Blocks)
	}
}

// A design that the host has no space for is tried with less data.
func TestLadderTakesWhatFits(t *testing.T) {
	w := climber(t, 10<<20, map[int]float64{1: 1000, 2: 1000})
	w.plan.Ladder.MostBytes = 1 << 30
	w.runner.Redesign = func(_ context.Context, p experiment.Plan) (bool, error) {
		fits := p.Params.Warehouses <= 20
		if fits {
			w.plan = p
		}
		return fits, nil
	}
	trials, _ := w.run(t)
	if got, reads, _ := rungs(t, w.plan, trials); !slices.Equal(got, []string{"--warehouses 16 --size 16MiB"}) || reads.OK {
		t.Errorf("%q, %+v", got, reads)
	}
}

// A design whose pilots fail is given up for the one before.
func TestLadderGoesBack(t *testing.T) {
	for name, faults := range map[string][]fake.Fault{
		"a pilot fails": {{Stage: filewise.StageBuild, Build: 3, Times: 1}},
		"none fails":    nil,
	} {
		w := climber(t, 10<<20, map[int]float64{1: 1000, 2: 1000}, faults...)
		trials, _ := w.run(t)
		got, _, j := rungs(t, w.plan, trials)
		if faults == nil {
			if len(got) != 1 {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if len(got) != 2 || got[1] != "" || w.plan.Params.Warehouses != 1 || w.plan.Layouts[0].Data.Bytes != 1<<20 ||
			j.First().Result.Blocks != 3 {
			t.Errorf("%s: %q, %d warehouses, %d blocks", name, got, w.plan.Params.Warehouses, j.First().Result.Blocks)
		}
	}
}
