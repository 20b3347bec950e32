package stats

import "math"

// MixtureMultiplier is the half width, in standard errors, of a confidence sequence of k−1 contrasts with a control
// after n blocks: valid at every n without a maximum, and wider for it. It mixes t-likelihood ratios over a normal
// prior of relative variance g, Bonferroni over contrasts. +Inf while there is no information yet, NaN for arguments
// out of range.
func MixtureMultiplier(n, k int, alpha, g float64) float64 {
	if n < 2 || k < 2 || !(alpha > 0 && alpha < 1) || !(g > 0) {
		return math.NaN()
	}
	a := alpha / float64(k-1)
	nu := float64((k - 1) * (n - 1))
	r := 1 / (1 + float64(n)*g)
	q := math.Pow(1/(a*a*r), 1/(nu+1))
	if r*q >= 1 {
		return math.Inf(1)
	}
	return math.Sqrt(nu * (q - 1) / (1 - r*q))
}
