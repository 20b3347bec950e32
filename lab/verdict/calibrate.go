package verdict

import "math"

// calibrateFrom is the least number of degrees of freedom for fitting a slope, which takes one of them.
const calibrateFrom = 4

// maxSlope: throughput cannot depend much more than proportionally on what
// the probe measures.
const maxSlope = 1.5

// calibration adjusts log throughput for the state of the machine by a probe right before each trial.
type calibration struct {
	slope  float64   // NaN = not applied
	scale  float64   // of variances: the degree of freedom that the slope took
	square float64   // residual sum of squares of the probe
	arm    []float64 // the probe's own arm effects
}

// calibrate returns g with adjusted values when every trial has a probe. The slope comes from clipped residuals of
// throughput on residuals of the probe, both within blocks and arms, so that neither layouts nor slow runs bend it;
// it is clipped to [0, 1.5].
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

// apply accounts for the slope's own uncertainty in the variance of arm i
// less arm j.
func (c calibration) apply(variance, pooled float64, i, j int) float64 {
	if math.IsNaN(c.slope) {
		return variance
	}
	dx := c.arm[i] - c.arm[j]
	return c.scale * (variance + pooled*dx*dx/c.square)
}

// probes returns the logarithms of the probes of all trials in g.
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

// each calls f for all cells that are present.
func each(g grid, f func(b, j int)) {
	for b := range g.mask {
		for j, present := range g.mask[b] {
			if present {
				f(b, j)
			}
		}
	}
}
