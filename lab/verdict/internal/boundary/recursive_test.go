package boundary

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Integrated boundaries let through what was to be spent, or a little less, in simulated experiments in which all is
// normal and nothing differs; also in an extended experiment.
func TestIntegratedBoundaries(t *testing.T) {
	const sims, alpha = 20000, 0.05
	for _, k := range []int{2, 3, 5, 12} {
		for _, stages := range [][]Stage{{{0, 20}}, {{0, 12}, {12, 40}}} {
			w, table := newWorld(Rules3, k, sims, 3), Rules3.Integrate(k, stages, alpha)
			var two, one [sims]bool
			last := stages[len(stages)-1].MaxBlocks
			for n := 1; n <= last; n++ {
				w.nextBlock()
				if n < FirstAnalysis {
					continue
				}
				limit := func(score float64) float64 {
					if math.IsInf(score, 0) {
						return score
					}
					return distuv.StudentsT{Sigma: 1, Nu: Rules3.DF(n, k)}.Quantile(distuv.UnitNormal.CDF(score))
				}
				c2, c1 := limit(table.TwoSided[n-FirstAnalysis]), limit(table.OneSided[n-FirstAnalysis])
				for i := range sims {
					two[i], one[i] = two[i] || w.two[i] > c2, one[i] || w.one[i] > c1
				}
			}
			for name, crossed := range map[string][sims]bool{"two-sided": two, "one-sided": one} {
				n := 0
				for _, c := range crossed {
					if c {
						n++
					}
				}
				got, want := float64(n)/sims, alpha/2*Rules3.Spent(1, stages, last)
				if se := math.Sqrt(want * (1 - want) / sims); got > want+3*se || got < 0.7*want-3*se {
					t.Errorf("%d arms, %v, %s: %.2f %% crossed, to be spent: %.2f %%", k, stages, name, 100*got, 100*want)
				}
			}
		}
	}
}

// What was spent up to an extension stays spent, and never all is.
func TestExtensionsSpendWhatIsLeft(t *testing.T) {
	stages := []Stage{{0, 10}, {6, 30}, {30, 100}}
	last := 0.0
	for n := 1; n <= 120; n++ {
		now := Rules3.Spent(1.5, stages, n)
		if now < last || now >= 1 {
			t.Fatalf("block %d: %v after %v", n, now, last)
		}
		if n <= 6 && now != Rules3.Spent(1.5, stages[:1], n) {
			t.Errorf("block %d: %v; before the extension %v", n, now, Rules3.Spent(1.5, stages[:1], n))
		}
		last = now
	}
	plain, extended := Rules3.Integrate(4, stages[:1], 0.05), Rules3.Integrate(4, stages, 0.05)
	if len(extended.OneSided) != 98 || math.Abs(plain.TwoSided[3]-extended.TwoSided[3]) > 1e-6 {
		t.Errorf("block 6: %v, extended %v", plain.TwoSided[3], extended.TwoSided[3])
	}
}
