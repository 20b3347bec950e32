package report

import (
	"math"
	"slices"
)

// rate is a unit for bytes per second.
type rate struct {
	Name  string
	Scale float64
}

// rateFor is the unit in which x bytes a second reads well.
func rateFor(x float64) rate {
	switch {
	case x >= 1e9:
		return rate{"GB/s", 1e9}
	case x > 0 && x < 1e5:
		return rate{"kB/s", 1e3}
	}
	return rate{"MB/s", 1e6}
}

// Of writes x bytes a second in the unit.
func (r rate) Of(x float64) string {
	if !known(x) {
		return absent
	}
	return sig3(x / r.Scale)
}

// median of the values; NaN when there is none.
func median(xs []float64) float64 { return quantile(xs, 0.5) }

// quantile interpolates linearly between the order statistics (Hyndman & Fan,
// type 7); NaN when there is no value.
func quantile(xs []float64, p float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	at := p * float64(len(s)-1)
	i := int(at)
	if i+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}
