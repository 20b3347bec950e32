package verdict

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// between is the variance between builds of one layout, pooled over arms.
type between struct {
	variance float64 // NaN = cannot be estimated
	inflated float64 // for intervals: made up for its few degrees of freedom
}

// estimateBetween finds the variance between reused builds by the method of moments (Henderson's method III). The
// full model gives each build of an arm an effect of its own and is fitted robustly, so that a build that is off is
// an effect and not an outlier. On its pseudo-values, the drop in residual sum of squares from the model of blocks
// and arms to the model of blocks and builds has expectation df·noise + trace·σ².
//
// For intervals the mean square between builds is inflated by (t/z)² at the given tail probability for its few
// degrees of freedom, because the critical values are for the (many) residual ones.
func estimateBetween(v builds, g grid, upper float64) between {
	unknown := between{variance: math.NaN()}
	column, total := v.columns(g)
	split := g.scatter(g.y, column, total)
	arms, ok1 := newSolver(g)
	full, ok2 := newSolver(split)
	if !ok1 || !ok2 || arms.df <= full.df {
		return unknown
	}
	noise := 0.0
	if fit, ok := fitTwoWay(split, floorShare); ok {
		split.y = fit.pseudo
		noise = full.residualSS(split.y) / float64(full.df)
	}
	trace := v.trace(g, arms)
	if !(trace > 1e-9) {
		return unknown
	}
	df := float64(arms.df - full.df)
	square := (arms.residualSS(g.gather(split.y, column)) - full.residualSS(split.y)) / df
	ratio := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(upper) / distuv.UnitNormal.Quantile(upper)
	return between{
		variance: max(0, square-noise) * df / trace,
		inflated: max(0, ratio*ratio*square-noise) * df / trace,
	}
}

// trace of Z'MZ: what a unit of variance between builds adds to the residual
// sum of squares of the model without builds.
func (v *builds) trace(g grid, arms *solver) float64 {
	var sum float64
	for k := range v.total {
		indicator := newRows(len(g.y), g.width)
		used := false
		for b := range g.y {
			for j := range g.width {
				if v.reused[j] && v.id[b][j] == k {
					indicator[b][j] = 1
					used = true
				}
			}
		}
		if used {
			sum += arms.residualSS(indicator)
		}
	}
	return sum
}

// scatter moves each cell of y into its column of a wider grid.
func (g grid) scatter(y [][]float64, column [][]int, columns int) grid {
	wide := grid{y: newRows(len(y), columns), mask: make([][]bool, len(y)), width: columns}
	for b := range wide.mask {
		wide.mask[b] = make([]bool, columns)
	}
	each(g, func(b, j int) {
		wide.y[b][column[b][j]] = y[b][j]
		wide.mask[b][column[b][j]] = true
	})
	return wide
}

// gather is the inverse of scatter.
func (g grid) gather(wide [][]float64, column [][]int) [][]float64 {
	y := newRows(len(wide), g.width)
	each(g, func(b, j int) { y[b][j] = wide[b][column[b][j]] })
	return y
}

func newRows(blocks, arms int) [][]float64 {
	rows := make([][]float64, blocks)
	for b := range rows {
		rows[b] = make([]float64, arms)
	}
	return rows
}
