package experiment_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// A forecast is a range by the noise's degrees of freedom: at 8 the upper end is at most three times the lower, at 20
// 2.1 times. "M blocks" keep the baseline within 2 % with a chance of 80 %: 39 and 85 at a noise of 2 and 3 % if all
// of the error is spent on it. They are 15 to 25 % more since bounds and intervals share it and a part is kept for
// extensions.
func TestForecastBy(t *testing.T) {
	p := newInterleaved(t, []int{1, 2, 4, 8, 16}, fake.Config{}).plan
	s := experiment.Schedule{TrialTime: 5 * time.Second, MaxBlocks: 10}
	for df, most := range map[int]float64{8: 3, 20: 2.1} {
		f, ok := p.ForecastBy(0.001, df, "run 7", s, 10*time.Second)
		if !ok || f.Most/f.Least > most || f.Least >= f.Percent || f.Percent >= f.Most || f.Time != 260*time.Second {
			t.Errorf("%d degrees of freedom: %+v", df, f)
		}
	}
	for noise, want := range map[float64][2]int{0.01: {10, 14}, 0.02: {40, 50}, 0.03: {90, 112}} {
		f, _ := p.ForecastBy(noise, 20, "5 blocks", s, 10*time.Second)
		if f.Blocks < want[0] || f.Blocks > want[1] || f.MarginTime != 10*time.Second+time.Duration(f.Blocks)*25*time.Second ||
			!strings.Contains(f.Sentence, "noise of 5 blocks: intervals of ±") ||
			!strings.Contains(f.Sentence, "; with a chance of 80 % it resolves ±") || !strings.Contains(f.Sentence, "; ±2 % takes about ") {
			t.Errorf("noise %v: %+v, want %v blocks", noise, f, want)
		}
		s.MaxBlocks = f.Blocks // which keep the margin that takes so many
		if f, _ = p.ForecastBy(noise, 20, "5 blocks", s, 0); f.Kept > 2 || f.Kept < 1.8 {
			t.Errorf("%d blocks, which 2 %% takes, keep %v %%", f.Blocks, f.Kept)
		}
		s.MaxBlocks = 10
	}
	wide, _ := p.ForecastBy(1, 20, "5 blocks", s, 0)
	if !strings.Contains(wide.Sentence, "only intervals wider than a factor of two after ") ||
		!strings.Contains(wide.Sentence, "out of reach") {
		t.Error(wide.Sentence)
	}
	for _, noise := range []float64{0, math.NaN(), math.Inf(1)} {
		if _, ok := p.ForecastBy(noise, 20, "", s, 0); ok {
			t.Errorf("a forecast by a noise of %v", noise)
		}
	}
	if _, ok := p.ForecastBy(0.01, 7, "", s, 0); ok {
		t.Error("a forecast by 7 degrees of freedom")
	}
	for layouts, want := range map[int]int{2: 9, 3: 5, 4: 4, 5: 3, 12: 3} {
		if got := experiment.ForecastFrom(layouts); got != want {
			t.Errorf("%d layouts: from block %d, want %d", layouts, got, want)
		}
	}
}

