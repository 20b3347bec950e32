package verdict

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// contrast is the estimated difference of two arms.
type contrast struct {
	effect   float64 // θ̂_i − θ̂_j
	variance float64
	common   int        // blocks that have both arms
	df       float64    // of the variance. 0 means critical values apply unchanged (rules 1)
	own      bool       // by the pair's own spread, with the boundaries for that
	skew     float64    // weighted γ̂/(3√n) of Hall's transformation. 0 means no skew
	nearest  float64    // least distance of limits from the estimate, since values come in steps
	farthest [2]float64 // of the differences below and above the mean, from the mean. 0 means not known
}

// reversed returns the contrast of the same arms in reverse order.
func (c contrast) reversed() contrast {
	c.effect, c.skew = 0-c.effect, 0-c.skew // keeps 0 from becoming −0
	c.farthest[0], c.farthest[1] = c.farthest[1], c.farthest[0]
	return c
}

func (c contrast) se() float64 { return math.Sqrt(c.variance) }

// critical converts a critical value of an analysis into standard errors of this contrast. From rules 2 on the value is a
// normal score. It becomes the quantile of Student's t with the contrast's degrees of freedom that has the same
// probability.
func (c contrast) critical(score float64) float64 {
	switch {
	case c.df == 0 || !finite(score):
		return score
	case score > maxScore:
		return math.Inf(1)
	}
	key := [2]float64{c.df, score}
	if t, known := quantiles.Load(key); known {
		return t.(float64)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: c.df}.Quantile(1 - distuv.UnitNormal.Survival(score))
	quantiles.Store(key, t)
	return t
}

// quantiles caches quantiles of Student's t. Scores come from a table and degrees of freedom are whole numbers, so
// there are few. Each takes longer to compute than the fit of an analysis.
var quantiles sync.Map // {df, score} → t

// maxScore bounds normal scores. Beyond it, 1 minus the probability is only rounding error.
const maxScore = 7

// below and above return how far the truth may lie below and above the estimate. If differences are skewed, the mean of
// few differences errs more to the side of the short tail. On that side the limit comes from Hall's monotone
// transformation of t (1992), if it is farther than t's own limit. With few differences Hall's limit diverges, so it is
// never farther than the farthest difference. That costs less than 1 % in false alarms (proof/README.md, "Rules 2").
func (c contrast) below(score float64) float64 { return c.reach(score, c.skew, c.farthest[0]) }
func (c contrast) above(score float64) float64 { return c.reach(score, -c.skew, c.farthest[1]) }

func (c contrast) reach(score, a, farthest float64) float64 {
	t := c.critical(score)
	if a < 0 && finite(t) {
		hall := (math.Cbrt(1+3*a*(t-a/2)) - 1) / a
		if farthest > 0 {
			hall = min(hall, farthest/c.se())
		}
		t = max(t, hall)
	}
	return max(t*c.se(), c.nearest)
}

// contrast estimates arm i minus arm j by rules 1.
func (f *twoWay) contrast(i, j int) contrast {
	c := f.contrastBy(i, j, priorDF)
	c.df = 0
	return c
}

// contrastBy estimates arm i minus arm j. The variance is the pair's own, over the differences in their common blocks.
// The pooled variance steadies it with a weight of ν₀ degrees of freedom. With fewer than two common blocks the
// variance is NaN.
func (f *twoWay) contrastBy(i, j int, prior float64) contrast {
	var n int
	var mean, square float64
	for b := range f.y {
		if !f.mask[b][i] || !f.mask[b][j] {
			continue
		}
		// Welford's update: differences are small relative to their level.
		n++
		d := f.pseudo[b][i] - f.pseudo[b][j]
		delta := d - mean
		mean += delta / float64(n)
		square += delta * (d - mean)
	}
	c := contrast{effect: f.arm[i] - f.arm[j], variance: math.NaN(), common: n}
	if n >= 2 {
		own := square / (f.unclipped * f.unclipped)
		c.df = prior + float64(n-1)
		c.variance = (prior*2*f.pooled + own) / c.df / float64(n)
	}
	return c
}

// rawEffect returns the difference of the plain means of ln throughput over common blocks.
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
