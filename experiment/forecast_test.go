package experiment_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/experiment"
)

// A trial of noise s: after n blocks of two layouts the half width is Student's with n−1
// degrees of freedom times s √(2/n); t is 2.262 for 9 (tables).
func TestForecastBy(t *testing.T) {
	p := newSessions(t, []int{1, 4}, fake.Config{}).plan
	f, ok := p.ForecastBy(0.02, "run 7", experiment.Schedule{TrialTime: 5 * time.Second, MaxBlocks: 10}, 10*time.Second)
	want := 100 * math.Expm1(2.262*0.02*math.Sqrt(0.2))
	if !ok || math.Abs(f.Percent-want) > 0.01 || f.Time != 110*time.Second {
		t.Errorf("±%.3f %% after %v, want ±%.3f %% after 110 s", f.Percent, f.Time, want)
	}
	// ±2 %: t(n−1) 0.02 √(2/n) ≤ ln 1.02 from n = 10 on.
	if f.Blocks != 11 && f.Blocks != 10 || f.MarginTime != 10*time.Second+time.Duration(f.Blocks)*10*time.Second {
		t.Errorf("the margin takes %d blocks, %v", f.Blocks, f.MarginTime)
	}
	if !strings.Contains(f.Sentence, "run 7") || !strings.Contains(f.Sentence, "about ±2") {
		t.Error(f.Sentence)
	}
	far, _ := p.ForecastBy(0.1, "the pilots", experiment.Schedule{TrialTime: 5 * time.Second, MaxBlocks: 6}, 0)
	if far.Percent < 10 || far.Blocks < 150 || !strings.Contains(far.Sentence, "the pilots, at best, it can") ||
		!strings.Contains(far.Sentence, "±2 % would take about") {
		t.Errorf("%+v", far)
	}
	wide, _ := p.ForecastBy(1, "the pilots", experiment.Schedule{TrialTime: 5 * time.Second, MaxBlocks: 6}, 0)
	if !strings.HasPrefix(wide.Sentence, "By the noise of the pilots it can give only intervals wider than a factor of two after ") {
		t.Error(wide.Sentence)
	}
	for _, noise := range []float64{0, math.NaN(), math.Inf(1)} {
		if _, ok := p.ForecastBy(noise, "", experiment.Schedule{TrialTime: time.Second, MaxBlocks: 6}, 0); ok {
			t.Errorf("a forecast by a noise of %v", noise)
		}
	}
}

// What a pilot costs tells that the budget cannot give a verdict: no other is measured.
func TestHopelessBudgetEndsAfterTheFirstPilot(t *testing.T) {
	w := newSessions(t, []int{1, 2, 4}, fake.Config{Stages: map[string]time.Duration{filewise.StageBuild: 20 * time.Second}})
	w.plan.Sessions, w.plan.Cells, w.plan.Budget = true, 0, time.Minute
	trials, d := w.run(t)
	if len(trials) != 1 || d.Ending != experiment.Spent || !strings.Contains(d.Why, "the budget is 1 min") {
		t.Errorf("%d trials, ended %+v", len(trials), d)
	}
	if n := w.engine.Undropped(); n != 0 {
		t.Errorf("%d builds are still there", n)
	}
	w.plan.Budget = 10 * time.Minute
	if _, d := w.plan.Next(trials); d.Ending != experiment.GoesOn {
		t.Errorf("with a longer budget: %+v", d)
	}
}

