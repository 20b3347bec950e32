package experiment

import (
	"math"
	"testing"

	"filewise/verdict"
)

// planted judges family f: it is decided at errors of at least need[f].
func planted(need []float64, levels map[int][]float64) func(int, float64) (verdict.Result, error) {
	return func(f int, confidence float64) (verdict.Result, error) {
		level := 1 - confidence
		levels[f] = append(levels[f], level)
		look := verdict.Look{Stop: verdict.ReasonNone}
		if level >= need[f]-1e-12 {
			look.Stop = verdict.ReasonRecommend
		}
		return verdict.Result{Looks: []verdict.Look{look}}, nil
	}
}

// The families' p-values are those of the vectors' example of Holm: with 5 % two of
// five are significant (adjusted 0.0155 and 0.048).
func TestHolmIsHolm(t *testing.T) {
	p := []float64{0.012, 0.049, 0.0031, 0.21, 0.031}
	levels := map[int][]float64{}
	results, err := Holm(0.05, len(p), planted(p, levels))
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range []bool{true, false, true, false, false} {
		if claims(results[f]) != want {
			t.Errorf("family %d decided: %v, want %v", f, !want, want)
		}
	}
	for _, want := range []struct {
		family int
		last   float64
	}{{2, 0.05 / 5}, {0, 0.05 / 4}, {1, 0.05 / 3}} {
		got := levels[want.family]
		if math.Abs(got[len(got)-1]-want.last) > 1e-12 {
			t.Errorf("family %d was last judged with error %v, want %v", want.family, got, want.last)
		}
	}
}

func TestHolmOfOne(t *testing.T) {
	levels := map[int][]float64{}
	if _, err := Holm(0.05, 1, planted([]float64{0.2}, levels)); err != nil || len(levels[0]) != 1 || math.Abs(levels[0][0]-0.05) > 1e-12 {
		t.Errorf("levels %v, %v", levels, err)
	}
}
