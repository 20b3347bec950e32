package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// batches returns the means of consecutive batches. An incomplete last batch is left out.
func batches(x []float64, size int) []float64 {
	var means []float64
	for ; len(x) >= size; x = x[size:] {
		means = append(means, stat.Mean(x[:size], nil))
	}
	return means
}

// WarmUp is the result of MSER-5.
type WarmUp struct {
	Objective []float64 // per number of batches cut
	Truncate  int       // number of values to leave out
	AtEdge    bool      // the minimum is at half of the series, which is not steady
}

// MSER5 finds how much of a series is warm-up. It returns the cut that makes the rest's mean most certain, in batches
// of 5 and at most half of them (White 1997).
func MSER5(x []float64) (WarmUp, error) {
	const size = 5
	if err := checkSample(x, 2*size); err != nil {
		return WarmUp{}, err
	}
	z := batches(x, size)
	best := 0
	var w WarmUp
	for cut := 0; cut <= len(z)/2; cut++ {
		rest := float64(len(z) - cut)
		w.Objective = append(w.Objective, sumSquares(z[cut:])/(rest*rest))
		if w.Objective[cut] < w.Objective[best] {
			best = cut
		}
	}
	w.Truncate, w.AtEdge = size*best, best == len(z)/2
	return w, nil
}

// Trend is the result of the steady-state check of one arm.
type Trend struct {
	Mean float64 // of ln(last third / first third)
	T    float64
	Flag bool // there is a trend
}

// Trends tests, per arm, whether g = ln(last third / first third) of the measured window is 0 on average. Each arm
// holds two or more values of g. The variance is pooled within arms, and alpha is divided by the number of arms
// (Bonferroni).
func Trends(arms [][]float64, alpha float64) (trends []Trend, critical float64, err error) {
	if len(arms) == 0 || !(alpha > 0 && alpha < 1) {
		return nil, 0, inputError("%d arms, alpha %v", len(arms), alpha)
	}
	var df, squares float64
	for _, values := range arms {
		if err := checkSample(values, 2); err != nil {
			return nil, 0, err
		}
		trends = append(trends, Trend{Mean: stat.Mean(values, nil)})
		squares += sumSquares(values)
		df += float64(len(values) - 1)
	}
	critical = TQuantile(1-alpha/float64(2*len(arms)), df)
	for j := range trends {
		se := math.Sqrt(squares / df / float64(len(arms[j])))
		trends[j].T, _ = tTest(trends[j].Mean, se, df)
		trends[j].Flag = math.Abs(trends[j].T) > critical
	}
	return trends, critical, nil
}