// In quiet worlds the intervals after all blocks lie within the range that the first forecast gave
// in at least 80 % of experiments; here 240, less two and a half standard errors.
func TestForecastsHold(t *testing.T) {
	const blocks, sd = 20, 0.02
	for _, layouts := range []int{2, 3, 5} {
		from, held, all := experiment.ForecastFrom(layouts), 0, 0
		for seed := range uint64(80) {
			r := rand.New(rand.NewPCG(seed, uint64(layouts)))
			var arms []verdict.Arm
			var p experiment.Plan
			var table verdict.Table
			for i := range layouts {
				arms = append(arms, verdict.Arm{Name: string(rune('a' + i)), Rank: i})
				p.Layouts = append(p.Layouts, filewise.Layout{Name: arms[i].Name})
			}
			for range blocks {
				row := make([]verdict.Cell, layouts)
				for j := range row {
					row[j] = verdict.Cell{Throughput: math.Exp(sd * r.NormFloat64()), OK: true}
				}
				table = append(table, row)
			}
			cfg := verdict.DefaultConfig()
			cfg.Rules, cfg.Goal, cfg.Margin = 3, verdict.GoalVerdicts, 1e-6
			first, err1 := verdict.Judge(cfg, arms, table[:from])
			last, err2 := verdict.Judge(cfg, arms, table)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			noise, _ := first.Noise()
			p.Confidence, p.Margin = cfg.Confidence, 2
			f, ok := p.ForecastBy(noise, (from-1)*(layouts-1), "", experiment.Schedule{TrialTime: time.Second, MaxBlocks: blocks}, 0)
			analysis, _ := last.Last()
			if !ok || analysis.Block != blocks {
				continue
			}
			half := 0.0
			for _, e := range analysis.Estimates[1:] {
				half += (e.Hi - e.Lo) / 2 / float64(layouts-1)
			}
			all++
			if got := 100 * math.Expm1(half); got >= f.Least && got <= f.Most {
				held++
			}
		}
		t.Logf("%d layouts: %d of %d held", layouts, held, all)
		if share := float64(held) / float64(all); all < 60 || share < 0.8-2.5*math.Sqrt(0.16/float64(all)) {
			t.Errorf("%d layouts: %d of %d forecasts held", layouts, held, all)
		}
	}
}

