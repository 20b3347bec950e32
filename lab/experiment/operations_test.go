package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"filewise/lab/verdict"
)

// planted judges operation f: it is decided at errors of at least need[f].
func planted(need []float64, levels map[int][]float64) func(int, float64) (verdict.Result, error) {
	return func(f int, confidence float64) (verdict.Result, error) {
		level := 1 - confidence
		levels[f] = append(levels[f], level)
		analysis := verdict.Analysis{Stop: verdict.ReasonNone}
		if level >= need[f]-1e-12 {
			analysis.Stop = verdict.ReasonRecommend
		}
		return verdict.Result{Analyses: []verdict.Analysis{analysis}}, nil
	}
}

// The operations' p-values come from the vectors' example of Holm: with 5 % two of five are significant (adjusted
// 0.0155 and 0.048).
func TestHolmIsHolm(t *testing.T) {
	p := []float64{0.012, 0.049, 0.0031, 0.21, 0.031}
	levels := map[int][]float64{}
	results, err := Holm(0.05, len(p), planted(p, levels))
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range []bool{true, false, true, false, false} {
		if claims(results[f]) != want {
			t.Errorf("operation %d decided: %v, want %v", f, !want, want)
		}
	}
	for _, want := range []struct {
		operation int
		last      float64
	}{{2, 0.05 / 5}, {0, 0.05 / 4}, {1, 0.05 / 3}} {
		got := levels[want.operation]
		if math.Abs(got[len(got)-1]-want.last) > 1e-12 {
			t.Errorf("operation %d was last judged with error %v, want %v", want.operation, got, want.last)
		}
	}
}

func TestHolmOfOne(t *testing.T) {
	levels := map[int][]float64{}
	if _, err := Holm(0.05, 1, planted([]float64{0.2}, levels)); err != nil || len(levels[0]) != 1 || math.Abs(levels[0][0]-0.05) > 1e-12 {
		t.Errorf("levels %v, %v", levels, err)
	}
}

// Since rules 3 each operation keeps an equal share, however many are decided: Holm's last level is
// for claims, not for intervals.
func TestOperationsShareEqually(t *testing.T) {
	levels := map[int][]float64{}
	if _, err := JudgeOperations(3, 0.05, 5, planted([]float64{0.012, 0.049, 0.0031, 0.21, 0.031}, levels)); err != nil {
		t.Fatal(err)
	}
	for f, got := range levels {
		if len(got) != 1 || math.Abs(got[0]-0.01) > 1e-12 {
			t.Errorf("operation %d was judged with errors %v, want 0.01 alone", f, got)
		}
	}
	if _, err := JudgeOperations(2, 0.05, 5, planted([]float64{0.012, 0.049, 0.0031, 0.21, 0.031}, levels)); err != nil || len(levels[1]) < 3 {
		t.Errorf("rules 2 judged operation 1 with errors %v, want steps as Holm has them (%v)", levels[1], err)
	}
}

// Of 12 operations 11 have a large effect, which is soon decided, and one has none. All intervals
// and bounds together hold the truth in at least 95 % of experiments.
func TestIntervalsOfOperationsHoldTogether(t *testing.T) {
	const operations, blocks, experiments = 12, 12, 300
	rng := rand.New(rand.NewPCG(38, 6))
	held := 0
	for range experiments {
		tables := make([]verdict.Table, operations)
		for f := range tables {
			for range blocks {
				tables[f] = append(tables[f], []verdict.Cell{
					{Throughput: 1000 * math.Exp(0.02*rng.NormFloat64()), OK: true},
					{Throughput: 1000 * math.Exp(effectOf(f)+0.02*rng.NormFloat64()), OK: true},
				})
			}
		}
		results, err := JudgeOperations(verdict.NewestRules, 0.05, operations, func(f int, confidence float64) (verdict.Result, error) {
			cfg := verdict.DefaultConfig()
			cfg.Confidence, cfg.MaxBlocks = confidence, blocks
			return verdict.Judge(cfg, []verdict.Arm{{Name: "1 file", Rank: 1}, {Name: "8 files", Rank: 8}}, tables[f])
		})
		if err != nil {
			t.Fatal(err)
		}
		if holdAll(results) {
			held++
		}
	}
	if least := experiments * (0.95 - 2*math.Sqrt(0.95*0.05/experiments)); float64(held) < least {
		t.Errorf("all of 12 intervals and bounds hold in %d of %d experiments, want %.0f", held, experiments, least)
	}
}

func effectOf(operation int) float64 {
	if operation == 0 {
		return 0
	}
	return math.Log(1.5)
}

// holdAll reports whether intervals and bounds of all operations hold the truth.
func holdAll(results []verdict.Result) bool {
	for f, r := range results {
		analysis, ok := r.Last()
		if !ok {
			return false
		}
		e, most, truth := analysis.Estimates[1], analysis.Estimates[0].WorstLoss, effectOf(f)
		if !e.Known() || e.Lo > truth || e.Hi < truth || most < truth {
			return false
		}
	}
	return true
}
