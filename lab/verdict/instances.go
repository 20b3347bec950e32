package verdict

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// between holds the variance between builds of one layout, pooled over all layouts.
type between struct {
	variance float64 // NaN if it cannot be estimated
	inflated float64 // for intervals: larger, to allow for its few degrees of freedom
}

// estimateBetween estimates the variance between reused builds by the method of moments (Henderson's method III). The
// full model gives each build of an arm its own effect. It is fitted robustly, so that a deviating build is an effect
// and not an outlier. The model of blocks and builds has a smaller residual sum of squares than the model of blocks and
// arms. On the full model's pseudo-values that drop has the expectation df·noise + trace·σ².
//
// For intervals the mean square between builds is inflated by (t/z)² at the given tail probability. That allows for its
// few degrees of freedom, because the critical values are for the many residual ones. Arms is the solver of the model
// of blocks and arms.
func estimateBetween(v builds, g grid, arms *solver, upper float64) between {
	unknown := between{variance: math.NaN()}
	split := g
	split.column, split.width = v.columns(g)
	split.base = 0
	fit, ok := fitTwoWay(split, floorShare)
	full := fit.solver
	if full == nil || arms.df <= full.df {
		return unknown
	}
	noise := 0.0
	if ok {
		split.y = fit.pseudo
		noise = full.residualSS(split.y) / float64(full.df)
	}
	trace := v.trace(arms)
	if !(trace > 1e-9) {
		return unknown
	}
	df := float64(arms.df - full.df)
	square := (arms.residualSS(split.y) - full.residualSS(split.y)) / df
	ratio := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(upper) / distuv.UnitNormal.Quantile(upper)
	return between{
		variance: max(0, square-noise) * df / trace,
		inflated: max(0, ratio*ratio*square-noise) * df / trace,
	}
}

// trace returns the trace of Z'MZ: what one unit of variance between builds adds to the residual sum of squares of the
// model without builds.
func (v *builds) trace(arms *solver) (trace float64) {
	sums, fit := arms.indicators(func(b, j int) int {
		if v.reused[j] {
			return v.id[b][j]
		}
		return -1
	}, v.total, func(b int, has []int, cells []float64) {
		for _, k := range has {
			trace += cells[k] - cells[k]*cells[k]/arms.inGone[b]
		}
	})
	fit.MulElem(fit, sums)
	return trace - mat.Sum(fit)
}

func newRows(blocks, arms int) [][]float64 {
	rows := make([][]float64, blocks)
	for b := range rows {
		rows[b] = make([]float64, arms)
	}
	return rows
}
