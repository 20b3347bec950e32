package boundary

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNthSmallest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		x := make([]float64, 1+random.IntN(30))
		for i := range x {
			x[i] = float64(random.IntN(10)) // with ties
		}
		sorted := slices.Sorted(slices.Values(x))
		for n := range x {
			if got := NthSmallest(slices.Clone(x), n); got != sorted[n] {
				t.Fatalf("rank %d of %v: %v", n, x, got)
			}
		}
	}
}

// TestErrorIsSpent: the increments add up to what is spent, and all of it is
// spent at the last analysis.
func TestErrorIsSpent(t *testing.T) {
	sum := 0.0
	for n := FirstAnalysis; n <= 12; n++ {
		sum += Increment(0.05, Rules1.Rho, n, 12, FirstAnalysis)
	}
	if math.Abs(sum-0.05) > 1e-12 || spent(0.05, Rules1.Rho, 12, 12) != 0.05 {
		t.Errorf("%v", sum)
	}
}

// TestTinySimulation: extreme arguments are served.
func TestTinySimulation(t *testing.T) {
	for _, alpha := range []float64{1e-9, 0.999} {
		table := Rules2.Simulate(2, []int{3, 8}, alpha, 10, 1)
		if len(table[0].TwoSided) != 1 || len(table[1].OneSided) != 6 {
			t.Errorf("%v", table)
		}
	}
}
