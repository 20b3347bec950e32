package verdict

import "math"

// Tolerances for finding the grid of values, such as counts of operations or seconds without decimals.
const (
	gridNoise  = 1e-7 // of the largest value: a smaller rest of a common divisor is rounding
	finestGrid = 1e-4 // of the smallest value: no finer step matters to an interval
)

// grain is the step between values that can be distinguished: steps of the values, and of their inverses, for tables
// that were durations. 0 means no step that matters.
type grain struct{ value, inverse float64 }

// grainOf returns the steps of all trials in g. Numbers that vary freely have no common divisor.
func grainOf(t Table, g grid) grain {
	var found grain
	for _, of := range []struct {
		step *float64
		at   func(x float64) float64
	}{{&found.value, func(x float64) float64 { return x }}, {&found.inverse, func(x float64) float64 { return 1 / x }}} {
		least, most := math.Inf(1), 0.0
		each(g, func(b, j int) {
			x := of.at(t[b][j].Throughput)
			least, most = min(least, x), max(most, x)
		})
		step := 0.0
		each(g, func(b, j int) {
			if step == 0 || step > finestGrid*least {
				step = commonDivisor(step, of.at(t[b][j].Throughput), gridNoise*most)
			}
		})
		if step > finestGrid*least {
			*of.step = step
		}
	}
	return found
}

// commonDivisor returns the greatest common divisor of two numbers by Euclid's algorithm, with a tolerance.
func commonDivisor(a, b, tolerance float64) float64 {
	for b > tolerance {
		a, b = b, math.Abs(a-b*math.Round(a/b))
	}
	return a
}

// between returns the error of a difference of two arms that the steps of their values cause, on the log scale. It is
// one step of the smaller value, and more trials do not reduce it.
func (x grain) between(levels ...float64) float64 {
	off := 0.0
	for _, level := range levels {
		off = max(off, math.Log1p(x.value/level), math.Log1p(x.inverse*level))
	}
	return off
}

// level returns the geometric mean of an arm's trials.
func (g grid) level(j int) float64 {
	var sum, n float64
	for b := range g.y {
		if g.mask[b][j] {
			sum, n = sum+g.y[b][j], n+1
		}
	}
	return math.Exp(sum / n)
}