// What a pilot costs reports that the budget cannot give a verdict: no other is measured.
func TestHopelessBudgetEndsAfterTheFirstPilot(t *testing.T) {
	w := newInterleaved(t, []int{1, 2, 4}, fake.Config{Stages: map[string]time.Duration{filewise.StageBuild: 20 * time.Second}})
	w.plan.Interleaved, w.plan.Rounds, w.plan.Budget = true, 0, time.Minute
	trials, d := w.run(t)
	if len(trials) != 1 || d.Ending != experiment.Spent || !strings.Contains(d.Why, "the 3 blocks that an interval needs take about 4 min") {
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

// A default budget becomes what the blocks of an interval take, by the pilots; one that was given stays.
func TestDefaultBudgetHoldsAnInterval(t *testing.T) {
	for most, enough := range map[time.Duration]bool{0: false, time.Hour: true, 41 * time.Second: false} {
		w := newInterleaved(t, []int{1, 4}, fake.Config{Noise: 0.01, Seed: 1,
			Stages: map[string]time.Duration{filewise.StageBuild: 5 * time.Second}})
		w.plan.Interleaved, w.plan.Rounds, w.plan.Budget, w.plan.BudgetMost = true, 0, 40*time.Second, most
		trials, d := w.run(t)
		blocks, elapsed := 0, time.Duration(0)
		for _, tr := range trials {
			blocks, elapsed = max(blocks, tr.Cell.Block), elapsed+tr.Elapsed
		}
		if (blocks >= w.plan.FirstClaim()) != enough || elapsed > 3*time.Minute {
			t.Errorf("at most %v: %d blocks in %v, %+v", most, blocks, elapsed, d)
		}
	}
}

// A default budget does not end a run one block before its interval because blocks took longer than the pilots promised.
func TestDefaultBudgetWaitsForTheInterval(t *testing.T) {
	w := newInterleaved(t, []int{1, 4}, fake.Config{Noise: 0.01, Seed: 1})
	w.plan.Interleaved, w.plan.Rounds, w.plan.Budget, w.plan.BudgetMost = true, 0, 40*time.Second, 80*time.Second
	all, _ := w.run(t)
	var trials []filewise.Trial
	left := 50 * time.Second
	for _, tr := range all {
		if tr.Cell.Block < w.plan.FirstClaim() {
			trials, left = append(trials, tr), left-tr.Elapsed
		}
	}
	trials[len(trials)-1].Elapsed += left
	if _, d := w.plan.Next(trials); d.Ending != experiment.GoesOn {
		t.Errorf("a default budget: %+v", d)
	}
	w.plan.BudgetMost = 0
	if _, d := w.plan.Next(trials); d.Ending != experiment.Spent {
		t.Errorf("a budget that was given: %+v", d)
	}
}

// A loaded build serves several interleaved blocks: loading it is no part of each of them.
func TestLoadedBuildsAreCountedOnce(t *testing.T) {
	w := newInterleaved(t, []int{1, 4}, fake.Config{})
	w.plan.Interleaved, w.plan.Rounds, w.plan.MaxBlocks, w.plan.Budget, w.plan.WarmUp = true, 0, 20, 3*time.Minute, 0
	of := func(build string, builds int) experiment.Schedule {
		w.plan.Builds = builds
		var trials []filewise.Trial
		for _, l := range w.plan.Layouts {
			trials = append(trials, filewise.Trial{Cell: filewise.Cell{Pilot: true, Layout: l.Name, Attempt: 1}, State: filewise.Done,
				Build: build, Elapsed: 22 * time.Second,
				Measures: []filewise.Measure{{Operation: "inserts", Unit: "rows", Window: [2]time.Duration{0, time.Second}, Work: 1, Bytes: 1}},
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

// The first interleaved block goes on with the builds of the pilots, and each later one has separate builds; every
// turn has the length that the pilots set.
func TestPilotsFixTurns(t *testing.T) {
	w := newInterleaved(t, []int{1, 4, 8}, fake.Config{Noise: 0.01, Seed: 1,
		Stages:     map[string]time.Duration{filewise.StageBuild: time.Second, filewise.StageDrain: 100 * time.Millisecond},
		Throughput: byFiles(map[int]float64{1: 1000, 4: 1500, 8: 1200})})
	w.plan.Interleaved, w.plan.Rounds, w.plan.WindowByPilots, w.plan.Budget = true, 0, true, 10*time.Minute
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

// Concurrent steps are booked by their parts, so that trials add up to the run's time.
func TestStepsSideBySideAddUp(t *testing.T) {
	w := newInterleaved(t, []int{1, 2, 4}, fake.Config{Noise: 0.01, Seed: 4,
		Stages: map[string]time.Duration{filewise.StageBuild: time.Second, filewise.StageCheck: time.Second}})
	w.plan.Interleaved, w.plan.Rounds, w.plan.MaxBlocks = true, 0, 4
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
		p := newInterleaved(t, files, fake.Config{}).plan
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
	w := newInterleaved(t, []int{1, 4}, fake.Config{Noise: 0.01, Seed: 3, Throughput: byFiles(map[int]float64{1: 1000, 4: 1300})})
	w.plan.Interleaved, w.plan.Rounds, w.plan.Window, w.plan.PilotWindow = true, 0, 0, 0
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

// Pilots give no forecast: until there is one, the run names the block from which on.
func TestForecastNamesItsFirstBlock(t *testing.T) {
	w := newInterleaved(t, []int{1, 2, 4}, fake.Config{Noise: 0.02, Seed: 1})
	w.plan.Interleaved, w.plan.Rounds, w.plan.MaxBlocks = true, 0, 8
	trials, _ := w.run(t)
	for n := range trials {
		j, err := w.plan.Judge(trials[:n+1])
		if err != nil {
			t.Fatal(err)
		}
		blocks, f := j.First().Result.Blocks, j.Forecast
		switch {
		case n < 2:
			if f != nil {
				t.Errorf("after %d pilots: %+v", n+1, f)
			}
		case f == nil:
			t.Errorf("after %d trials: none", n+1)
		case blocks < 5 && (f.From != 5 || !strings.Contains(f.Sentence, "from block 5 on")):
			t.Errorf("after %d blocks: %+v", blocks, f)
		case blocks >= 5 && (f.From != 0 || f.Least >= f.Most):
			t.Errorf("after %d blocks: %+v", blocks, f)
		}
	}
}
