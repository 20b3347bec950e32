package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// midranks returns the ranks, from 1; equal values share their mean rank. Ties is Σ(t³−t) over groups of t equal
// values.
func midranks(x []float64) (ranks []float64, ties float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	ranks = make([]float64, len(x))
	for lo := 0; lo < len(order); {
		hi := lo
		for hi < len(order) && x[order[hi]] == x[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			ranks[i] = float64(lo+1+hi) / 2
		}
		t := float64(hi - lo)
		ties += t*t*t - t
		lo = hi
	}
	return ranks, ties
}

// RankTest is the result of a rank test.
type RankTest struct {
	Statistic float64
	P         float64 // two-sided
	Exact     bool    // from the permutation distribution
}

// exactPairs is the largest number of pairs of values for which Mann–Whitney is exact.
const exactPairs = 2500

// MannWhitney compares two independent samples. The statistic is U of x: the number of pairs with x above y, where ties
// count half. The test is exact without ties (and up to 2,500 pairs). Otherwise it uses the normal approximation with
// corrections for ties and continuity.
func MannWhitney(x, y []float64) (RankTest, error) {
	for _, sample := range [][]float64{x, y} {
		if err := checkSample(sample, 1); err != nil {
			return RankTest{}, err
		}
	}
	ranks, ties := midranks(slices.Concat(x, y))
	n, m := float64(len(x)), float64(len(y))
	u := -n * (n + 1) / 2
	for _, r := range ranks[:len(x)] {
		u += r
	}
	if ties == 0 && len(x)*len(y) <= exactPairs {
		return RankTest{Statistic: u, P: mannWhitneyP(len(x), len(y), min(u, n*m-u)), Exact: true}, nil
	}
	total := n + m
	variance := n * m / 12 * (total + 1 - ties/(total*(total-1)))
	if !(variance > 0) { // all values equal
		return RankTest{Statistic: u, P: 1}, nil
	}
	z := max(0, math.Abs(u-n*m/2)-0.5) / math.Sqrt(variance)
	return RankTest{Statistic: u, P: 2 * distuv.UnitNormal.CDF(-z)}, nil
}

// mannWhitneyP counts by the recursion of Mann and Whitney (1947), as a knapsack: choose n of n+m ranks. U is the sum
// of the ranks minus the smallest possible sum.
func mannWhitneyP(n, m int, u float64) float64 {
	counts := make([][]float64, n+1) // [chosen][U]
	for i := range counts {
		counts[i] = make([]float64, n*m+1)
	}
	counts[0][0] = 1
	for rank := 1; rank <= n+m; rank++ {
		for chosen := min(rank, n); chosen >= 1; chosen-- {
			shift := rank - chosen // adds this to U if it is the chosen-th
			for v := n * m; v >= shift; v-- {
				counts[chosen][v] += counts[chosen-1][v-shift]
			}
		}
	}
	var below, all float64
	for v, c := range counts[n] {
		all += c
		if float64(v) <= u {
			below += c
		}
	}
	return min(1, 2*below/all)
}
