package verdict

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Constants of rules 2, chosen by simulation for the fewest trials among those that
// keep 5 % in the worlds of bench/truth.
const (
	likeLevel   = 0.35 // of the test that arms are alike in noise, over all arms
	likePriorDF = 8    // weight of the pooled variance between alike arms
	likeFloor   = 0.6  // residuals are clipped at 2.5 × at least this share of the least-squares σ
	trimFrom    = 5    // blocks from which each arm's largest residual is left out of that test
	skewWeight  = 3    // of the sample's skewness in Hall's transformation
	atLeastLike = 3    // arms that make a pool
)

// noise says which arms of a look are alike in noise, and what they share.
type noise struct {
	alike []bool
	pool  twoWay // fit of the alike arms alone; no alike arm: unused
}

// judgeNoise finds the running arms that are alike: an arm is not when its mean
// square exceeds the F quantile times the median arm's. The largest residual of each
// is left out, so that a single stall does not make an arm a noisy one. A pool of
// fewer than three arms is none.
func judgeNoise(f *twoWay, running []bool) noise {
	out := noise{alike: make([]bool, f.width)}
	squares := make([]float64, f.width)
	var order []int
	blocks := 0
	for j := range f.width {
		if n, ms := f.spread(j); running[j] && n >= 2 {
			squares[j], blocks = ms, max(blocks, n)
			order = append(order, j)
		}
	}
	k := len(order)
	if k < atLeastLike {
		return out
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(squares[a], squares[b]) })
	median, found := squares[order[(k-1)/2]], 0
	limit := distuv.F{D1: float64(blocks - 1), D2: float64((blocks-1)*k/2 + 1)}.Quantile(1 - likeLevel/float64(k))
	for _, j := range order {
		if squares[j] <= limit*median {
			out.alike[j] = true
			found++
		}
	}
	if found < atLeastLike {
		return noise{alike: make([]bool, f.width)}
	}
	g := f.grid
	g.mask = make([][]bool, len(f.mask))
	for b, row := range f.mask {
		g.mask[b] = make([]bool, f.width)
		for j := range row {
			g.mask[b][j] = row[j] && out.alike[j]
		}
	}
	var ok bool
	if out.pool, ok = fitTwoWay(g, likeFloor); !ok {
		return noise{alike: make([]bool, f.width)}
	}
	return out
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// spread is the mean square of an arm's residuals, and the number of its trials.
func (f *twoWay) spread(j int) (n int, square float64) {
	var squares []float64
	for b := range f.y {
		if f.mask[b][j] {
			r := f.residual(b, j)
			squares = append(squares, r*r)
		}
	}
	n = len(squares)
	if n >= trimFrom {
		slices.Sort(squares)
		squares = squares[:n-1]
	}
	for _, x := range squares {
		square += x / float64(max(n-1, 1))
	}
	return n, square
}

// contrast of arms i and j by rules 2. Of alike arms it is that of their fit, the
// pair's own spread steadied by the pooled one. Any other pair goes by its own spread
// alone, never below that of the alike arms, and by the skewness of its differences.
func (x *noise) contrast(g grid, i, j int) contrast {
	if x.alike[i] && x.alike[j] {
		if c := x.pool.contrastBy(i, j, x.pool.priorDF(i, j)); finite(c.variance) {
			return c
		}
	}
	d := g.differences(i, j)
	c := ofSample(d)
	if x.pool.df > 0 {
		c.variance = max(c.variance, 2*x.pool.pooled/float64(max(c.common, 1)))
	}
	return c
}

// priorDF is how many degrees of freedom the pooled variance may weigh: no more than
// it has beside the pair's own.
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
	var d []float64
	for b := range g.y {
		if g.mask[b][i] && g.mask[b][j] {
			d = append(d, g.y[b][i]-g.y[b][j])
		}
	}
	return d
}

// ofSample is a mean with its own variance, n−1 degrees of freedom and skewness.
func ofSample(d []float64) contrast {
	c := contrast{common: len(d), df: float64(len(d) - 1), variance: math.NaN()}
	n := float64(len(d))
	for _, x := range d {
		c.effect += x / n
	}
	var square, cube float64
	for _, x := range d {
		r := x - c.effect
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
