package experiment_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
)

// Noise of 15 % hides all differences from 20 blocks of 2 %: with bounds set, blocks go on as long as they narrow the
// intervals.
func TestFutileRunNarrowsItsBounds(t *testing.T) {
	blocks := func(bounds float64, most int) (int, experiment.Decision) {
		w := newWorld(t, []int{1, 4, 8, 16}, fake.Config{Noise: 0.15, Seed: 6})
		w.plan.Bounds, w.plan.MaxBlocks = bounds, most
		trials, d := w.run(t)
		j, err := w.plan.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		return j.First().Result.Blocks, d
	}
	none, d := blocks(0, 20)
	if d.Ending != experiment.Futile || none > 11 {
		t.Fatalf("without bounds it ends after %d blocks: %+v", none, d)
	}
	ten, d := blocks(10, 20)
	if d.Ending != experiment.Futile || ten <= none || ten < 12 {
		t.Errorf("±10 %% is out of reach, and blocks narrow by a quarter until the 11th: ended after %d, %+v", ten, d)
	}
	if few, d := blocks(10, 12); few < 9 {
		t.Errorf("of 12 blocks those up to the 9th narrow by a quarter, by the root of their number those up to the 7th: ended after %d, %+v",
			few, d)
	}
	if wide, d := blocks(200, 20); wide != none {
		t.Errorf("bounds of ±200 %% are there from the beginning: %d blocks, not %d, %+v", wide, none, d)
	}
}

// Interleaved blocks have the length that the noise of the pilots demands, within the budget.
func TestBlocksAreAsLongAsBoundsNeed(t *testing.T) {
	rounds := func(bounds, noise float64, budget time.Duration) experiment.Schedule {
		w := newInterleaved(t, []int{1, 4}, fake.Config{})
		w.plan.Interleaved, w.plan.Rounds, w.plan.WindowByPilots, w.plan.MaxBlocks = true, 0, true, 20
		w.plan.Bounds, w.plan.Budget, w.plan.SliceLength, w.plan.WarmUp = bounds, budget, 100*time.Millisecond, 100*time.Millisecond
		r := rand.New(rand.NewPCG(1, 2))
		var trials []filewise.Trial
		for _, l := range w.plan.Layouts {
			m := filewise.Measure{Operation: "inserts", Unit: "rows", Window: [2]time.Duration{0, 2 * time.Second},
				SliceLength: 100 * time.Millisecond}
			for range 20 {
				m.Slices = append(m.Slices, int64(1000*max(0, 1+noise*r.NormFloat64())))
			}
			m.Work, m.Bytes = 20_000, 20_000
			trials = append(trials, filewise.Trial{Cell: filewise.Cell{Pilot: true, Layout: l.Name, Attempt: 1}, State: filewise.Done,
				Elapsed: 2150 * time.Millisecond, Measures: []filewise.Measure{m},
				Stages: []filewise.Stage{{Name: filewise.StageMeasure, Took: 2100 * time.Millisecond}}})
		}
		j, err := w.plan.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		return j.Schedule
	}
	short := rounds(0, 0.7, 10*time.Minute)
	if long := rounds(10, 0.7, 10*time.Minute); long.Rounds < 2*short.Rounds || long.MaxBlocks < 12 {
		t.Errorf("slices of 70 %%: %+v; without bounds %+v", long, short)
	}
	if quiet := rounds(10, 0.01, 10*time.Minute); quiet.Rounds != short.Rounds {
		t.Errorf("slices of 1 %% need no longer blocks: %+v, %+v", quiet, short)
	}
	if little := rounds(10, 0.7, time.Minute); little.MaxBlocks < 6 || 2*time.Duration(little.MaxBlocks)*little.TrialTime > time.Minute {
		t.Errorf("six blocks or more fit into a minute: %+v", little)
	}
	if none := rounds(10, 0.7, 12*time.Second); none.Rounds > 20 {
		t.Errorf("longer blocks do not help where six do not fit: %+v", none)
	}
	many, few := rounds(10, 0, 3*time.Minute), rounds(0, 0, 3*time.Minute)
	if many.MaxBlocks < few.MaxBlocks || many.TrialTime < few.TrialTime {
		t.Errorf("noise that is not known fills the budget: %+v, %+v", many, few)
	}
}
