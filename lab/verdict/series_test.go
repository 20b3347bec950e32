package verdict

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A table that grows is judged as if each of its states were judged alone, without repeating an analysis.
func TestSeries(t *testing.T) {
	for name, w := range map[string]world{
		"": {arms: 5, blocks: 14, noise: 0.02}, "builds": {arms: 4, blocks: 14, noise: 0.02, builds: 3, between: 0.03},
		"probe": {arms: 4, blocks: 14, noise: 0.02, drift: 0.02, probe: 0.01},
	} {
		table, arms, series := w.table(rand.New(rand.NewPCG(8, 3))), armsOf(w.arms), new(Series)
		for b := range table {
			table[b][1].Throughput *= 0.8 // dropped early
		}
		cfg := DefaultConfig()
		cfg.Goal, cfg.MaxBlocks = GoalVerdicts, w.blocks-2
		var before Result
		for n := range len(table) + 1 {
			got, want := must(series.Judge(cfg, arms, table[:n])), must(Judge(cfg, arms, slices.Clone(table[:n])))
			if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
				t.Fatalf("%s, %d blocks (-alone +series):\n%s", name, n, d)
			}
			if len(before.Analyses) > 0 && &before.Analyses[0].Estimates[0] != &got.Analyses[0].Estimates[0] {
				t.Fatalf("%s, %d blocks: block %d is analysed again", name, n, FirstAnalysis)
			}
			before = got
		}
		other := slices.Clone(table)
		other[2] = slices.Clone(other[2])
		other[2][0].Throughput *= 2
		if d := cmp.Diff(must(Judge(cfg, arms, other)), must(series.Judge(cfg, arms, other)), cmpopts.EquateNaNs()); d != "" {
			t.Errorf("%s, another table (-alone +series):\n%s", name, d)
		}
	}
}
