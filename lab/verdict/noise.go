package verdict

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"filewise/lab/verdict/internal/boundary"
)

// Constants of rules 2. Simulation chose them: among those that keep the error at 5 % in the worlds of proof/truth,
// they need the fewest trials.
const (
	likeLevel   = 0.05 // level of the test that an arm is as noisy as the median arm, to either side
	likePriorDF = 8    // largest weight of the pooled variance between equally noisy arms, as degrees of freedom
	trimEvery   = 10   // the test leaves out one residual per this many trials of an arm
	skewWeight  = 2    // factor on the sample's skewness in Hall's transformation
	skewLimit   = 1.5  // in standard errors of a normal sample's skewness
	atLeastLike = 3    // fewest arms that make a pool
	likeRounds  = 3    // rounds of finding the pool and judging all arms by it
)

// noise holds which arms of an analysis are equally noisy (the pool), and the fit of the pool.
type noise struct {
	similar []bool
	pool    twoWay // fit of the equally noisy arms alone; unused if there are none
}

// judgeNoise finds the running arms of equal noise. It fits the arms found so far alone, because noisy arms blur the
// effects of blocks, and so the noise of other arms. It returns an empty pool if fewer than three arms are similar, or if
// the design has too few arms to show which arm is odd.
func (s *scene) judgeNoise(running []bool) noise {
	g := s.grid
	none := noise{similar: make([]bool, g.width)}
	if g.width < boundary.Rules2.Pooled {
		return none
	}
	members := running
	for round := 0; ; round++ {
		pool, ok := s.fit, true
		if slices.Contains(members, false) {
			pool, ok = fitHuber(g.only(members))
		}
		if !ok {
			return none
		}
		similar := pool.similar(g, running, members)
		if round == likeRounds || slices.Equal(similar, members) {
			if pool.skewed(g, members) {
				return none
			}
			return noise{similar: members, pool: pool}
		}
		if members = similar; count(members) < atLeastLike {
			return none
		}
	}
}

// similar returns the arms whose mean square equals the median arm's, by an F quantile to either side.
func (f *twoWay) similar(g grid, running, members []bool) []bool {
	odd := f.outliers(g, running)
	squares, present := make([]float64, g.width), []float64{}
	blocks := 0
	for j := range g.width {
		squares[j] = math.NaN()
		if !running[j] {
			continue
		}
		others := count(odd)
		if odd[j] {
			others--
		}
		r := f.residuals(g, j)
		if len(r) < 2 {
			continue
		}
		squares[j] = trimmedSquare(r, min(len(r)/trimEvery, others))
		share := 1 / float64(count(members))
		if members[j] {
			share = -share
		}
		squares[j] /= 1 + share
		present, blocks = append(present, squares[j]), max(blocks, len(r))
	}
	similar := make([]bool, g.width)
	if len(present) == 0 {
		return similar
	}
	slices.Sort(present)
	median := present[(len(present)-1)/2]
	limit := distuv.F{D1: float64(blocks - 1), D2: float64((blocks-1)*len(present)/2 + 1)}.Quantile(1 - likeLevel)
	for j, square := range squares {
		similar[j] = square <= limit*median && square >= median/limit // false for NaN
	}
	return similar
}

// skewed reports whether the members have a tail of slow trials, apart from stalls. Typical trials then differ from the
// mean, by an amount that depends on the shape of the tail. A fit that pulls in outliers would mistake that for an
// effect.
func (f *twoWay) skewed(g grid, members []bool) bool {
	limit := 2 * clipAt * f.sigma
	var kept []float64
	for j := range members {
		if !members[j] {
			continue
		}
		for _, r := range f.residuals(g, j) {
			if math.Abs(r) <= limit {
				kept = append(kept, r)
			}
		}
	}
	n := float64(len(kept))
	return n > 2 && -stat.Skew(kept, nil) > skewLimit*math.Sqrt(6/n)
}

