package verdict

import "math"

// calibrateFrom is the fewest degrees of freedom for fitting a slope, which uses one of them.
const calibrateFrom = 4

// maxSlope bounds the slope: throughput cannot depend much more than proportionally on the speed that the probe
// measures.
const maxSlope = 1.5

// calibration adjusts log throughput for the state of the machine, which a probe measures just before each trial.
type calibration struct {
	slope  float64   // NaN means no adjustment
	scale  float64   // factor on variances, for the degree of freedom that the slope uses
	square float64   // residual sum of squares of the probe
	arm    []float64 // effects of arms on the probe
}

// calibrate returns g with adjusted values if every trial has a probe. The slope is a regression of throughput's
// clipped residuals on the probe's residuals, both within blocks and arms. So neither layouts nor slow runs bend the
// slope. It is clipped to [0, 1.5].
func calibrate(t Table, g grid) (grid, calibration) {
	none := calibration{slope: math.NaN(), scale: 1}
	x, complete := probes(t, g)
	if !complete {
		return g, none
	}
	fit, ok := fitTwoWay(g, floorShare)
	if !ok || fit.df < calibrateFrom {
		return g, none
	}
	solver, _ := newSolver(g)
	block, arm := solver.solve(x)
	c := calibration{scale: float64(fit.df) / float64(fit.df-1), arm: arm}
	var product, mean, cells float64
	each(g, func(b, j int) {
		rx := x[b][j] - block[b] - arm[j]
		c.square += rx * rx
		product += rx * (fit.pseudo[b][j] - fit.block[b] - fit.arm[j])
		mean += x[b][j]
		cells++
	})
	if c.square < rounding {
		return g, none // a probe that never varies gives no information
	}
	c.slope = max(0, min(maxSlope, product/c.square))
	adjusted := g
	adjusted.y = newRows(len(g.y), g.width)
	each(g, func(b, j int) {
		adjusted.y[b][j] = g.y[b][j] - c.slope*(x[b][j]-mean/cells)
	})
	return adjusted, c
}

// apply adds the slope's own uncertainty to the variance of the contrast of arms i and j.
func (c calibration) apply(variance, pooled float64, i, j int) float64 {
	if math.IsNaN(c.slope) {
		return variance
	}
	dx := c.arm[i] - c.arm[j]
	return c.scale * (variance + pooled*dx*dx/c.square)
}

// probes returns the logarithms of the probes of all trials in g. It returns false if a probe is missing.
func probes(t Table, g grid) (x [][]float64, complete bool) {
	x, complete = newRows(len(g.y), g.width), true
	each(g, func(b, j int) {
		probe := t[b][j].Calibration
		if !(probe > 0 && finite(probe)) {
			complete = false
			return
		}
		x[b][j] = math.Log(probe)
	})
	return x, complete
}

// each calls f for every cell that has a trial.
func each(g grid, f func(b, j int)) {
	for b := range g.mask {
		for j, present := range g.mask[b] {
			if present {
				f(b, j)
			}
		}
	}
}
