package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// RCB is the analysis of variance of a complete randomised block design on
// log throughput.
type RCB struct {
	BlockMeans, ArmMeans []float64
	DF                   float64 // residual: (blocks−1)(arms−1)
	MSE                  float64
	SE                   float64 // of the difference of two arms
	F, P                 float64 // of "all arms are equal"
	residual             [][]float64
}

// RCBAnova analyses throughputs [block][arm], two of each at least.
func RCBAnova(throughput [][]float64) (RCB, error) {
	y, err := logTable(throughput, 2, 2)
	if err != nil {
		return RCB{}, err
	}
	return rcb(y), nil
}

func rcb(y [][]float64) RCB {
	n, k := float64(len(y)), float64(len(y[0]))
	r := RCB{BlockMeans: make([]float64, len(y)), ArmMeans: make([]float64, len(y[0])), DF: (n - 1) * (k - 1)}
	var grand float64
	for b, row := range y {
		for j, v := range row {
			r.BlockMeans[b] += v / k
			r.ArmMeans[j] += v / n
			grand += v / n / k
		}
	}
	var sse float64
	for b, row := range y {
		residual := make([]float64, len(row))
		for j, v := range row {
			residual[j] = v - r.BlockMeans[b] - r.ArmMeans[j] + grand
			sse += residual[j] * residual[j]
		}
		r.residual = append(r.residual, residual)
	}
	r.MSE = sse / r.DF
	r.SE = math.Sqrt(2 * r.MSE / n)
	r.F, r.P = fTest(n*sumSquares(r.ArmMeans)/(k-1), r.MSE, k-1, r.DF)
	return r
}

// fTest compares two mean squares; equal arms without any noise have p = 1.
func fTest(effect, noise, df1, df2 float64) (f, p float64) {
	if effect == 0 {
		return 0, 1
	}
	f = effect / noise
	if math.IsInf(f, 1) {
		return f, 0
	}
	return f, distuv.F{D1: df1, D2: df2}.Survival(f)
}

// Contrast is an arm against the control, with a p-value that is adjusted
// for the number of arms (Dunnett) and one that is not.
type Contrast struct {
	Arm      int
	Effect   float64 // log scale
	T        float64
	P        float64
	DunnettP float64
	CI       Interval // simultaneous
}

// Dunnett compares all arms with the control, simultaneously.
func (r RCB) Dunnett(control int, confidence float64) ([]Contrast, error) {
	k := len(r.ArmMeans) - 1
	if control < 0 || control > k {
		return nil, inputError("control %d of %d arms", control, k+1)
	}
	if !(confidence >= 0.5 && confidence < 1) {
		return nil, inputError("confidence %v is not in [0.5, 1)", confidence)
	}
	half := DunnettQuantile(confidence, k, r.DF, TwoSided) * r.SE
	var all []Contrast
	for j, mean := range r.ArmMeans {
		if j == control {
			continue
		}
		c := Contrast{Arm: j, Effect: mean - r.ArmMeans[control], DunnettP: 1}
		c.T, c.P = tTest(c.Effect, r.SE, r.DF)
		if c.T != 0 {
			c.DunnettP = DunnettP(c.T, k, r.DF, TwoSided)
		}
		c.CI = Interval{c.Effect - half, c.Effect + half}
		all = append(all, c)
	}
	return all, nil
}

// Comparison with the best (Hsu 1981) of one arm.
type Comparison struct {
	CI     Interval // of the arm less the best other; Hi 0: not the best; Lo 0: the best
	Regret float64  // no arm is more than this better
}

// CompareWithBest is Hsu's multiple comparisons with the best; larger is
// better.
func (r RCB) CompareWithBest(confidence float64) ([]Comparison, error) {
	if !(confidence >= 0.5 && confidence < 1) {
		return nil, inputError("confidence %v is not in [0.5, 1)", confidence)
	}
	half := DunnettQuantile(confidence, len(r.ArmMeans)-1, r.DF, OneSided) * r.SE
	all := make([]Comparison, len(r.ArmMeans))
	for i, mean := range r.ArmMeans {
		other := math.Inf(-1)
		for j, m := range r.ArmMeans {
			if j != i {
				other = max(other, m)
			}
		}
		ahead := mean - other
		all[i] = Comparison{
			CI:     Interval{min(0, ahead-half), max(0, ahead+half)},
			Regret: max(0, half-ahead),
		}
	}
	return all, nil
}

// Friedman's rank test of "all arms are equal" within blocks, by the χ²
// approximation, with the correction for ties.
func Friedman(x [][]float64) (chi2, p float64, err error) {
	if err := checkTable(x, 2, 2); err != nil {
		return 0, 0, err
	}
	n, k := float64(len(x)), float64(len(x[0]))
	sums := make([]float64, len(x[0]))
	var tied float64
	for _, row := range x {
		ranks, ties := midranks(row)
		tied += ties
		for j, r := range ranks {
			sums[j] += r
		}
	}
	correction := 1 - tied/(n*k*(k*k-1))
	if correction <= 0 {
		return 0, 1, nil
	}
	chi2 = 12 * sumSquares(sums) / (n * k * (k + 1)) / correction
	return chi2, distuv.ChiSquared{K: k - 1}.Survival(chi2), nil
}
