package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Limits of exact enumeration.
const (
	maxSigned   = 500
	maxSignFlip = 22
)

// WilcoxonSignedRank tests paired differences against 0, exactly, also with
// ties (midranks); zeros are left out. The statistic is the smaller of the
// two rank sums.
func WilcoxonSignedRank(d []float64) (RankTest, error) {
	if err := checkSample(d, 1); err != nil {
		return RankTest{}, err
	}
	var size []float64
	var positive []bool
	for _, v := range d {
		if v != 0 {
			size = append(size, math.Abs(v))
			positive = append(positive, v > 0)
		}
	}
	if len(size) > maxSigned {
		return RankTest{}, inputError("%d differences, at most %d", len(size), maxSigned)
	}
	ranks, _ := midranks(size)
	var plus, minus float64
	for i, r := range ranks {
		if positive[i] {
			plus += r
		} else {
			minus += r
		}
	}
	w := min(plus, minus)
	return RankTest{Statistic: w, P: min(1, 2*cumulative(signedDistribution(ranks), w)), Exact: true}, nil
}

// signedDistribution is the probability of each rank sum, by halves (so that
// midranks are whole numbers), when each sign is a coin.
func signedDistribution(ranks []float64) []float64 {
	p := []float64{1}
	for _, r := range ranks {
		shift := int(math.Round(2 * r))
		next := make([]float64, len(p)+shift)
		for v, q := range p {
			next[v] += q / 2
			next[v+shift] += q / 2
		}
		p = next
	}
	return p
}

// cumulative probability of a rank sum up to w.
func cumulative(p []float64, w float64) float64 {
	var sum float64
	for v := 0; v < len(p) && float64(v) <= 2*w+1e-9; v++ {
		sum += p[v]
	}
	return sum
}

// HodgesLehmann is the median of the Walsh averages (means of all pairs, each value with itself too), with the
// interval that inverts the signed-rank test. Achieved is its confidence, at least the demanded one.
type HodgesLehmann struct {
	Estimate float64
	CI       Interval
	Achieved float64
	OK       bool // false means so few values that no interval has the confidence
}

// SignedRankInterval computes the Hodges–Lehmann estimate and interval.
func SignedRankInterval(d []float64, confidence float64) (HodgesLehmann, error) {
	if err := checkSample(d, 1); err != nil {
		return HodgesLehmann{}, err
	}
	if err := checkConfidence(confidence); err != nil {
		return HodgesLehmann{}, err
	}
	if len(d) > maxSigned {
		return HodgesLehmann{}, inputError("%d differences, at most %d", len(d), maxSigned)
	}
	var walsh []float64
	ranks := make([]float64, len(d))
	for i, v := range d {
		ranks[i] = float64(i + 1)
		for _, w := range d[i:] {
			walsh = append(walsh, v/2+w/2)
		}
	}
	slices.Sort(walsh)
	h := HodgesLehmann{Estimate: Quantile(walsh, 0.5)}
	p := signedDistribution(ranks)
	k := -1 // the largest rank sum in the tail
	for cumulative(p, float64(k+1)) <= (1-confidence)/2 {
		k++
	}
	if k >= 0 {
		h.OK = true
		h.CI = Interval{walsh[k], walsh[len(walsh)-1-k]}
		h.Achieved = 1 - 2*cumulative(p, float64(k))
	}
	return h, nil
}

// SignFlip tests paired differences against 0 by all 2ⁿ sign changes; the
// statistic is |mean|. At most 22 differences.
func SignFlip(d []float64) (p float64, err error) {
	if err := checkSample(d, 1); err != nil {
		return 0, err
	}
	if len(d) > maxSignFlip {
		return 0, inputError("%d differences, at most %d", len(d), maxSignFlip)
	}
	n := float64(len(d))
	observed := math.Abs(stat.Mean(d, nil) * n)
	// Sums that differ by rounding alone are ties.
	limit := observed - 1e-12*max(observed, largest(d))
	extreme := 0
	for signs := range 1 << len(d) {
		var sum float64
		for i, v := range d {
			if signs>>i&1 == 1 {
				v = -v
			}
			sum += v
		}
		if math.Abs(sum) >= limit {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<len(d)), nil
}

func largest(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}
