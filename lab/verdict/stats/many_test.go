package stats

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// The distributions of the largest of many t-statistics are double integrals
// over the common standard deviation s = sqrt(χ²_ν/ν) and a normal deviate
// they share. Gauss–Legendre with these many nodes is good to some 1e-10.
const (
	nodes  = 64
	reach  = 8.5   // normal deviates beyond have no weight
	cutoff = 1e-14 // so has s outside these quantiles
)

// legendre nodes and weights on [−1, 1].
var legendre = sync.OnceValues(func() (x, w []float64) {
	x, w = make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
})

func integral(lo, hi float64, f func(float64) float64) float64 {
	x, w := legendre()
	var sum float64
	for i := range x {
		sum += w[i] * f((lo+hi)/2+(hi-lo)/2*x[i])
	}
	return sum * (hi - lo) / 2
}

// overScale averages f over the distribution of s; for infinite df s is 1.
func overScale(df float64, f func(s float64) float64) float64 {
	if math.IsInf(df, 1) {
		return f(1)
	}
	chi := distuv.ChiSquared{K: df}
	lo, hi := math.Sqrt(chi.Quantile(cutoff)/df), math.Sqrt(chi.Quantile(1-cutoff)/df)
	return integral(lo, hi, func(s float64) float64 {
		return chi.Prob(df*s*s) * 2 * df * s * f(s)
	})
}

// overNormal averages f over a standard normal deviate.
func overNormal(f func(z float64) float64) float64 {
	return integral(-reach, reach, func(z float64) float64 {
		return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * f(z)
	})
}

func phi(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// power by squaring: math.Pow would take most of the time.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}

// Sides of a test.
type Sides int

// One-sided: max t; two-sided: max |t|.
const (
	OneSided Sides = 1
	TwoSided Sides = 2
)

// DunnettCDF is the probability that the largest of k t-statistics against a
// common control stays within d, all samples of one size (correlation ½).
// df may be infinite. Source: Dunnett (1955).
func DunnettCDF(d float64, k int, df float64, sides Sides) float64 {
	if k < 1 || !(df > 0) || math.IsNaN(d) {
		return math.NaN()
	}
	if sides == TwoSided && d <= 0 {
		return 0
	}
	return overScale(df, func(s float64) float64 {
		shift := math.Sqrt2 * d * s
		return overNormal(func(z float64) float64 {
			inside := phi(z + shift)
			if sides == TwoSided {
				inside -= phi(z - shift)
			}
			return power(inside, k)
		})
	})
}

// DunnettQuantile inverts DunnettCDF; NaN outside 0.5 ≤ p < 1.
func DunnettQuantile(p float64, k int, df float64, sides Sides) float64 {
	return quantile(p, func(d float64) float64 { return DunnettCDF(d, k, df, sides) })
}

// DunnettP is the p-value of a contrast with the control, adjusted for k.
func DunnettP(t float64, k int, df float64, sides Sides) float64 {
	if sides == TwoSided {
		t = math.Abs(t)
	}
	return max(0, min(1, 1-DunnettCDF(t, k, df, sides)))
}

// TukeyCDF is the distribution of the studentised range of k means.
func TukeyCDF(q float64, k int, df float64) float64 {
	if k < 2 || !(df > 0) || math.IsNaN(q) {
		return math.NaN()
	}
	if q <= 0 {
		return 0
	}
	return overScale(df, func(s float64) float64 {
		return overNormal(func(z float64) float64 {
			return float64(k) * power(phi(z)-phi(z-q*s), k-1)
		})
	})
}

// TukeyQuantile inverts TukeyCDF; NaN outside 0.5 ≤ p < 1.
func TukeyQuantile(p float64, k int, df float64) float64 {
	return quantile(p, func(q float64) float64 { return TukeyCDF(q, k, df) })
}

// quantile finds where the increasing function cdf is p, between 0 and 1e6,
// by regula falsi with the Illinois modification.
func quantile(p float64, cdf func(float64) float64) float64 {
	if !(p >= 0.5 && p < 1) || math.IsNaN(cdf(1)) {
		return math.NaN()
	}
	lo, hi := 0.0, 2.0
	flo, fhi := cdf(lo)-p, cdf(hi)-p
	for fhi < 0 && hi < 1e6 {
		lo, flo = hi, fhi
		hi *= 2
		fhi = cdf(hi) - p
	}
	side := 0 // where the last points were: an end that stays is halved
	for range 200 {
		mid := (lo*fhi - hi*flo) / (fhi - flo)
		if !(mid > lo && mid < hi) {
			mid = (lo + hi) / 2
		}
		f := cdf(mid) - p
		if math.Abs(f) < 1e-13 || hi-lo < 1e-11*hi {
			return mid
		}
		if f < 0 {
			lo, flo = mid, f
			if side < 0 {
				fhi /= 2
			}
			side = -1
		} else {
			hi, fhi = mid, f
			if side > 0 {
				flo /= 2
			}
			side = 1
		}
	}
	return (lo + hi) / 2
}
