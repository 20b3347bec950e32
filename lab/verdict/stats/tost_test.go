package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Equivalence is the result of two one-sided tests.
type Equivalence struct {
	PLower, PUpper float64 // of "the mean is below −margin", "above +margin"
	P              float64 // the larger: small means that the difference is within ± margin
	CI             Interval
	Largest        float64 // difference that is excluded: the largest |limit|
}

// TOST tests whether paired log differences are within ± margin on average
// (Schuirmann 1987), at level alpha; CI has confidence 1−2·alpha.
func TOST(d []float64, margin, alpha float64) (Equivalence, error) {
	if err := checkSample(d, 2); err != nil {
		return Equivalence{}, err
	}
	if !(margin > 0) || !(alpha > 0 && alpha < 0.5) {
		return Equivalence{}, inputError("margin %v, alpha %v", margin, alpha)
	}
	mean, sd := stat.MeanStdDev(d, nil)
	df := float64(len(d) - 1)
	se := sd / math.Sqrt(float64(len(d)))
	var e Equivalence
	e.PLower = oneSided(mean+margin, se, df)
	e.PUpper = oneSided(margin-mean, se, df)
	e.P = max(e.PLower, e.PUpper)
	half := TQuantile(1-alpha, df) * se
	e.CI = Interval{mean - half, mean + half}
	e.Largest = max(math.Abs(e.CI.Lo), math.Abs(e.CI.Hi))
	return e, nil
}

// oneSided p-value of "not above 0".
func oneSided(effect, se, df float64) float64 {
	if effect == 0 {
		return 0.5
	}
	return TCDF(-effect/se, df)
}
