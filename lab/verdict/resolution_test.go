package verdict

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// counted judges two layouts whose trials are counts of operations, of so many on average.
func counted(t *testing.T, rng *rand.Rand, operations, effect, sd float64, blocks int) Result {
	t.Helper()
	var table Table
	for range blocks {
		row := make([]Cell, 2)
		for j := range row {
			x := operations * math.Exp(float64(j)*effect+sd*rng.NormFloat64())
			row[j] = Cell{Throughput: max(1, math.Floor(x)), OK: true}
		}
		table = append(table, row)
	}
	cfg := DefaultConfig()
	cfg.MaxBlocks = blocks
	r, err := Judge(cfg, []Arm{{Name: "1 file", Rank: 1}, {Name: "4 files", Rank: 4}}, table)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Windows that end within an operation count whole ones: 6 to 24 of them distinguish layouts by no less than one
// operation. Intervals hold the true effect in at least 95 % of experiments.
func TestFewOperations(t *testing.T) {
	const experiments = 250
	least := experiments * (0.95 - 2*math.Sqrt(0.95*0.05/experiments))
	rng := rand.New(rand.NewPCG(38, 7))
	for _, sd := range []float64{0.005, 0.02, 0.05} {
		for _, percent := range []float64{0, 3, 6, 20} {
			held, judged := 0, 0
			for range experiments {
				effect := math.Log1p(percent / 100)
				r := counted(t, rng, 6+18*rng.Float64(), effect, sd, 8+rng.IntN(8))
				analysis, _ := r.Last()
				judged++
				if e := analysis.Estimates[1]; !e.Known() || e.Lo <= effect && effect <= e.Hi {
					held++
				}
			}
			if float64(held) < least {
				t.Errorf("noise %g, +%g %%: %d of %d intervals hold the effect, want %.0f", sd, percent, held, judged, least)
			}
		}
	}
}

// Ten against eleven operations in every block is a tie by the count's resolution, not +10 % for
// certain; and trials without any noise give no interval.
func TestUnvaryingIsNoCertainty(t *testing.T) {
	for name, values := range map[string][2]float64{"counts": {10, 11}, "rates": {1234.5678, 1413.2199}} {
		var table Table
		for range 10 {
			table = append(table, []Cell{{Throughput: values[0], OK: true}, {Throughput: values[1], OK: true}})
		}
		r := must(Judge(DefaultConfig(), []Arm{{Name: "1 file", Rank: 1}, {Name: "4 files", Rank: 4}}, table))
		analysis, _ := r.Last()
		if a := r.Answer(); a.Decision != DecisionNone || analysis.Estimates[1].Known() || math.IsNaN(analysis.Estimates[1].Effect) {
			t.Errorf("%s: %+v, %+v", name, a, analysis.Estimates[1])
		}
		words := strings.Join(Sentences(r, WordsOptions{}), "\n")
		if !strings.HasPrefix(words, "No verdict: the ratio of 4 files to 1 file does not vary at all") ||
			!strings.Contains(words, "over 1 file in every trial, without any noise") {
			t.Errorf("%s:\n%s", name, words)
		}
	}
	r := counted(t, rand.New(rand.NewPCG(1, 1)), 10.5, math.Log(1.1), 0.03, 10)
	if analysis, _ := r.Last(); analysis.Estimates[1].Hi-analysis.Estimates[1].Lo < 2*math.Log(1.08) {
		t.Errorf("ten against eleven operations: %+v", analysis.Estimates[1])
	}
}

// Values that vary freely have no grain, counts a grain of one, and seconds a grain of a second.
func TestGrain(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64 // as a share of 10, or of a tenth
	}{
		{[]float64{10, 11, 13, 10}, 0.1},
		{[]float64{5, 5.5, 6.5}, 0.05},
		{[]float64{1. / 10, 1. / 11, 1. / 14}, 0.1},
		{[]float64{1033.171, 1040.992, 1011.038}, 0},
		{[]float64{math.Pi, math.E, math.Sqrt2, math.Ln2}, 0},
	} {
		var table Table
		g := grid{width: len(c.values), y: newRows(1, len(c.values)), mask: [][]bool{{}}}
		var row []Cell
		for _, x := range c.values {
			row, g.mask[0] = append(row, Cell{Throughput: x, OK: true}), append(g.mask[0], true)
		}
		level := 10.0
		if c.values[0] < 1 {
			level = 0.1
		}
		if got := grainOf(append(table, row), g).between(level); math.Abs(got-math.Log1p(c.want)) > 1e-6 {
			t.Errorf("%v: %v, want %v", c.values, got, math.Log1p(c.want))
		}
	}
}

// A baseline that fails is named, with how often it succeeded: there are trials enough of all others.
func TestFailedBaselineIsNamed(t *testing.T) {
	layouts, table := stalling(3, 8, 0)
	for b := range table {
		table[b][0].OK = b == 3
	}
	r := must(Judge(DefaultConfig(), layouts, table))
	words := strings.Join(Sentences(r, WordsOptions{}), "\n")
	if !strings.HasPrefix(words, "No verdict: of 1 files, the baseline, only 1 of 8 trials succeeded, too few for any comparison.") ||
		!strings.Contains(words, "3 files: too few blocks in which 1 files succeeded too (its trials: 8, trials of 1 files: 1).") {
		t.Error(words)
	}
}
