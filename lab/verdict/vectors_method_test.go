package verdict

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"filewise/lab/verdict/internal/boundary"
)

// tableOf makes a complete table of fresh builds; NaN is a missing trial.
func tableOf(tps [][]float64) Table {
	t := make(Table, len(tps))
	for b, row := range tps {
		for _, v := range row {
			t[b] = append(t[b], Cell{Throughput: v, OK: !math.IsNaN(v)})
		}
	}
	return t
}

func armsOf(k int) []Arm {
	arms := make([]Arm, k)
	for j := range arms {
		arms[j] = Arm{Name: fmt.Sprintf("%d files", 1<<j), Rank: j}
	}
	arms[0].Name = "1 file"
	return arms
}

// rules1 is the configuration by which the vectors were computed.
func rules1() Config {
	cfg := DefaultConfig()
	cfg.Rules = 1
	return cfg
}

// gridOf is the grid of a complete table.
func gridOf(tps [][]float64) grid {
	return newReplay(rules1(), armsOf(len(tps[0])), tableOf(tps), Boundaries{}).grid(len(tps))
}

type robustVector struct {
	Effects  []float64   `json:"effects_vs_first"`
	Pooled   float64     `json:"pooled_var"`
	DF       int         `json:"df"`
	Share    float64     `json:"share_unwinsorised"`
	SE       []float64   `json:"se_vs_first"`
	Pseudo   [][]float64 `json:"pseudo_values"`
	Clipped  [][2]int    `json:"winsorised"`
	PlainFit struct {
		MSE       float64
		Contrasts []float64
	} `json:"plain_ls"`
}

func testRobustTwoWay(t *testing.T, data json.RawMessage) {
	var v struct {
		robustVector
		TPS    [][]float64
		Tol    float64
		Clean  robustVector `json:"clean_data_result"`
		Groups json.RawMessage
	}
	decode(t, data, &v)
	f := checkRobust(t, v.TPS, v.robustVector, v.Tol)
	relative(t, "plain mse", f.leastSquare, v.PlainFit.MSE, 1e-9)
	g := gridOf(v.TPS)
	solver, _ := newSolver(g)
	_, arm := solver.solve(g.y)
	for j, want := range v.PlainFit.Contrasts {
		relative(t, "plain contrast", arm[j+1]-arm[0], want, 1e-9)
	}

	var anova struct{ TPS [][]float64 }
	decode(t, readVectors(t)["rcb_anova"], &anova)
	checkRobust(t, anova.TPS, v.Clean, v.Tol)
}

func checkRobust(t *testing.T, tps [][]float64, want robustVector, tol float64) twoWay {
	t.Helper()
	f, ok := fitTwoWay(gridOf(tps), floorShare)
	if !ok {
		t.Fatal("no fit")
	}
	for j := range want.Effects {
		c := f.contrast(j+1, 0)
		relative(t, "effect", c.effect, want.Effects[j], tol)
		relative(t, "se", c.se(), want.SE[j], tol)
	}
	relative(t, "pooled variance", f.pooled, want.Pooled, tol)
	relative(t, "share", f.unclipped, want.Share, tol)
	if f.df != want.DF {
		t.Errorf("df = %d, want %d", f.df, want.DF)
	}
	for b := range want.Pseudo {
		nearAll(t, "pseudo-values", f.pseudo[b], want.Pseudo[b], tol)
		for j, clipped := range f.clipped[b] {
			if clipped != slices.Contains(want.Clipped, [2]int{b, j}) {
				t.Errorf("cell %d, %d clipped: %v", b, j, clipped)
			}
		}
	}
	return f
}

type boundaryVector struct {
	K        int
	NMax     int
	Analyses []int `json:"looks"`
	Alpha    float64
	Two      []float64 `json:"c_two_sided"`
	One      []float64 `json:"c_one_sided"`
}

func readBoundaries(t *testing.T, data json.RawMessage) []boundaryVector {
	t.Helper()
	var v struct{ Tables []boundaryVector }
	decode(t, data, &v)
	return v.Tables
}

func testBoundaries(t *testing.T, data json.RawMessage) {
	for _, want := range readBoundaries(t, data) {
		got, err := BoundariesFor(1, want.K, want.NMax, 1-want.Alpha)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Two {
			if got.TwoSided[i] != want.Two[i] || got.OneSided[i] != want.One[i] {
				t.Errorf("K=%d N=%d analysis %d: %v, %v; want %v, %v", want.K, want.NMax, i,
					got.TwoSided[i], got.OneSided[i], want.Two[i], want.One[i])
			}
		}
		// The generated table, which other designs go by.
		checkBoundaries(t, printedBoundaries()[printedKey{want.K, want.NMax}], want)
	}
	// The way that other designs go, checked against the same vectors.
	for _, want := range readBoundaries(t, data) {
		if want.NMax == 12 {
			checkBoundaries(t, simulated(simulatedKey{1, want.K, want.NMax, 0.95}), want)
		}
	}
}

func checkBoundaries(t *testing.T, got Boundaries, want boundaryVector) {
	t.Helper()
	if len(got.TwoSided) != len(want.Analyses) || len(got.OneSided) != len(want.Analyses) {
		t.Fatalf("K=%d N=%d: %d analyses, want %d", want.K, want.NMax, len(got.TwoSided), len(want.Analyses))
	}
	for i := range want.Analyses {
		tol := 0.015
		if i < 2 {
			tol = 0.05
		}
		what := fmt.Sprintf("K=%d N=%d look %d", want.K, want.NMax, want.Analyses[i])
		relative(t, what+" two-sided", got.TwoSided[i], want.Two[i], tol)
		relative(t, what+" one-sided", got.OneSided[i], want.One[i], tol)
	}
}

