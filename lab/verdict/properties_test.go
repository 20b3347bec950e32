package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// worldTable draws throughputs with the given log effects, noise and drift,
// and 5 % slow runs.
func worldTable(random *rand.Rand, blocks int, effects []float64, noise float64) Table {
	t := make(Table, blocks)
	drift := 0.0
	for b := range t {
		drift = 0.7*drift + noise*random.NormFloat64()
		for _, effect := range effects {
			y := math.Log(4000) + effect + drift + noise*random.NormFloat64()
			if random.Float64() < 0.05 {
				y -= 0.3
			}
			t[b] = append(t[b], Cell{Throughput: math.Exp(y), OK: random.Float64() >= 0.03})
		}
	}
	return t
}

func randomWorlds(t *testing.T, f func(t *testing.T, cfg Config, arms []Arm, table Table, random *rand.Rand)) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			effects := make([]float64, 2+random.IntN(5))
			for j := range effects {
				effects[j] = 0.05 * random.Float64()
			}
			cfg := DefaultConfig()
			cfg.Baseline = random.IntN(len(effects))
			if seed%3 == 0 {
				cfg.Goal = GoalVerdicts
			}
			f(t, cfg, armsOf(len(effects)), worldTable(random, 20, effects, 0.02), random)
		})
	}
}

// equal compares results up to rounding.
func equal(t *testing.T, a, b Result) {
	t.Helper()
	options := cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-6, 1e-9)}
	if diff := cmp.Diff(a, b, options); diff != "" {
		t.Error(diff)
	}
}

func TestPermutingArms(t *testing.T) {
	randomWorlds(t, func(t *testing.T, cfg Config, arms []Arm, table Table, random *rand.Rand) {
		want := must(Judge(cfg, arms, table))
		order := random.Perm(len(arms)) // new position → old
		moved := cfg
		newArms, newTable := make([]Arm, len(arms)), make(Table, len(table))
		for to, from := range order {
			newArms[to] = arms[from]
			if from == cfg.Baseline {
				moved.Baseline = to
			}
			for b := range table {
				newTable[b] = append(newTable[b], table[b][from])
			}
		}
		equal(t, want, movedBack(must(Judge(moved, newArms, newTable)), order, cfg, arms))
	})
}

// movedBack undoes a permutation of arms; messages name arms in their order.
func movedBack(r Result, order []int, cfg Config, arms []Arm) Result {
	r.Config, r.Arms = cfg, arms
	back := func(j int) int {
		if j < 0 {
			return j
		}
		return order[j]
	}
	for i, analysis := range r.Analyses {
		estimates := make([]Estimate, len(order))
		for to, from := range order {
			estimates[from] = analysis.Estimates[to]
		}
		dropped := []int{}
		for from := range order {
			for _, j := range analysis.Dropped {
				if order[j] == from {
					dropped = append(dropped, from)
				}
			}
		}
		analysis.Estimates, analysis.Dropped = estimates, dropped
		analysis.Leader, analysis.Recommended = back(analysis.Leader), back(analysis.Recommended)
		for s := range analysis.Stalls {
			analysis.Stalls[s].Arm, analysis.Stalls[s].Of = back(analysis.Stalls[s].Arm), back(analysis.Stalls[s].Of)
		}
		slices.SortFunc(analysis.Stalls, func(a, b Stall) int { return a.Of - b.Of })
		for s := range analysis.Slow {
			analysis.Slow[s].Arm = back(analysis.Slow[s].Arm)
		}
		slices.SortFunc(analysis.Slow, func(a, b Slow) int { return a.Arm - b.Arm })
		r.Analyses[i] = analysis
	}
	return r
}

func TestUnitAndBlockEffectsDoNotMatter(t *testing.T) {
	randomWorlds(t, func(t *testing.T, cfg Config, arms []Arm, table Table, random *rand.Rand) {
		want := must(Judge(cfg, arms, table))
		scaled := make(Table, len(table))
		for b, row := range table {
			factor := 1000 * math.Exp(random.NormFloat64())
			for _, cell := range row {
				cell.Throughput *= factor
				scaled[b] = append(scaled[b], cell)
			}
		}
		got := must(Judge(cfg, arms, scaled))
		for i := range got.Analyses {
			for j := range got.Analyses[i].Estimates {
				got.Analyses[i].Estimates[j].Typical = want.Analyses[i].Estimates[j].Typical
			}
		}
		equal(t, want, got)
	})
}

