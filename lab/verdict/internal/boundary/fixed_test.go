package boundary

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"filewise/lab/verdict/internal/vectorstest"
)

func TestVectors(t *testing.T) {
	vectorstest.Run(t, "../../testdata/stat-vectors.json", vectorstest.All-1, map[string]func(*testing.T, json.RawMessage){
		"moderated_fixed_n_critical": testModeratedFixedN})
}

// testModeratedFixedN: with a single analysis that may use all the error, the
// boundary is the fixed-n critical value.
func testModeratedFixedN(t *testing.T, data json.RawMessage) {
	if vectorstest.Raced {
		t.Skip("a long simulation")
	}
	var v struct {
		Tol   float64
		Table []struct {
			K, N     int
			TwoSided float64 `json:"two_sided_95"`
			OneSided float64 `json:"one_sided_95"`
		}
	}
	vectorstest.Decode(t, data, &v)
	analyses := map[int][]int{}
	for _, want := range v.Table {
		analyses[want.K] = append(analyses[want.K], want.N)
	}
	tables := map[int]Table{}
	for k, ns := range analyses {
		tables[k] = fixedN(k, ns, 0.05, 60_000, 3)
	}
	for _, want := range v.Table {
		i := slices.Index(analyses[want.K], want.N)
		what := fmt.Sprintf("K=%d n=%d", want.K, want.N)
		vectorstest.Relative(t, what+" two-sided", tables[want.K].TwoSided[i], want.TwoSided, v.Tol)
		vectorstest.Relative(t, what+" one-sided", tables[want.K].OneSided[i], want.OneSided, v.Tol)
	}
}

// fixedN returns the critical values for a single analysis after n blocks, for each n (at least 3, ascending), without the
// safety factor. Comparing them with Simulate's shows the cost of looking often.
func fixedN(k int, ns []int, alpha float64, sims int, seed uint64) Table {
	world := newWorld(Rules1, k, sims, seed)
	keep := int(math.Round((1 - alpha) * float64(sims)))
	var t Table
	for _, n := range ns {
		for world.n < n {
			world.nextBlock()
		}
		t.TwoSided = append(t.TwoSided, NthSmallest(world.two, keep-1))
		t.OneSided = append(t.OneSided, NthSmallest(world.one, keep-1))
	}
	return t
}
