package verdict

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"filewise/lab/verdict/internal/vectorstest"
)

// With as many blocks as forecast, a difference of that size is seen in 80 % of
// experiments or somewhat more, and with half as many in clearly fewer.
func TestBlocksToSee(t *testing.T) {
	if vectorstest.Raced || testing.Short() {
		t.Skip("a simulation")
	}
	const sd, sims = 0.03, 300
	needed := must(BlocksToSee(sd, 3, 0.95, []float64{0.04}))
	n := needed[0].Blocks
	if n < 6 || n > 25 {
		t.Fatalf("%d blocks", n)
	}
	seen := func(blocks int) float64 {
		cfg := DefaultConfig()
		cfg.MaxBlocks, cfg.Goal = blocks, GoalVerdicts
		count := 0
		for s := range uint64(sims) {
			table := world{arms: 3, blocks: blocks, noise: sd}.table(rand.New(rand.NewPCG(8, s)))
			for b := range table {
				table[b][1].Throughput *= math.Exp(0.04)
			}
			for _, analysis := range must(Judge(cfg, armsOf(3), table)).Analyses {
				if analysis.Estimates[1].Lo > 0 {
					count++
					break
				}
			}
		}
		return float64(count) / sims
	}
	if got := seen(n); got < Power-0.06 || got > 0.97 {
		t.Errorf("%d blocks see it in %.0f %%", n, 100*got)
	}
	if got := seen(n / 2); got > 0.7 {
		t.Errorf("%d blocks see it in %.0f %%: half as many should not suffice", n/2, 100*got)
	}
}

// The page's example: CV 5 %, margin 2 %, 5 layouts: about 95 blocks by the
// forecast, which takes the one-sided boundary and grants no chance; seen with 80 %
// by the two-sided one it is more.
func TestBlocksGrowWithNoise(t *testing.T) {
	effects := []float64{math.Log(1.01), math.Log(1.03), math.Log(1.05), math.Log(1.10)}
	needed := must(BlocksToSee(0.05, 5, 0.95, effects))
	for i := 1; i < len(needed); i++ {
		if needed[i].Blocks > needed[i-1].Blocks && needed[i-1].Blocks > 0 || needed[i].Blocks < FirstAnalysis {
			t.Errorf("%+v", needed)
		}
	}
	if needed[0].Blocks != 0 {
		t.Errorf("1 %% at a noise of 5 %% in %d blocks", needed[0].Blocks)
	}
	two := must(BlocksToSee(0.05, 5, 0.95, []float64{math.Log(1.02)}))[0].Blocks
	if two < 95 || two > 300 { // 279 by BlocksToTell, the one formula
		t.Errorf("2 %% at a noise of 5 %%: %d blocks", two)
	}
	if quiet := must(BlocksToSee(0, 2, 0.95, effects)); quiet[0].Blocks != rulesOf(NewestRules).FirstClaim(20, 2) {
		t.Errorf("without noise %d blocks", quiet[0].Blocks)
	}
}

// Designs without printed boundaries need one simulation, not one for each n.
func TestBlocksToSeeElsewhere(t *testing.T) {
	if vectorstest.Raced || testing.Short() {
		t.Skip("a simulation")
	}
	usual := must(BlocksToSee(0.03, 3, 0.95, []float64{0.04, 0.02}))
	stricter := must(BlocksToSee(0.03, 3, 0.99, []float64{0.04, 0.02}))
	for i := range usual {
		if stricter[i].Blocks <= usual[i].Blocks || stricter[i].Blocks > 2*usual[i].Blocks+2 {
			t.Errorf("%+v at 95 %%, %+v at 99 %%", usual[i], stricter[i])
		}
	}
}

func TestBlocksToSeeRefuses(t *testing.T) {
	for _, bad := range []struct{ sd, effect float64 }{{-1, 0.1}, {math.NaN(), 0.1}, {math.Inf(1), 0.1}, {0.1, 0}, {0.1, -1},
		{0.1, math.NaN()}} {
		if _, err := BlocksToSee(bad.sd, 3, 0.95, []float64{bad.effect}); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