// outliers returns the arms with trials that the fit pulls in. The test of equal noise leaves out an arm's largest
// residuals only if other arms have outliers too. What hits any layout comes from the machine; what hits one layout
// alone is its own.
func (f *twoWay) outliers(g grid, running []bool) []bool {
	out := make([]bool, g.width)
	limit := 2 * clipAt * f.sigma
	for j := range out {
		out[j] = running[j] && slices.ContainsFunc(f.residuals(g, j), func(r float64) bool { return math.Abs(r) > limit })
	}
	return out
}

// residuals returns the residuals of an arm, which need not be part of the fit, in blocks that the fit covers.
func (f *twoWay) residuals(g grid, j int) []float64 {
	var r []float64
	var mean float64
	own := false
	for b := range g.y {
		if g.mask[b][j] && slices.Contains(f.mask[b], true) {
			r = append(r, g.y[b][j]-f.block[b])
			mean += r[len(r)-1]
			own = own || f.mask[b][j]
		}
	}
	mean /= float64(len(r))
	if own {
		mean = f.arm[j]
	}
	for i := range r {
		r[i] -= mean
	}
	return r
}

// trimmedSquare returns the mean square of the residuals without the largest ones.
func trimmedSquare(r []float64, without int) float64 {
	squares := make([]float64, len(r))
	for i, x := range r {
		squares[i] = x * x
	}
	slices.Sort(squares)
	var sum float64
	for _, x := range squares[:len(r)-without] {
		sum += x
	}
	return sum / float64(len(r)-1)
}

// only returns the grid of the given arms.
func (g grid) only(arms []bool) grid {
	mask := make([][]bool, len(g.mask))
	for b, row := range g.mask {
		mask[b] = make([]bool, g.width)
		for j := range row {
			mask[b][j] = row[j] && arms[j]
		}
	}
	g.mask = mask
	return g
}

func count(set []bool) int {
	n := 0
	for _, in := range set {
		if in {
			n++
		}
	}
	return n
}

// contrast returns the contrast of arms i and j by rules 2. If both have equal noise, it comes from the fit of the
// pool: the pooled spread steadies the pair's own spread. Any other pair uses its own spread alone, at least the
// pool's, and the skewness of its differences.
func (x *noise) contrast(g grid, i, j int) contrast {
	if x.similar[i] && x.similar[j] {
		if c := x.pool.contrastBy(i, j, x.pool.priorDF(i, j)); finite(c.variance) {
			return c
		}
	}
	c := ofSample(g.differences(i, j))
	if x.pool.df > 0 {
		c.variance = max(c.variance, 2*x.pool.pooled/float64(max(c.common, 1)))
	}
	return c
}

// priorDF returns the largest weight of the pooled variance, in degrees of freedom. It is at most what the pooled
// variance has in addition to the pair's own.
func (f *twoWay) priorDF(i, j int) float64 {
	common := 0
	for b := range f.mask {
		if f.mask[b][i] && f.mask[b][j] {
			common++
		}
	}
	return max(0, min(likePriorDF, float64(f.df-(common-1))))
}

// differences returns the differences of two arms in their common blocks.
func (g grid) differences(i, j int) []float64 {
	d := make([]float64, 0, len(g.y))
	for b := range g.y {
		if g.mask[b][i] && g.mask[b][j] {
			d = append(d, g.y[b][i]-g.y[b][j])
		}
	}
	return d
}

// ofSample returns the contrast of a sample of differences: their mean, with its own variance, n−1 degrees of freedom
// and skewness.
func ofSample(d []float64) contrast {
	c := contrast{own: true, common: len(d), df: float64(len(d) - 1), variance: math.NaN()}
	n := float64(len(d))
	for _, x := range d {
		c.effect += x / n
	}
	var square, cube float64
	for _, x := range d {
		r := x - c.effect
		c.farthest[0], c.farthest[1] = max(c.farthest[0], -r), max(c.farthest[1], r)
		square += r * r
		cube += r * r * r
	}
	if len(d) >= 2 {
		c.variance = square / (n - 1) / n
	}
	if square > rounding {
		skewness := cube / n / math.Pow(square/n, 1.5)
		c.skew = skewWeight * skewness / (3 * math.Sqrt(n))
	}
	return c
}