func testAlphaSpending(t *testing.T, data json.RawMessage) {
	var v struct {
		Alpha      float64
		NMax       int
		Analyses   []int `json:"looks"`
		Increments []float64
	}
	decode(t, data, &v)
	for i, n := range v.Analyses {
		relative(t, "increment", boundary.Increment(v.Alpha, boundary.Rules1.Rho, n, v.NMax, FirstAnalysis), v.Increments[i], 1e-9)
	}
}

type step struct {
	Block, Runs int
	Alive       []bool
	Candidate   []bool
	Effects     []float64  `json:"effects_vs_first"`
	Pooled      float64    `json:"pooled_var"`
	Lo          []*float64 `json:"ci_lo"`
	Hi          []*float64 `json:"ci_hi"`
	Regret      []*float64
	Leader      int
	Tolerance   float64
	Stop        string
	Dropped     []int `json:"dropped_after"`
	Recommended *int
}

type trace struct {
	Name         string
	TPS          [][]float64
	Delta        float64 `json:"delta_log"`
	Gamma, Kappa float64
	Steps        []step
}

func readTraces(t *testing.T, data json.RawMessage) (cases []trace, tol float64) {
	t.Helper()
	var v struct {
		Tol   float64
		Cases []trace
	}
	decode(t, data, &v)
	return v.Cases, v.Tol
}

func testSequentialTraces(t *testing.T, data json.RawMessage) {
	var bounds Boundaries
	for _, b := range readBoundaries(t, readVectors(t)["boundaries"]) {
		if b.K == 5 && b.NMax == 20 {
			bounds = Boundaries{TwoSided: b.Two, OneSided: b.One}
		}
	}
	cases, tol := readTraces(t, data)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			cfg := rules1()
			cfg.Margin, cfg.Gamma, cfg.Kappa = c.Delta, c.Gamma, c.Kappa
			r := newReplay(cfg, armsOf(5), tableOf(c.TPS), bounds).run()
			if program := must(Judge(cfg, armsOf(5), tableOf(c.TPS))); len(program.Analyses) != len(r.Analyses) ||
				program.Analyses[0].CTwoSided != bounds.TwoSided[0] {
				t.Errorf("the program judges by other boundaries: %d analyses, %v", len(program.Analyses), program.Analyses[0].CTwoSided)
			}
			if len(r.Analyses) != len(c.Steps) {
				t.Fatalf("%d analyses, want %d", len(r.Analyses), len(c.Steps))
			}
			candidate := []bool{true, true, true, true, true}
			for i, want := range c.Steps {
				checkStep(t, r.Analyses[i], want, candidate, tol)
				for j, e := range r.Analyses[i].Estimates {
					candidate[j] = e.Candidate
				}
			}
		})
	}
}

// checkStep compares an analysis with a step of the vectors, which have the
// candidates as they were before this analysis.
func checkStep(t *testing.T, got Analysis, want step, candidate []bool, tol float64) {
	t.Helper()
	if got.Block != want.Block || got.Trials != want.Runs || got.Leader != want.Leader {
		t.Errorf("block %d, %d trials, leader %d; want %d, %d, %d",
			got.Block, got.Trials, got.Leader, want.Block, want.Runs, want.Leader)
	}
	relative(t, "pooled variance", got.PooledVar, want.Pooled, tol)
	relative(t, "tolerance", got.Tolerance, want.Tolerance, tol)
	if !slices.Equal(candidate, want.Candidate) {
		t.Errorf("block %d: candidates %v, want %v", got.Block, candidate, want.Candidate)
	}
	var dropped []int
	for j, e := range got.Estimates {
		relative(t, "effect", e.Effect, want.Effects[j], tol)
		if j > 0 {
			relative(t, "lower limit", e.Lo, *want.Lo[j], tol)
			relative(t, "upper limit", e.Hi, *want.Hi[j], tol)
		}
		if want.Regret[j] == nil {
			if !math.IsNaN(e.WorstLoss) {
				t.Errorf("regret of a dropped arm: %v", e.WorstLoss)
			}
		} else {
			relative(t, "regret", e.WorstLoss, *want.Regret[j], tol)
		}
		if e.Alive != want.Alive[j] {
			t.Errorf("block %d, arm %d alive: %v", got.Block, j, e.Alive)
		}
		if candidate[j] && !e.Candidate {
			dropped = append(dropped, j)
		}
	}
	if !slices.Equal(dropped, want.Dropped) {
		t.Errorf("block %d: dropped %v, want %v", got.Block, dropped, want.Dropped)
	}
	recommended := -1
	if want.Recommended != nil {
		recommended = *want.Recommended
	}
	if (got.Stop != ReasonNone) != (want.Stop == "proven") || got.Recommended != recommended {
		t.Errorf("block %d: stop %q, recommended %d; want %q, %d",
			got.Block, got.Stop, got.Recommended, want.Stop, recommended)
	}
}

// testIncomplete: the solver of the robust fit agrees with the least-squares fit of a
// table with missing cells.
func testIncomplete(t *testing.T, data json.RawMessage) {
	var v struct {
		TPS       [][]*float64
		Contrasts []float64 `json:"contrasts_vs_first"`
		MSE       float64
	}
	decode(t, data, &v)
	tps := newRows(len(v.TPS), len(v.TPS[0]))
	for b, row := range v.TPS {
		for j, x := range row {
			tps[b][j] = math.NaN()
			if x != nil {
				tps[b][j] = *x
			}
		}
	}
	g := gridOf(tps)
	solver, _ := newSolver(g)
	_, arm := solver.solve(g.y)
	for j, want := range v.Contrasts {
		relative(t, "contrast", arm[j+1]-arm[0], want, tight)
	}
	relative(t, "mse", solver.residualSS(g.y)/float64(solver.df), v.MSE, tight)
}
