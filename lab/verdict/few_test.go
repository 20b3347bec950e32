package verdict

import (
	"math"
	"strings"
	"testing"
)

func fewTable(rows ...[]float64) Table {
	var t Table
	for _, row := range rows {
		var cells []Cell
		for _, x := range row {
			cells = append(cells, Cell{Throughput: x, OK: x > 0})
		}
		t = append(t, cells)
	}
	return t
}

// One run gives no information about the spread, two runs little; equal ones do not pass for exact.
func TestFew(t *testing.T) {
	cfg, arms := DefaultConfig(), []Arm{{Name: "1 file", Rank: 1}, {Name: "8 files", Rank: 8}}
	one, err := Few(cfg, arms, fewTable([]float64{100, 110}))
	if err != nil || math.Abs(one[1].Effect-math.Log(1.1)) > 1e-12 || !math.IsNaN(one[1].Lo) || one[1].N != 1 {
		t.Errorf("one run: %+v %v", one, err)
	}
	two, err := Few(cfg, arms, fewTable([]float64{100, 110}, []float64{100, 120}))
	half := (math.Log(1.2) - math.Log(1.1)) / 2 * 12.7062 // t(0.975; 1) times the standard error of two values
	if err != nil || math.Abs(two[1].Hi-two[1].Effect-half) > 1e-4 || two[1].Lo > 0 {
		t.Errorf("two runs: %+v %v, want half a width of %v", two[1], err, half)
	}
	same, err := Few(cfg, arms, fewTable([]float64{100, 110}, []float64{100, 110}))
	if err != nil || !math.IsNaN(same[1].Lo) {
		t.Errorf("equal runs: %+v %v", same, err)
	}
	none, err := FewSentences(cfg, arms, fewTable([]float64{100, 0}))
	if err != nil || !strings.Contains(none[1], "no block holds both") || !strings.HasPrefix(none[0], "No verdict: there is 1 run") {
		t.Errorf("%q %v", none, err)
	}
	if got := InTime(arms[1], Estimate{Effect: math.Log(2), Lo: math.Log(1.25),
		Hi: math.Log(4)}); got != "8 files: time −50.0 % (−75.0 … −20.0)." {
		t.Error(got)
	}
}
