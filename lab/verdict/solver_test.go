package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A fit leaves nothing in any block or effect, be the system over arms or, with many builds, over blocks; and of
// builds it leaves as much as of each one's indicator.
func TestSolver(t *testing.T) {
	for _, perArm := range []int{3, 30} { // 30 × 40 effects are more than a system has
		const blocks, arms = 60, 40
		random := rand.New(rand.NewPCG(1, 2))
		g := grid{y: newRows(blocks, arms), mask: make([][]bool, blocks), width: arms * perArm, column: make([][]int, blocks)}
		for b := range blocks {
			g.mask[b], g.column[b] = make([]bool, arms), make([]int, arms)
			for j := range arms {
				g.mask[b][j] = random.IntN(10) > 0
				g.y[b][j], g.column[b][j] = random.NormFloat64(), j*perArm+random.IntN(perArm)
			}
		}
		s, ok := newSolver(g)
		if !ok || s.blocksStay != (perArm == 30) {
			t.Fatalf("%d builds: %v, over blocks %v", perArm, ok, s.blocksStay)
		}
		block, effect := s.solve(g.y)
		inBlock, inEffect := make([]float64, blocks), make([]float64, g.width)
		each(g, func(b, j int) {
			r := g.y[b][j] - block[b] - effect[g.armOf(b, j)]
			inBlock[b], inEffect[g.armOf(b, j)] = inBlock[b]+r, inEffect[g.armOf(b, j)]+r
		})
		for _, sum := range append(inBlock, inEffect...) {
			if math.Abs(sum) > 1e-9 {
				t.Fatalf("%d builds: the fit leaves %g", perArm, sum)
			}
		}
		v := builds{id: g.column, total: g.width, reused: slices.Repeat([]bool{true}, arms)}
		narrow := g
		narrow.column, narrow.width = nil, arms
		s, _ = newSolver(narrow)
		var want float64
		for k := range v.total {
			indicator := newRows(blocks, arms)
			each(g, func(b, j int) {
				if v.id[b][j] == k {
					indicator[b][j] = 1
				}
			})
			want += s.residualSS(indicator)
		}
		if got := v.trace(s); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d builds: left over %g, want %g", perArm, got, want)
		}
	}
}
