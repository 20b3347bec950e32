package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// TQuantile returns a quantile of Student's t; df may be infinite. It returns NaN unless 0 < p < 1 and df > 0.
func TQuantile(p, df float64) float64 {
	switch {
	case !(p > 0 && p < 1) || !(df > 0):
		return math.NaN()
	case math.IsInf(df, 1):
		return distuv.UnitNormal.Quantile(p)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
}

// TCDF returns the distribution function of Student's t; df may be infinite. It returns NaN unless df > 0.
func TCDF(x, df float64) float64 {
	switch {
	case math.IsNaN(x) || !(df > 0):
		return math.NaN()
	case math.IsInf(df, 1):
		return distuv.UnitNormal.CDF(x)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.CDF(x)
}

// tTest returns a two-sided test. Without any variance, p is 1 if the mean is 0, otherwise 0.
func tTest(mean, se, df float64) (t, p float64) {
	if mean == 0 {
		return 0, 1
	}
	t = mean / se
	return t, 2 * TCDF(-math.Abs(t), df)
}

// TTest is the result of a t-test on logarithms.
type TTest struct {
	N      int     // pairs, or values of both samples
	Effect float64 // difference of log means
	SE     float64
	T, DF  float64
	P      float64 // two-sided
}

// CI returns the confidence interval of the effect, on the log scale.
func (t TTest) CI(confidence float64) Interval {
	half := TQuantile(0.5+confidence/2, t.DF) * t.SE
	return Interval{t.Effect - half, t.Effect + half}
}

// PairedLogT compares throughputs measured in pairs (at least two).
func PairedLogT(baseline, treatment []float64) (TTest, error) {
	if len(baseline) != len(treatment) {
		return TTest{}, inputError("%d and %d values are no pairs", len(baseline), len(treatment))
	}
	x, err := logs(baseline, 2)
	if err != nil {
		return TTest{}, err
	}
	y, err := logs(treatment, 2)
	if err != nil {
		return TTest{}, err
	}
	d := make([]float64, len(x))
	for i := range d {
		d[i] = y[i] - x[i]
	}
	n := float64(len(d))
	r := TTest{N: len(d), DF: n - 1}
	mean, sd := stat.MeanStdDev(d, nil)
	r.Effect, r.SE = mean, sd/math.Sqrt(n)
	r.T, r.P = tTest(r.Effect, r.SE, r.DF)
	return r, nil
}

// WelchLogT compares the throughputs x with y, two independent samples of at least two values each. Their variances may
// differ (Welch–Satterthwaite).
func WelchLogT(x, y []float64) (TTest, error) {
	lx, err := logs(x, 2)
	if err != nil {
		return TTest{}, err
	}
	ly, err := logs(y, 2)
	if err != nil {
		return TTest{}, err
	}
	n, m := float64(len(lx)), float64(len(ly))
	mx, vx := stat.MeanVariance(lx, nil)
	my, vy := stat.MeanVariance(ly, nil)
	vx, vy = vx/n, vy/m
	r := TTest{N: len(x) + len(y), Effect: mx - my, SE: math.Sqrt(vx + vy)}
	r.DF = n + m - 2
	if vx+vy > 0 {
		a, b := vx/(vx+vy), vy/(vx+vy) // shares, so that nothing underflows
		r.DF = 1 / (a*a/(n-1) + b*b/(m-1))
	}
	r.T, r.P = tTest(r.Effect, r.SE, r.DF)
	return r, nil
}