// A loaded build serves several sessions: loading it is no part of each of them.
func TestLoadedBuildsAreCountedOnce(t *testing.T) {
	w := newSessions(t, []int{1, 4}, fake.Config{})
	w.plan.Sessions, w.plan.Cells, w.plan.MaxBlocks, w.plan.Budget, w.plan.WarmUp = true, 0, 20, 3*time.Minute, 0
	of := func(instance string, instances int) experiment.Schedule {
		w.plan.Instances = instances
		var trials []filewise.Trial
		for _, l := range w.plan.Layouts {
			trials = append(trials, filewise.Trial{Cell: filewise.Cell{Pilot: true, Layout: l.Name, Attempt: 1}, State: filewise.Done,
				Instance: instance, Elapsed: 22 * time.Second,
				Measures: []filewise.Measure{{Family: "inserts", Unit: "rows", Window: [2]time.Duration{0, time.Second}, Work: 1, Bytes: 1}},
				Stages:   []filewise.Stage{{Name: filewise.StageLoad, Took: 20 * time.Second}, {Name: filewise.StageMeasure, Took: time.Second}}})
		}
		j, err := w.plan.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		return j.Schedule
	}
	anew, one, three := of("", 0), of("1 file #1", 1), of("1 file #1", 3)
	if one.TrialTime > anew.TrialTime-19*time.Second || one.MaxBlocks < 2*anew.MaxBlocks {
		t.Errorf("a build for all trials: %+v; one for each: %+v", one, anew)
	}
	if three.TrialTime != one.TrialTime || three.MaxBlocks >= one.MaxBlocks {
		t.Errorf("two further builds of each layout are loaded within the budget: %+v, with none %+v", three, one)
	}
}

// The first session goes on with the builds of the pilots, and each later one has builds of
// its own; every turn is as long as the pilots say.
func TestPilotsFixTurns(t *testing.T) {
	w := newSessions(t, []int{1, 4, 8}, fake.Config{Noise: 0.01, Seed: 1,
		Stages:     map[string]time.Duration{filewise.StageBuild: time.Second, filewise.StageDrain: 100 * time.Millisecond},
		Throughput: byFiles(map[int]float64{1: 1000, 4: 1500, 8: 1200})})
	w.plan.Sessions, w.plan.Cells, w.plan.WindowByPilots, w.plan.Budget = true, 0, true, 10*time.Minute
	trials, d := w.run(t)
	if got := w.recommended(t, trials); got != "4 files" || d.Ending != experiment.Decided {
		t.Errorf("recommended %q, %+v; planted: 4 files", got, d)
	}
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	s := j.Schedule
	if s.Turn < 400*time.Millisecond || s.Turn > time.Second || s.Rounds < 4 {
		t.Errorf("drains of 100 ms give %d rounds of %v", s.Rounds, s.Turn)
	}
	blocks := 0
	for _, tr := range trials {
		blocks = max(blocks, tr.Cell.Block)
		if m := tr.Measures[0]; !tr.Cell.Pilot && len(m.Turns) != s.Rounds || m.Window[1] != s.Turn*time.Duration(s.Rounds) && !tr.Cell.Pilot {
			t.Errorf("%+v: %d turns, window %v", tr.Cell, len(m.Turns), m.Window)
		}
	}
	if got := w.engine.Builds(); got != len(trials)-3 || w.engine.Undropped() != 0 {
		t.Errorf("%d builds for %d trials in %d blocks, %d left", got, len(trials), blocks, w.engine.Undropped())
	}
	if share := j.Measuring.Seconds() / j.Elapsed.Seconds(); share < 0.6 {
		t.Errorf("%.0f %% of the time was measured", 100*share)
	}
}

// Steps beside each other are booked by their parts, so that trials add up to the run's time.
func TestStepsSideBySideAddUp(t *testing.T) {
	w := newSessions(t, []int{1, 2, 4}, fake.Config{Noise: 0.01, Seed: 4,
		Stages: map[string]time.Duration{filewise.StageBuild: time.Second, filewise.StageCheck: time.Second}})
	w.plan.Sessions, w.plan.Cells, w.plan.MaxBlocks = true, 0, 4
	w.runner.Parallel = 3
	start := w.engine.Clock().Now()
	trials, _ := w.run(t)
	sum := time.Duration(0)
	for _, tr := range trials {
		if tr.State != filewise.Done {
			t.Errorf("%+v: %s", tr.Cell, tr.Reason)
		}
		sum += tr.Elapsed
	}
	if wall := w.engine.Clock().Now().Sub(start); sum > wall || sum < wall-wall/20 {
		t.Errorf("trials took %v, the run %v", sum, wall)
	}
}

