package verdict

import "math"

// contrast is what is known about the difference of two arms.
type contrast struct {
	effect   float64 // θ̂_i − θ̂_j
	variance float64
	common   int // blocks that have both
}

func (c contrast) se() float64 { return math.Sqrt(c.variance) }

// contrast estimates arm i less arm j. The variance is the pair's own, over
// the differences within their common blocks, steadied by the pooled one with
// the weight of ν₀ degrees of freedom: so it holds when arms differ in noise.
// With fewer than two common blocks it is NaN.
func (f *twoWay) contrast(i, j int) contrast {
	var n int
	var mean, square float64
	for b := range f.y {
		if !f.mask[b][i] || !f.mask[b][j] {
			continue
		}
		// Welford's update: differences are small beside their level.
		n++
		d := f.pseudo[b][i] - f.pseudo[b][j]
		delta := d - mean
		mean += delta / float64(n)
		square += delta * (d - mean)
	}
	c := contrast{effect: f.arm[i] - f.arm[j], variance: math.NaN(), common: n}
	if n >= 2 {
		own := square / (f.unclipped * f.unclipped)
		c.variance = (priorDF*2*f.pooled + own) / float64(priorDF+n-1) / float64(n)
	}
	return c
}

// rawEffect is the difference of plain means of ln over common blocks.
func (g grid) rawEffect(i, j int) float64 {
	var n, sum float64
	for b := range g.y {
		if g.mask[b][i] && g.mask[b][j] {
			sum += g.y[b][i] - g.y[b][j]
			n++
		}
	}
	return sum / n
}
