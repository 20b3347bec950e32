package experiment_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/internal/longtest"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// freezes is an engine of two layouts of which the second one stands still for 8 s after each 30 s: a loss of 21 %
// over time. The machine's noise shifts a turn's place in that cycle.
func freezes(seed uint64) fake.Config {
	const works, stands = 30 * time.Second, 8 * time.Second
	r := rand.New(rand.NewPCG(seed, 1))
	first := time.Duration(r.Int64N(int64(works + stands)))
	return fake.Config{Noise: 0.02, Seed: seed,
		Stages: map[string]time.Duration{filewise.StageBuild: 3 * time.Second, filewise.StageDrain: 50 * time.Millisecond},
		Drain: func(_ filewise.Layout, operations int64) time.Duration {
			return time.Duration(operations) * 100 * time.Microsecond
		},
		Freeze: func(l filewise.Layout, now time.Time) time.Duration {
			at := (now.Sub(fake.Epoch) + first) % (works + stands)
			if l.Data.Files == 1 || at < works {
				return 0
			}
			return works + stands - at
		}}
}

// A layout that freezes now and then is seen, though turns are shorter than what lies between: the
// interval holds the loss of total work, or the stall stands in the first lines with its cost.
func TestFreezesAreSeen(t *testing.T) {
	t.Parallel()
	runs := 2
	if longtest.Wanted() {
		runs = 60
	}
	seen := 0
	for seed := range runs {
		w := newInterleaved(t, []int{1, 2}, freezes(uint64(seed)))
		w.plan.Observe, w.plan.Rounds, w.plan.Window, w.plan.MaxBlocks, w.plan.Seed = experiment.ObserveRest, 4, 8*time.Second, 20, uint64(seed)
		w.plan.Goal, w.plan.Rules = verdict.GoalVerdicts, 3
		w.runner.NoLatencies = true
		trials, _ := w.run(t)
		j, err := w.plan.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		analysis, _ := j.First().Result.Last()
		e, lost := analysis.Estimates[1], math.Log(30.0/38)
		stalls := j.Stalls()
		if e.Lo <= lost && lost <= e.Hi || strings.Contains(stalls, "of 2 files (") {
			seen++
		}
	}
	if seen < runs-runs/20 {
		t.Errorf("seen in %d of %d runs", seen, runs)
	}
}

// Turns change the question: a hot page is written once a turn, and what each file costs is paid each turn. Pilots
// choose turns so long that twice the length changes no effect by more than a fifth.
func TestTwiceTheTurnChangesNoEffectMuch(t *testing.T) {
	t.Parallel()
	perOperation := func(l filewise.Layout, operations int64) time.Duration {
		return time.Duration(operations) * 500 * time.Microsecond / time.Duration(l.Data.Files)
	}
	for name, drain := range map[string]func(filewise.Layout, int64) time.Duration{
		"nothing is left": func(filewise.Layout, int64) time.Duration { return 0 },
		"a page each":     perOperation,
		"much is left":    func(l filewise.Layout, n int64) time.Duration { return 4 * perOperation(l, n) },
		"hot pages": func(l filewise.Layout, n int64) time.Duration {
			return perOperation(l, int64(2000*(1-math.Exp(-float64(n)/2000))))
		},
		"each file costs 20ms": func(l filewise.Layout, n int64) time.Duration {
			return time.Duration(l.Data.Files)*20*time.Millisecond + perOperation(l, n)
		},
	} {
		var effects []float64
		var turn time.Duration
		for range 2 {
			w := newInterleaved(t, []int{1, 2}, fake.Config{Noise: 0.002, Seed: 5, Drain: drain,
				Throughput: byFiles(map[int]float64{1: 1000, 2: 1250}),
				Stages:     map[string]time.Duration{filewise.StageBuild: time.Second, filewise.StageDrain: 20 * time.Millisecond}})
			w.plan.Observe, w.plan.Goal, w.plan.MaxBlocks, w.plan.Interleaved = experiment.ObserveRest, verdict.GoalVerdicts, 6, true
			if w.plan.Rounds, w.plan.Window = 4, 8*turn; turn == 0 {
				w.plan.Rounds, w.plan.Window, w.plan.WindowByPilots, w.plan.Budget = 0, 2*time.Second, true, 10*time.Minute
			}
			w.runner.NoLatencies = true
			trials, _ := w.run(t)
			j, err := w.plan.Judge(trials)
			if err != nil {
				t.Fatal(err)
			}
			analysis, _ := j.First().Result.Last()
			effects = append(effects, analysis.Estimates[1].Effect)
			turn = j.Schedule.Turn
		}
		if once, twice := effects[0], effects[1]; math.Abs(twice/once-1) > 0.2 {
			t.Errorf("%s: the effect is %.3f, and %.3f in turns twice as long", name, once, twice)
		}
	}
}
