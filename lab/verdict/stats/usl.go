package stats

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// USL is Gunther's universal scalability law,
// X(N) = λN / (1 + σ(N−1) + κN(N−1)).
type USL struct {
	Lambda, Sigma, Kappa float64
	RSS                  float64 // residual sum of squares of ln X
}

// FitUSL fits loads N (≥ 1) and throughputs X by least squares on ln X, with σ, κ ≥ 0. It needs at least three distinct
// loads.
func FitUSL(load, throughput []float64) (USL, error) {
	if len(load) != len(throughput) {
		return USL{}, inputError("%d loads, %d throughputs", len(load), len(throughput))
	}
	y, err := logs(throughput, 3)
	if err != nil {
		return USL{}, err
	}
	if err := checkSample(load, 3); err != nil {
		return USL{}, err
	}
	distinct := map[float64]bool{}
	for _, n := range load {
		if n < 1 {
			return USL{}, inputError("load %v is below 1", n)
		}
		distinct[n] = true
	}
	if len(distinct) < 3 {
		return USL{}, inputError("%d distinct loads, at least 3 are needed", len(distinct))
	}
	return fitUSL(load, y)
}

// fitUSL runs Levenberg–Marquardt in σ and κ, which stay at or above 0; λ follows from them. (gonum/optimize would do,
// but it pulls in half of gonum.)
func fitUSL(load, y []float64) (USL, error) {
	u := uslAt(load, y, 0.01, 0.0001)
	damping := 1e-3
	for range 2000 {
		dSigma, dKappa := u.step(load, y, damping)
		next := uslAt(load, y, max(0, u.Sigma+dSigma), max(0, u.Kappa+dKappa))
		if next.RSS > u.RSS || math.IsNaN(next.RSS) {
			if damping *= 4; damping > 1e16 {
				break
			}
			continue
		}
		still := u.RSS-next.RSS <= 1e-15*u.RSS && damping < 1e-8
		u, damping = next, damping/4
		if still {
			break
		}
	}
	if !finite(u.RSS) || !finite(u.Lambda) {
		return USL{}, inputError("no fit: loads or throughputs are too far apart")
	}
	return u, nil
}

// step returns the solution of the damped normal equations. A parameter at its bound that is pushed against it stays.
func (u USL) step(load, y []float64, damping float64) (dSigma, dKappa float64) {
	var ds, dk, gap []float64
	for i, n := range load {
		d := 1 + u.Sigma*(n-1) + u.Kappa*n*(n-1)
		ds, dk = append(ds, (n-1)/d), append(dk, n*(n-1)/d)
		gap = append(gap, y[i]-math.Log(u.At(n)))
	}
	center(ds) // λ is fitted again at each step
	center(dk)
	ss, sk, kk := floats.Dot(ds, ds), floats.Dot(ds, dk), floats.Dot(dk, dk)
	gs, gk := -floats.Dot(ds, gap), -floats.Dot(dk, gap)
	ss, kk = ss*(1+damping), kk*(1+damping)
	switch {
	case u.Sigma == 0 && gs < 0:
		return 0, gk / kk
	case u.Kappa == 0 && gk < 0:
		return gs / ss, 0
	}
	det := ss*kk - sk*sk
	return (gs*kk - gk*sk) / det, (gk*ss - gs*sk) / det
}

func center(x []float64) { floats.AddConst(-stat.Mean(x, nil), x) }

// uslAt returns the law with the best λ at given σ and κ, and how well it fits.
func uslAt(load, y []float64, sigma, kappa float64) USL {
	gap := make([]float64, len(y))
	var mean float64
	for i, n := range load {
		gap[i] = y[i] - math.Log(n/(1+sigma*(n-1)+kappa*n*(n-1)))
		mean += gap[i] / float64(len(y))
	}
	rss := sumSquares(gap)
	if math.IsNaN(rss) {
		rss = math.Inf(1)
	}
	return USL{Lambda: math.Exp(mean), Sigma: sigma, Kappa: kappa, RSS: rss}
}

// At returns the throughput that the law predicts for a load.
func (u USL) At(n float64) float64 {
	return u.Lambda * n / (1 + u.Sigma*(n-1) + u.Kappa*n*(n-1))
}

// Peak returns the load with the highest throughput, or +Inf if throughput never falls.
func (u USL) Peak() float64 {
	if u.Sigma >= 1 {
		return 1
	}
	return math.Sqrt((1 - u.Sigma) / u.Kappa)
}