// Over a cycle each layout has each place, and follows each other one, equally often.
func TestTurnsAreBalanced(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 8} {
		files := make([]int, n)
		for i := range files {
			files[i] = i + 1
		}
		p := newSessions(t, files, fake.Config{}).plan
		cycle := n + n%2*n
		places, follows := map[string]map[int]int{}, map[string]int{}
		for round := 1; round <= cycle; round++ {
			names := p.TurnOrder(3, round)
			for i, name := range names {
				if places[name] == nil {
					places[name] = map[int]int{}
				}
				places[name][i]++
				if i > 0 {
					follows[names[i-1]+">"+name]++
				}
			}
		}
		for name, at := range places {
			for i := range n {
				if at[i] != cycle/n {
					t.Errorf("%d layouts: %s is %d times at place %d in %d rounds", n, name, at[i], i, cycle)
				}
			}
		}
		if len(follows) != n*(n-1) {
			t.Errorf("%d layouts: %d pairs follow each other", n, len(follows))
		}
		for pair, k := range follows {
			if k != cycle/n {
				t.Errorf("%d layouts: %s %d times, want %d", n, pair, k, cycle/n)
			}
		}
	}
}

// Fixed work is cut into turns: in all as much, of which the pilot does a part at the most.
func TestFixedWorkTakesTurns(t *testing.T) {
	w := newSessions(t, []int{1, 4}, fake.Config{Noise: 0.01, Seed: 3, Throughput: byFiles(map[int]float64{1: 1000, 4: 1300})})
	w.plan.Sessions, w.plan.Cells, w.plan.Window, w.plan.PilotWindow = true, 0, 0, 0
	w.plan.Work = 10_000 * int64(w.plan.Params.RowBytes)
	trials, _ := w.run(t)
	if got := w.recommended(t, trials); got != "4 files" {
		t.Errorf("recommended %q", got)
	}
	for _, tr := range trials {
		m := tr.Measures[0]
		if tr.Cell.Pilot && (m.Work > 4000 || m.Work < 1000) || !tr.Cell.Pilot && (m.Work != 10_000 || len(m.Turns) < 2) {
			t.Errorf("%+v: %v rows in %d turns", tr.Cell, m.Work, len(m.Turns))
		}
	}
}

// Turns of a session that differ by their round and their layout alone have no noise; by
// 10 % of their own, as much of a session as the root of their number says.
func TestForecastByTurns(t *testing.T) {
	w := newSessions(t, []int{1, 4}, fake.Config{})
	w.plan.Sessions, w.plan.Cells = true, 0
	r := rand.New(rand.NewPCG(1, 2))
	var trials []filewise.Trial
	for b := range 2 {
		for _, l := range w.plan.Layouts {
			m := filewise.Measure{Family: "inserts", Unit: "rows", Window: [2]time.Duration{0, 20 * time.Second}}
			for k := range 100 {
				m.Turns = append(m.Turns, 1000*math.Exp(math.Sin(float64(k))+0.1*r.NormFloat64()))
			}
			if b == 0 {
				m.Turns, m.Work, m.Bytes = []float64{1000}, 1000, 1000
			}
			trials = append(trials, filewise.Trial{Cell: filewise.Cell{Pilot: b == 0, Block: b, Layout: l.Name, Attempt: 1}, State: filewise.Done,
				Elapsed: 25 * time.Second, Measures: []filewise.Measure{m}, Stages: []filewise.Stage{{Name: filewise.StageMeasure,
					Took: 20 * time.Second}}})
		}
	}
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if j.Forecast == nil || math.Abs(j.Forecast.Noise-0.01) > 0.002 || j.Forecast.Source != "1 block" {
		t.Errorf("%+v; planted: 1 %%", j.Forecast)
	}
}
