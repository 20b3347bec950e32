package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// bcg are the logarithms of the risk ratios of 13 trials of a vaccine (Colditz 1994; metafor's
// dat.bcg), from its tables: with tuberculosis and without, treated and not.
func bcg() []Effect {
	var out []Effect
	for _, t := range [][4]float64{
		{4, 119, 11, 128}, {6, 300, 29, 274}, {3, 228, 11, 209}, {62, 13536, 248, 12619}, {33, 5036, 47, 5761}, {180, 1361, 372, 1079},
		{8, 2537, 10, 619}, {505, 87886, 499, 87892}, {29, 7470, 45, 7232}, {17, 1699, 65, 1600}, {186, 50448, 141, 27197},
		{5, 2493, 3, 2338}, {27, 16886, 29, 17825},
	} {
		treated, control := t[0]+t[1], t[2]+t[3]
		out = append(out, Effect{math.Log(t[0] / treated / (t[2] / control)), math.Sqrt(1/t[0] - 1/treated + 1/t[2] - 1/control)})
	}
	return out
}

func effects(y, v []float64) []Effect {
	out := make([]Effect, len(y))
	for i := range y {
		out[i] = Effect{y[i], math.Sqrt(v[i])}
	}
	return out
}

// Published: metafor's documentation of rma(yi, vi, data=dat.bcg, test="knha") and of predict,
// and of the two examples of Viechtbauer (2005), pages 271 and 272.
func TestPoolIsThatOfMetafor(t *testing.T) {
	p, err := Pool(bcg(), 0.95)
	if err != nil {
		t.Fatal(err)
	}
	const student12 = 2.178813 // 97.5 %
	profile := func(q float64) float64 {
		var y, v []float64
		for _, e := range bcg() {
			y, v = append(y, e.Value), append(v, e.SE*e.SE)
		}
		return tauOf(y, v, distuv.ChiSquared{K: 12}.Quantile(q))
	}
	for what, x := range map[string][3]float64{
		"tau²": {p.Tau * p.Tau, 0.3132, 5e-5}, "tau": {p.Tau, 0.5597, 5e-5}, "I²": {p.I2, 0.9222, 5e-5},
		"mean": {p.Mean, -0.7145, 5e-5}, "its standard error": {p.SE, 0.1808, 5e-5},
		"low": {p.Confidence.Lo, -1.1084, 5e-5}, "high": {p.Confidence.Hi, -0.3206, 5e-5},
		// metafor's takes the estimate of tau for the truth: ours is that, and a little wider.
		"the next by metafor, low":  {math.Exp(p.Mean - student12*math.Hypot(p.Tau, p.SE)), 0.14, 0.005},
		"the next by metafor, high": {math.Exp(p.Mean + student12*math.Hypot(p.Tau, p.SE)), 1.76, 0.005},
		"the next, low":             {math.Exp(p.Next.Lo), 0.135, 0.01}, "the next, high": {math.Exp(p.Next.Hi), 1.85, 0.05},
		"low of tau² by Q-profile": {profile(0.975), 0.1197, 5e-5}, "high of it": {profile(0.025), 1.1115, 5e-5},
	} {
		if math.Abs(x[0]-x[1]) > x[2] {
			t.Errorf("%s is %.5f, published is %v", what, x[0], x[1])
		}
	}
	for _, x := range []struct {
		y, v     []float64
		tau2, i2 float64
	}{
		{[]float64{-0.581, 0.530, 0.771, 1.031, 0.553, 0.295, 0.078, 0.573, -0.176, -0.232},
			[]float64{0.023, 0.052, 0.060, 0.115, 0.095, 0.203, 0.200, 0.211, 0.051, 0.040}, 0.223, 0.7684},
		{[]float64{0.100, -0.162, -0.090, -0.049, -0.046, -0.010, -0.431, -0.261, 0.134, 0.019, 0.175, 0.056, 0.045, 0.103, 0.121, -0.482,
			0.290, 0.342}, []float64{0.016, 0.015, 0.050, 0.050, 0.032, 0.052, 0.036, 0.024, 0.034, 0.033, 0.031, 0.034, 0.039, 0.167, 0.134,
			0.096, 0.016, 0.035}, 0.016, 0.3202},
	} {
		p, err := Pool(effects(x.y, x.v), 0.95)
		if err != nil || math.Abs(p.Tau*p.Tau-x.tau2) > 5e-4 || math.Abs(p.I2-x.i2) > 5e-5 {
			t.Errorf("tau² %.4f, I² %.4f, %v; published are %v and %v", p.Tau*p.Tau, p.I2, err, x.tau2, x.i2)
		}
	}
}

// The interval of the mean and the interval of the next experiment hold what they promise, with few experiments and
// many, equal and not.
func TestPoolCovers(t *testing.T) {
	const worlds = 300
	r := rand.New(rand.NewPCG(19, 6))
	for _, w := range []struct {
		n   int
		tau float64
	}{{3, 0.1}, {6, 0.03}, {12, 0}} {
		var mean, next int
		for range worlds {
			var seen []Effect
			for range w.n {
				se := 0.01 + 0.04*r.Float64()
				seen = append(seen, Effect{0.05 + w.tau*r.NormFloat64() + se*r.NormFloat64(), se})
			}
			p, err := Pool(seen, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if p.Confidence.Lo <= 0.05 && 0.05 <= p.Confidence.Hi {
				mean++
			}
			if x := 0.05 + w.tau*r.NormFloat64(); p.Next.Lo <= x && x <= p.Next.Hi {
				next++
			}
		}
		for what, hits := range map[string]int{"mean": mean, "next": next} {
			if share := float64(hits) / worlds; share < 0.92 {
				t.Errorf("%d experiments, tau %v: the %s is within its interval in %.1f %%", w.n, w.tau, what, 100*share)
			}
		}
	}
}

func TestPoolOfWhatIsExactOrTooFew(t *testing.T) {
	p, err := Pool([]Effect{{0.1, 0}, {0.1, 0}, {0.1, 0}}, 0.95)
	if err != nil || p.Tau != 0 || math.Abs(p.Mean-0.1) > 1e-12 || p.Next.Hi-p.Next.Lo > 1e-4 {
		t.Errorf("of the same: %+v, %v", p, err)
	}
	if p, err := Pool([]Effect{{0.1, 0}, {0.3, 0}}, 0.95); err != nil || math.Abs(p.Tau-math.Sqrt(0.02)) > 1e-6 || !math.IsNaN(p.Next.Lo) {
		t.Errorf("of two: %+v, %v", p, err)
	}
	for _, bad := range [][]Effect{nil, {{1, 1}}, {{1, 1}, {math.NaN(), 1}}, {{1, 1}, {1, math.Inf(1)}}, {{1, 1}, {1, -1}}} {
		if _, err := Pool(bad, 0.95); !errors.Is(err, ErrInput) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
