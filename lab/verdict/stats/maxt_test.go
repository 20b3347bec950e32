package stats

import "math"

// maxArrangements is the most arrangements that MaxT enumerates.
const maxArrangements = 2_000_000

// Randomisation is the result of a randomisation test.
type Randomisation struct {
	Statistic    float64
	P            float64
	Arrangements int
}

// MaxT is the exact randomisation test of "no arm differs from the first": it
// rearranges the arms within blocks in all ways. The statistic is the largest
// |difference of log means| over the root of the residual sum of squares. It
// is valid whatever the noise; it returns an error beyond 2,000,000
// arrangements.
func MaxT(throughput [][]float64) (Randomisation, error) {
	y, err := logTable(throughput, 2, 2)
	if err != nil {
		return Randomisation{}, err
	}
	orders := permutations(len(y[0]))
	total := 1.0
	for range y {
		total *= float64(len(orders))
	}
	if orders == nil || total > maxArrangements {
		return Randomisation{}, inputError("too many arrangements to enumerate")
	}
	observed := maxT(y)
	extreme := 0
	arranged := make([][]float64, len(y))
	for b := range y {
		arranged[b] = make([]float64, len(y[b]))
	}
	for code := range int(total) {
		for b, c := 0, code; b < len(y); b, c = b+1, c/len(orders) {
			for j, from := range orders[c%len(orders)] {
				arranged[b][j] = y[b][from]
			}
		}
		if maxT(arranged) >= observed*(1-1e-10) {
			extreme++
		}
	}
	return Randomisation{observed, float64(extreme) / total, int(total)}, nil
}

func maxT(y [][]float64) float64 {
	r := rcb(y)
	var largest float64
	for _, m := range r.ArmMeans[1:] {
		largest = max(largest, math.Abs(m-r.ArmMeans[0]))
	}
	if largest == 0 {
		return 0
	}
	return largest / math.Sqrt(r.MSE*r.DF)
}

// permutations of 0 … k−1; nil when there are too many.
func permutations(k int) [][]int {
	if k > 8 {
		return nil
	}
	all := [][]int{{}}
	for v := range k {
		var longer [][]int
		for _, p := range all {
			for at := range len(p) + 1 {
				q := append(append(append([]int{}, p[:at]...), v), p[at:]...)
				longer = append(longer, q)
			}
		}
		all = longer
	}
	return all
}
