package stats

import "math"

// Quantile returns a quantile of sorted values, type 7 (the default of R and numpy: linear between order statistics).
// It returns NaN if there are no values, or if p is outside [0, 1].
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	h := p * float64(len(sorted)-1)
	i := min(int(h), len(sorted)-1)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}
