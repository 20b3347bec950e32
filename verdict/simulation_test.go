package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// world is a simulated truth in which no layout differs from another.
type world struct {
	arms, blocks int
	noise        float64 // sd of ln throughput, trial by trial
	drift        float64 // sd of the steps of an AR(1) between trials
	slow         float64 // share of runs that are 30 % slow
	builds       int     // reused builds per layout, 0 = built anew
	between      float64 // sd between builds
}

func (w world) table(random *rand.Rand) Table {
	effect := newRows(w.builds, w.arms)
	for i := range effect {
		for j := range effect[i] {
			effect[i][j] = w.between * random.NormFloat64()
		}
	}
	drift := 0.0
	t := make(Table, w.blocks)
	for b := range t {
		t[b] = make([]Cell, w.arms)
		for _, j := range random.Perm(w.arms) { // order within the block
			drift = 0.9*drift + w.drift*random.NormFloat64()
			y := drift + w.noise*random.NormFloat64()
			if random.Float64() < w.slow {
				y -= 0.26
			}
			if w.builds > 0 {
				i := (b + j) % w.builds
				y += effect[i][j]
				t[b][j].Instance = fmt.Sprintf("%d/%d", j, i)
			}
			t[b][j].Throughput, t[b][j].OK = 4000*math.Exp(y), true
		}
	}
	return t
}

// falseClaim: at some look an interval excludes the truth, or some arm is
// called not the best by more than nothing.
func falseClaim(r Result) bool {
	for _, look := range r.Looks {
		for _, e := range look.Estimates {
			if e.Lo > 0 || e.Hi < 0 {
				return true
			}
		}
	}
	return false
}

func claims(t *testing.T, w world, sims int, seed uint64, change func(Table)) float64 {
	t.Helper()
	count := 0
	cfg := DefaultConfig()
	cfg.MaxBlocks, cfg.Goal = w.blocks, GoalVerdicts
	for s := range sims {
		table := w.table(rand.New(rand.NewPCG(seed, uint64(s))))
		if change != nil {
			change(table)
		}
		if falseClaim(must(Judge(cfg, armsOf(w.arms), table))) {
			count++
		}
	}
	return float64(count) / float64(sims)
}

func forgetBuilds(t Table) {
	for _, row := range t {
		for j := range row {
			row[j].Instance = ""
		}
	}
}
func TestExplore(t *testing.T) {
	for _, w := range []world{
		{arms: 5, blocks: 20, noise: 0.02},
		{arms: 5, blocks: 20, noise: 0.02, drift: 0.02},
		{arms: 5, blocks: 20, noise: 0.02, drift: 0.02, slow: 0.05},
		{arms: 3, blocks: 12, noise: 0.05, drift: 0.02, slow: 0.05},
		{arms: 5, blocks: 20, noise: 0.02, drift: 0, slow: 0.05},
	} {
		t.Logf("%+v: %.3f", w, claims(t, w, 1500, 1, nil))
	}
	for _, w := range []world{
		{arms: 4, blocks: 12, noise: 0.02, builds: 3, between: 0.03},
		{arms: 4, blocks: 12, noise: 0.02, builds: 3, between: 0.01},
		{arms: 4, blocks: 12, noise: 0.02, builds: 3, between: 0.1},
		{arms: 4, blocks: 12, noise: 0.02, builds: 2, between: 0.03},
		{arms: 2, blocks: 12, noise: 0.02, builds: 2, between: 0.03},
		{arms: 2, blocks: 12, noise: 0.02, builds: 2, between: 0.01},
		{arms: 2, blocks: 12, noise: 0.02, builds: 3, between: 0.03},
		{arms: 2, blocks: 20, noise: 0.02, builds: 5, between: 0.03},
		{arms: 5, blocks: 20, noise: 0.02, builds: 3, between: 0.03, drift: 0.01, slow: 0.05},
		{arms: 5, blocks: 20, noise: 0.02, builds: 3, between: 0.0, drift: 0.01, slow: 0.05},
	} {
		t.Logf("%+v: %.3f ignoring %.3f", w, claims(t, w, 1000, 1, nil), claims(t, w, 500, 1, forgetBuilds))
	}
}
