package stats

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// calls runs every function on one sample x and one table; it returns the
// errors by name.
func calls(x []float64, table [][]float64) map[string]error {
	all := map[string]error{}
	note := func(name string, err error) { all[name] = err }
	_, err := PairedLogT(x, x)
	note("PairedLogT", err)
	_, err = WelchLogT(x, x)
	note("WelchLogT", err)
	_, err = MannWhitney(x, x)
	note("MannWhitney", err)
	_, err = WilcoxonSignedRank(x)
	note("WilcoxonSignedRank", err)
	_, err = SignedRankInterval(x, 0.95)
	note("SignedRankInterval", err)
	_, err = SignFlip(x)
	note("SignFlip", err)
	_, err = Describe(x)
	note("Describe", err)
	_, err = TOST(x, 0.02, 0.05)
	note("TOST", err)
	_, err = Autocorrelation(x, 1)
	note("Autocorrelation", err)
	_, err = MSER5(x)
	note("MSER5", err)
	_, err = FitUSL(x, x)
	note("FitUSL", err)
	rcb, err := RCBAnova(table)
	note("RCBAnova", err)
	if err == nil {
		_, err = rcb.Dunnett(0, 0.95)
		note("Dunnett", err)
		_, err = rcb.CompareWithBest(0.95)
		note("CompareWithBest", err)
	}
	_, _, err = Friedman(table)
	note("Friedman", err)
	_, err = MaxT(table)
	note("MaxT", err)
	_, _, err = SteadyState(table, 0.05)
	note("SteadyState", err)
	_, err = IncompleteTwoWay(table)
	note("IncompleteTwoWay", err)
	_, err = CalibrationAncova(table, table)
	note("CalibrationAncova", err)
	levels, err := KaliberaJones(table)
	note("KaliberaJones", err)
	_, err = levels.Slices(1, 1)
	if err != nil {
		note("Slices", err)
	}
	return all
}

func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		x     []float64
		table [][]float64
	}{
		"nothing":      {nil, nil},
		"empty":        {[]float64{}, [][]float64{{}, {}}},
		"infinite":     {[]float64{1, inf, 2, 3, 4, 5, 6, 7, 8, 9}, [][]float64{{1, inf}, {1, 2}, {3, 4}}},
		"not a number": {[]float64{1, nan, 2, 3, 4, 5, 6, 7, 8, 9}, [][]float64{{1, nan}, {1, nan}, {3, nan}}},
		"ragged":       {nil, [][]float64{{1, 2}, {1}, {1, 2, 3}}},
	} {
		for function, err := range calls(c.x, c.table) {
			if !errors.Is(err, ErrInput) {
				t.Errorf("%s: %s: %v", name, function, err)
			}
		}
	}
	for _, p := range [][]float64{{-0.1}, {nan}, {1.1}} {
		for _, adjust := range []func([]float64) ([]float64, error){Holm, Bonferroni, BenjaminiHochberg} {
			if _, err := adjust(p); !errors.Is(err, ErrInput) {
				t.Errorf("p = %v: %v", p, err)
			}
		}
	}
	if _, err := (Levels{}).Slices(0, 1); !errors.Is(err, ErrInput) {
		t.Error("a free restart")
	}
}

// TestNoVariance: equal values are no error, and nothing is claimed.
func TestNoVariance(t *testing.T) {
	equal := []float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5}
	paired, err := PairedLogT(equal, equal)
	if err != nil || paired.P != 1 || paired.CI(0.95) != (Interval{}) {
		t.Errorf("%+v, %v", paired, err)
	}
	welch, err := WelchLogT(equal, equal)
	if err != nil || welch.P != 1 {
		t.Errorf("%+v, %v", welch, err)
	}
	ranks, err := MannWhitney(equal, equal)
	if err != nil || ranks.P != 1 {
		t.Errorf("%+v, %v", ranks, err)
	}
	table := [][]float64{{5, 5, 5}, {5, 5, 5}, {5, 5, 5}}
	anova, err := RCBAnova(table)
	if err != nil || anova.P != 1 {
		t.Errorf("%+v, %v", anova, err)
	}
	contrasts, err := anova.Dunnett(0, 0.95)
	if err != nil || contrasts[0].P != 1 || contrasts[0].DunnettP != 1 {
		t.Errorf("%+v, %v", contrasts, err)
	}
	chi2, p, err := Friedman(table)
	if err != nil || chi2 != 0 || p != 1 {
		t.Errorf("%v, %v, %v", chi2, p, err)
	}
	random, err := MaxT(table)
	if err != nil || random.P != 1 {
		t.Errorf("%+v, %v", random, err)
	}
	series, err := Autocorrelation(equal, 5)
	if err != nil || series.Lag1 != 0 {
		t.Errorf("%+v, %v", series, err)
	}
	zeros, err := WilcoxonSignedRank(make([]float64, 10))
	if err != nil || zeros.P != 1 {
		t.Errorf("%+v, %v", zeros, err)
	}
}