// TestReplay: judging after each block sees the same analyses as judging at the
// end, and what is not run after a drop does not matter.
func TestReplay(t *testing.T) {
	randomWorlds(t, func(t *testing.T, cfg Config, arms []Arm, table Table, _ *rand.Rand) {
		whole := must(Judge(cfg, arms, table))
		var live Table
		for b, row := range table {
			r := must(Judge(cfg, arms, live))
			if r.Decided() && r.Analyses[len(r.Analyses)-1].Stop != ReasonFutile {
				break
			}
			run := append([]Cell{}, row...)
			for j, alive := range r.Live() {
				if !alive {
					run[j] = Cell{}
				}
			}
			live = append(live, run)
			if r := must(Judge(cfg, arms, live)); b+1 >= FirstAnalysis {
				if diff := cmp.Diff(whole.Analyses[:b-1], r.Analyses, cmpopts.EquateNaNs()); diff != "" {
					t.Fatal(diff)
				}
			}
		}
	})
}

func TestJSONRoundTrip(t *testing.T) {
	randomWorlds(t, func(t *testing.T, cfg Config, arms []Arm, table Table, _ *rand.Rand) {
		for b := range table {
			table[b][len(arms)-1] = Cell{} // one arm never runs: unknown numbers
		}
		want := must(Judge(cfg, arms, table))
		var got Result
		decode(t, must(json.Marshal(want)), &got)
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestErrors(t *testing.T) {
	good := tableOf([][]float64{{1, 2}, {1, 2}, {1, 2}})
	with := func(change func(*Config)) Config {
		cfg := DefaultConfig()
		change(&cfg)
		return cfg
	}
	nan := math.NaN()
	for name, c := range map[string]struct {
		cfg   Config
		arms  int
		table Table
		want  error
	}{
		"one arm":       {DefaultConfig(), 1, tableOf([][]float64{{1}}), ErrConfig},
		"no arms":       {DefaultConfig(), 0, nil, ErrConfig},
		"zero config":   {Config{}, 2, good, ErrConfig},
		"no look":       {with(func(c *Config) { c.MaxBlocks = 2 }), 2, good, ErrConfig},
		"too many":      {with(func(c *Config) { c.MaxBlocks = 1e6 }), 2, good, ErrConfig},
		"baseline":      {with(func(c *Config) { c.Baseline = 2 }), 2, good, ErrConfig},
		"margin":        {with(func(c *Config) { c.Margin = nan }), 2, good, ErrConfig},
		"confidence":    {with(func(c *Config) { c.Confidence = 1 }), 2, good, ErrConfig},
		"gamma":         {with(func(c *Config) { c.Gamma = nan }), 2, good, ErrConfig},
		"kappa":         {with(func(c *Config) { c.Kappa = -1 }), 2, good, ErrConfig},
		"goal":          {with(func(c *Config) { c.Goal = "" }), 2, good, ErrConfig},
		"ragged":        {DefaultConfig(), 2, Table{{{Throughput: 1, OK: true}}}, ErrTable},
		"zero":          {DefaultConfig(), 2, Table{{{Throughput: 0, OK: true}, {Throughput: 1, OK: true}}}, ErrTable},
		"infinite":      {DefaultConfig(), 2, Table{{{Throughput: math.Inf(1), OK: true}, {Throughput: 1, OK: true}}}, ErrTable},
		"not a number":  {DefaultConfig(), 2, Table{{{Throughput: nan, OK: true}, {Throughput: 1, OK: true}}}, ErrTable},
		"failed is NaN": {DefaultConfig(), 2, Table{{{Throughput: nan, OK: false}, {Throughput: 1, OK: true}}}, nil},
		"empty":         {DefaultConfig(), 2, nil, nil},
	} {
		_, err := Judge(c.cfg, make([]Arm, c.arms), c.table)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestNoNoise(t *testing.T) {
	r := must(Judge(rules1(), armsOf(3), tableOf([][]float64{{5, 5, 6}, {5, 5, 6}, {5, 5, 6}})))
	analysis, _ := r.Last()
	if analysis.Stop != ReasonRecommend || analysis.Recommended != 2 {
		t.Errorf("stop %q, recommended %d", analysis.Stop, analysis.Recommended)
	}
	if !hasWarning(r, WarnNoNoise) {
		t.Error("no warning")
	}
	same := must(Judge(rules1(), armsOf(3), tableOf([][]float64{{5, 5, 5}, {5, 5, 5}, {5, 5, 5}})))
	if analysis, _ := same.Last(); analysis.Stop != ReasonKeepBaseline {
		t.Errorf("stop %q", analysis.Stop)
	}
}

func hasWarning(r Result, code string) bool {
	for _, w := range r.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// TestArmWithoutTrials: an arm that always fails neither blocks a verdict on
// the others nor is judged.
func TestArmWithoutTrials(t *testing.T) {
	var table Table
	for b := range 4 {
		x := 1 + 0.001*float64(b%2)
		table = append(table, []Cell{{Throughput: 1, OK: true}, {Throughput: 1.5 * x, OK: true}, {}, {Throughput: 1.2, OK: true}})
	}
	r := must(Judge(rules1(), armsOf(4), table))
	analysis, _ := r.Last()
	if analysis.Stop != ReasonRecommend || analysis.Recommended != 1 {
		t.Errorf("stop %q, recommended %d", analysis.Stop, analysis.Recommended)
	}
	if analysis.Estimates[2].Known() || analysis.Estimates[2].Mark != MarkNoData || !hasWarning(r, WarnUntested) {
		t.Errorf("%+v, %v", analysis.Estimates[2], r.Warnings)
	}
}

func TestGoalVerdicts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	effects := []float64{0, 0.10, 0.105, -0.08}
	table := worldTable(random, 20, effects, 0.01)
	cfg := DefaultConfig()
	cfg.Goal = GoalVerdicts
	r := must(Judge(cfg, armsOf(4), table))
	analysis, _ := r.Last()
	if analysis.Stop != ReasonAllResolved {
		t.Fatalf("stop %q", analysis.Stop)
	}
	for j, mark := range []Mark{MarkBaseline, MarkBetter, MarkBetter, MarkWorse} {
		got := analysis.Estimates[j].Mark
		if got != mark && !(mark == MarkBetter && got == MarkBest) {
			t.Errorf("arm %d: %s, want %s", j, got, mark)
		}
	}
}

// TestFutile: stopping for futility is not binding; with more blocks there
// are more analyses.
func TestFutile(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	table := worldTable(random, 20, []float64{0, 0, 0, 0}, 0.10)
	r := must(Judge(DefaultConfig(), armsOf(4), table))
	if len(r.Analyses) != 18 {
		t.Errorf("%d analyses", len(r.Analyses))
	}
	for _, analysis := range r.Analyses {
		if analysis.Stop != ReasonFutile {
			continue
		}
		if analysis.Block < futilityFrom {
			t.Errorf("futile at block %d", analysis.Block)
		}
		r = must(Judge(DefaultConfig(), armsOf(4), table[:analysis.Block]))
		if !r.Decided() || !hasWarning(r, WarnBudget) {
			t.Errorf("decided: %v, warnings %v", r.Decided(), r.Warnings)
		}
		return
	}
	t.Error("never futile")
}

func TestFewestFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	table := worldTable(random, 20, []float64{0, 0.30, 0.302, 0.30}, 0.002)
	arms := armsOf(4)
	arms[2].Rank, arms[3].Rank = 9, 0
	for _, rank := range []int{0, 9} {
		arms[1].Rank = rank
		want := map[int]int{0: 1, 9: 3}[rank] // ties: order in the list
		r := must(Judge(DefaultConfig(), arms, table))
		if analysis, _ := r.Last(); analysis.Recommended != want {
			t.Errorf("rank %d: recommended %d, want %d", rank, analysis.Recommended, want)
		}
	}
}

// By goal best nothing is left on the table for a gain over the baseline.
func TestGoalBest(t *testing.T) {
	random, table := rand.New(rand.NewPCG(5, 5)), make(Table, 12)
	for b := range table {
		for _, effect := range []float64{0, 0.5, 0.55} {
			table[b] = append(table[b], Cell{Throughput: math.Exp(effect + 0.005*random.NormFloat64()), OK: true})
		}
	}
	for goal, left := range map[Goal]float64{GoalRecommend: 0.1, GoalBest: math.Log(1.02)} {
		cfg := DefaultConfig()
		cfg.MaxBlocks, cfg.Goal = 12, goal
		r, err := Judge(cfg, armsOf(3), table)
		if err != nil {
			t.Fatal(err)
		}
		analysis, ok := r.Last()
		if !ok || analysis.Recommended != 2 || math.Abs(analysis.Tolerance-left) > 0.05 {
			t.Errorf("%s: arm %d with a tolerance of %.3f, about %.3f expected", goal, analysis.Recommended, analysis.Tolerance, left)
		}
	}
}
