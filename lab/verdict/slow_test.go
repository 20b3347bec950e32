package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// stalling is a table in which trials of some blocks (from 0) of the last of so many layouts take far longer.
func stalling(arms, blocks int, by float64, at ...int) (all []Arm, t Table) {
	rng := rand.New(rand.NewPCG(38, uint64(arms)))
	for j := range arms {
		all = append(all, Arm{Name: fmt.Sprintf("%d files", j+1), Rank: j + 1})
	}
	for range blocks {
		drift := 0.05 * rng.NormFloat64() // the machine's, which is no layout's stall
		var row []Cell
		for range arms {
			row = append(row, Cell{Throughput: 1000 * math.Exp(drift+0.01*rng.NormFloat64()), OK: true})
		}
		t = append(t, row)
	}
	for _, b := range at {
		t[b][arms-1].Throughput *= 1 - by
	}
	return all, t
}

// Stalls are reported with their cost in total work, and with how often they can occur unseen.
func TestStallsAreSaid(t *testing.T) {
	for _, arms := range []int{2, 3, 5} {
		layouts, table := stalling(arms, 20, 0.4, 2, 11)
		cfg := DefaultConfig()
		cfg.Goal = GoalVerdicts
		cfg.Margin = 1e-4
		r := must(Judge(cfg, layouts, table))
		analysis, _ := r.Last()
		if len(analysis.Slow) != 1 || analysis.Slow[0].Arm != arms-1 || analysis.Slow[0].Stalled != 2 ||
			math.Abs(analysis.Slow[0].Worst-math.Log(0.6)) > 0.1 || math.Abs(analysis.Slow[0].Cost-0.04) > 0.01 {
			t.Errorf("%d layouts: %+v", arms, analysis.Slow)
		}
		if text := r.Stalls(); !strings.HasPrefix(text, fmt.Sprintf("Stalled: 2 of 20 trials of %d files (up to ", arms)) ||
			!strings.Contains(text, "total work 4") ||
			!strings.Contains(text, "None of 20 trials of another layout stalled; up to 14 % of trials could") {
			t.Errorf("%d layouts: %s", arms, text)
		}
	}
	layouts, table := stalling(5, 7, 0)
	cfg := DefaultConfig()
	cfg.Goal, cfg.Margin = GoalVerdicts, 1e-4
	const want = "None of 7 trials of a layout stalled; up to 35 % of trials could (95 % confidence)."
	if got := must(Judge(cfg, layouts, table)).Stalls(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := must(Judge(cfg, layouts, table[:4])).Stalls(); got != "" {
		t.Errorf("of 4 blocks: %q", got)
	}
}

// Noise alone is hardly ever taken for a stall.
func TestNoiseIsNoStall(t *testing.T) {
	rng := rand.New(rand.NewPCG(38, 2))
	slow := 0
	for range 200 {
		_, table := stalling(3, 20, 0)
		for _, row := range table {
			for j := range row {
				row[j].Throughput = 1000 * math.Exp(0.05*rng.NormFloat64())
			}
		}
		layouts, _ := stalling(3, 1, 0)
		if analysis, ok := must(Judge(DefaultConfig(), layouts, table)).Last(); ok {
			slow += len(analysis.Slow)
		}
	}
	if slow > 4 {
		t.Errorf("%d layouts of 600 have stalls in mere noise", slow)
	}
}