// TestWilcoxonTies: with equal sizes the test is the sign test.
func TestWilcoxonTies(t *testing.T) {
	r, err := WilcoxonSignedRank([]float64{1, 1, 1, 1, -1})
	want := 2 * 6.0 / 32
	if err != nil || math.Abs(r.P-want) > 1e-12 {
		t.Errorf("p = %v, want %v (%v)", r.P, want, err)
	}
}

func TestDunnettOfOne(t *testing.T) {
	for _, df := range []float64{1, 3, 30, math.Inf(1)} {
		for _, x := range []float64{0.3, 2, 5} {
			if got, want := DunnettCDF(x, 1, df, OneSided), TCDF(x, df); math.Abs(got-want) > 1e-9 {
				t.Errorf("one-sided %v, df %v: %v, want %v", x, df, got, want)
			}
			if got, want := DunnettCDF(x, 1, df, TwoSided), 1-2*TCDF(-x, df); math.Abs(got-want) > 1e-9 {
				t.Errorf("two-sided %v, df %v: %v, want %v", x, df, got, want)
			}
		}
	}
}

func TestOutOfRange(t *testing.T) {
	for i, x := range []float64{
		TQuantile(0, 3), TQuantile(0.5, 0), TCDF(1, -1), TCDF(math.NaN(), 3),
		DunnettQuantile(0.2, 3, 5, TwoSided), DunnettQuantile(0.95, 0, 5, TwoSided), DunnettCDF(1, 2, 0, OneSided),
		TukeyQuantile(0.95, 1, 5), TukeyCDF(1, 3, -1), Quantile(nil, 0.5), Quantile([]float64{1}, 2),
		MixtureMultiplier(1, 2, 0.05, 0.1), MixtureMultiplier(5, 2, 0, 0.1),
	} {
		if !math.IsNaN(x) {
			t.Errorf("value %d is %v", i, x)
		}
	}
}

func TestDisconnectedTable(t *testing.T) {
	nan := math.NaN()
	_, err := IncompleteTwoWay([][]float64{{1, 2, nan, nan}, {2, 3, nan, nan}, {3, 4, nan, nan},
		{nan, nan, 1, 2}, {nan, nan, 2, 3}, {nan, nan, 4, 5}})
	if !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}

func TestUSLBounds(t *testing.T) {
	linear, err := FitUSL([]float64{1, 2, 4, 8}, []float64{10, 20, 40, 80})
	if err != nil || linear.Sigma > 1e-6 || linear.Kappa > 1e-6 || math.Abs(linear.Lambda-10) > 1e-4 {
		t.Errorf("%+v, %v", linear, err)
	}
	// Better than linear cannot be fitted: both stay at their bounds.
	super, err := FitUSL([]float64{1, 2, 4, 8}, []float64{10, 25, 60, 150})
	if err != nil || super.Sigma != 0 || super.Kappa != 0 || !math.IsInf(super.Peak(), 1) {
		t.Errorf("%+v, %v", super, err)
	}
}

func FuzzStats(f *testing.F) {
	f.Add([]byte{}, 2)
	seed := []byte{}
	for _, v := range []float64{1, 2, 3, 1, 2, 3, 2.5, 1e300, 1e-300, 7, 8, 9} {
		seed = binary.LittleEndian.AppendUint64(seed, math.Float64bits(v))
	}
	f.Add(seed, 3)
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		var x []float64
		for ; len(data) >= 8 && len(x) < 15; data = data[8:] {
			x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		var table [][]float64
		for rest := x; width > 0 && width < 5 && len(rest) >= width && len(table) < 4; rest = rest[width:] {
			table = append(table, rest[:width])
		}
		calls(x, table)
		Holm(x)
	})
}
