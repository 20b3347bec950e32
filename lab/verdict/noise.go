package verdict

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"filewise/lab/verdict/internal/boundary"
)

// Constants of rules 2, chosen by simulation for the fewest trials among those that
// keep 5 % in the worlds of proof/truth.
const (
	likeLevel   = 0.05 // of the test that an arm has the median arm's noise, to either side
	likePriorDF = 8    // weight of the pooled variance between equally noisy arms
	trimEvery   = 10   // for so many trials of an arm a residual is left out of that test
	skewWeight  = 2    // of the sample's skewness in Hall's transformation
	skewLimit   = 1.5  // standard errors of a normal sample's skewness
	atLeastLike = 3    // arms that make a pool
	likeRounds  = 3    // of finding the pool and judging all arms by it
)

// noise holds which arms of a look are equally noisy, and their common noise.
type noise struct {
	alike []bool
	pool  twoWay // fit of the equally noisy arms alone; unused if there are none
}

// judgeNoise finds the running arms of equal noise, around the fit of the ones found so far: noisy ones blur the
// blocks' effects, and so the others' noise. A pool of fewer than three arms is none. So is a pool in a design with
// too few arms to show which one is odd.
func (s *scene) judgeNoise(running []bool) noise {
	g := s.grid
	none := noise{alike: make([]bool, g.width)}
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
		alike := pool.alike(g, running, members)
		if round == likeRounds || slices.Equal(alike, members) {
			if pool.skewed(g, members) {
				return none
			}
			return noise{alike: members, pool: pool}
		}
		if members = alike; count(members) < atLeastLike {
			return none
		}
	}
}

// alike finds the arms whose mean square equals the median arm's, by an F quantile to either side.
func (f *twoWay) alike(g grid, running, members []bool) []bool {
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
	alike := make([]bool, g.width)
	if len(present) == 0 {
		return alike
	}
	slices.Sort(present)
	median := present[(len(present)-1)/2]
	limit := distuv.F{D1: float64(blocks - 1), D2: float64((blocks-1)*len(present)/2 + 1)}.Quantile(1 - likeLevel)
	for j, square := range squares {
		alike[j] = square <= limit*median && square >= median/limit // not of NaN
	}
	return alike
}

// skewed reports whether the members have a tail of slow trials, stalls aside. Their typical trials then differ from
// their means, by as much as the shapes of their tails do. A fit that pulls in trials takes that for an effect.
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

// outliers are the arms with trials that are pulled in. An arm's largest residuals are
// left out of the test only as far as other arms have such ones too: what hits any
// layout is the machine's, and what hits one alone is its own.
func (f *twoWay) outliers(g grid, running []bool) []bool {
	out := make([]bool, g.width)
	limit := 2 * clipAt * f.sigma
	for j := range out {
		out[j] = running[j] && slices.ContainsFunc(f.residuals(g, j), func(r float64) bool { return math.Abs(r) > limit })
	}
	return out
}

// residuals of an arm that need not be one of the fit's, in blocks that the fit has.
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

// trimmedSquare is the mean square of residuals without the largest ones.
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

// only is the grid of some arms.
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

// contrast of arms i and j by rules 2. For arms of equal noise it comes from their fit, with the pair's own spread
// steadied by the pooled one. Any other pair goes by its own spread alone, never below the spread of the arms of
// equal noise, and by the skewness of its differences.
func (x *noise) contrast(g grid, i, j int) contrast {
	if x.alike[i] && x.alike[j] {
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

// priorDF returns the most degrees of freedom that the pooled variance may weigh: no more than it has in addition to
// the pair's own.
func (f *twoWay) priorDF(i, j int) float64 {
	common := 0
	for b := range f.mask {
		if f.mask[b][i] && f.mask[b][j] {
			common++
		}
	}
	return max(0, min(likePriorDF, float64(f.df-(common-1))))
}

// differences of two arms in their common blocks.
func (g grid) differences(i, j int) []float64 {
	d := make([]float64, 0, len(g.y))
	for b := range g.y {
		if g.mask[b][i] && g.mask[b][j] {
			d = append(d, g.y[b][i]-g.y[b][j])
		}
	}
	return d
}

// ofSample is a mean with its own variance, n−1 degrees of freedom and skewness.
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
