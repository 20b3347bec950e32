package verdict

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func FuzzJudge(f *testing.F) {
	f.Add(uint64(1), 3, 5, 0, 0.02, 0.1, byte(0))
	f.Add(uint64(2), 5, 25, 4, 1e-12, 0.5, byte(1))
	f.Add(uint64(3), 2, 3, 1, 300.0, 0.0, byte(2))
	f.Add(uint64(4), 4, 12, 1, 0.05, 0.1, byte(7))
	f.Fuzz(func(t *testing.T, seed uint64, arms, blocks, baseline int, noise, missing float64, mode byte) {
		if arms < 0 || arms > 7 || blocks < 0 || blocks > 24 {
			t.Skip()
		}
		random := rand.New(rand.NewPCG(seed, 1))
		table := make(Table, blocks)
		for b := range table {
			for range arms {
				cell := Cell{Throughput: math.Exp(noise * random.NormFloat64()), OK: random.Float64() >= missing}
				if mode&1 == 1 {
					cell.Build = fmt.Sprint(random.IntN(4))
				}
				if mode&4 == 4 {
					cell.Calibration = math.Exp(noise * random.NormFloat64())
				}
				table[b] = append(table[b], cell)
			}
		}
		cfg := DefaultConfig()
		cfg.Baseline = baseline
		if mode&2 == 2 {
			cfg.Goal = GoalVerdicts
		}
		r, err := Judge(cfg, make([]Arm, arms), table)
		if err != nil {
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
		Sentences(r, WordsOptions{BlockSeconds: noise})
		r.Live()
	})
}

func BenchmarkJudge(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	table := worldTable(random, 20, make([]float64, 5), 0.03)
	for b.Loop() {
		r := must(Judge(DefaultConfig(), armsOf(5), table))
		if len(r.Analyses) != 18 {
			b.Fatal(len(r.Analyses))
		}
	}
}

func BenchmarkJudgeBuilds(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	table := worldTable(random, 20, make([]float64, 5), 0.03)
	for i, row := range table {
		for j := range row {
			row[j].Build = fmt.Sprintf("%d/%d", j, i%3)
		}
	}
	for b.Loop() {
		must(Judge(DefaultConfig(), armsOf(5), table))
	}
}
