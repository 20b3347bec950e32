package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"filewise/lab/verdict/internal/vectorstest"
)

// world is a simulated truth in which no layout differs from another.
type world struct {
	arms, blocks int
	noise        float64 // sd of ln throughput, trial by trial
	drift        float64 // sd of the steps of an AR(1) between trials
	slow         float64 // share of runs that are 30 % slow
	builds       int     // reused builds per layout, 0 = built again
	between      float64 // sd between builds
	probe        float64 // sd of a probe around the drift, 0 = none
}

func (w world) table(random *rand.Rand) Table {
	effect := newRows(w.builds, w.arms)
	for i := range effect {
		for j := range effect[i] {
			effect[i][j] = w.between * random.NormFloat64()
		}
	}
	drift := 0.0
	t := make(Table, w.blocks)
	for b := range t {
		t[b] = make([]Cell, w.arms)
		for _, j := range random.Perm(w.arms) { // order within the block
			drift = 0.9*drift + w.drift*random.NormFloat64()
			y := drift + w.noise*random.NormFloat64()
			if random.Float64() < w.slow {
				y -= 0.26
			}
			if w.builds > 0 {
				i := (b + j) % w.builds
				y += effect[i][j]
				t[b][j].Build = fmt.Sprintf("%d/%d", j, i)
			}
			if w.probe > 0 {
				t[b][j].Calibration = math.Exp(drift + w.probe*random.NormFloat64())
			}
			t[b][j].Throughput, t[b][j].OK = 4000*math.Exp(y), true
		}
	}
	return t
}

// falseClaim: at some analysis an interval excludes the truth, or some arm is
// called not the best by more than nothing.
func falseClaim(r Result) bool {
	for _, analysis := range r.Analyses {
		for _, e := range analysis.Estimates {
			if e.Lo > 0 || e.Hi < 0 {
				return true
			}
		}
	}
	return false
}

func claims(t *testing.T, w world, sims int, seed uint64, change func(Table)) float64 {
	t.Helper()
	if vectorstest.Raced || testing.Short() {
		t.Skip("a long simulation")
	}
	count := 0
	cfg := DefaultConfig()
	cfg.MaxBlocks, cfg.Goal = w.blocks, GoalVerdicts
	for s := range sims {
		table := w.table(rand.New(rand.NewPCG(seed, uint64(s))))
		if change != nil {
			change(table)
		}
		if falseClaim(must(Judge(cfg, armsOf(w.arms), table))) {
			count++
		}
	}
	return float64(count) / float64(sims)
}

func forgetBuilds(t Table) {
	for _, row := range t {
		for j := range row {
			row[j].Build = ""
		}
	}
}

// The thresholds allow some three standard errors of the simulation
// above 5 %.

func TestFalseAlarms(t *testing.T) {
	for _, w := range []world{
		{arms: 5, blocks: 20, noise: 0.02},
		{arms: 5, blocks: 20, noise: 0.02, drift: 0.02, slow: 0.05},
		{arms: 2, blocks: 12, noise: 0.05, drift: 0.02, slow: 0.05},
		{arms: 3, blocks: 12, noise: 0.02, drift: 0.02, probe: 0.005},
	} {
		if share := claims(t, w, 400, 1, nil); share > 0.085 {
			t.Errorf("%+v: %.1f %% false claims", w, 100*share)
		}
	}
}

// TestInstances: if builds are reused, ignoring that they differ breaks the 5 %, and estimating it holds them.
func TestBuilds(t *testing.T) {
	for _, w := range []world{
		{arms: 4, blocks: 12, noise: 0.02, builds: 3, between: 0.03},
		{arms: 2, blocks: 12, noise: 0.02, builds: 2, between: 0.03},
	} {
		if share := claims(t, w, 300, 1, nil); share > 0.09 {
			t.Errorf("%+v: %.1f %% false claims", w, 100*share)
		}
		if share := claims(t, w, 100, 1, forgetBuilds); share < 0.2 {
			t.Errorf("%+v: ignoring builds gives only %.1f %% false claims", w, 100*share)
		}
	}
}

// TestInstanceSD: the variance between builds is found without bias.
func TestBuildSD(t *testing.T) {
	var variance, n float64
	w := world{arms: 5, blocks: 12, noise: 0.02, builds: 4, between: 0.03}
	for seed := range uint64(60) {
		table := w.table(rand.New(rand.NewPCG(2, seed)))
		cfg := DefaultConfig()
		cfg.MaxBlocks = w.blocks
		r := newReplay(cfg, armsOf(w.arms), table, Boundaries{})
		sd := math.Sqrt(r.scene(w.blocks).spread().variance)
		variance += sd * sd
		n++
	}
	if sd := math.Sqrt(variance / n); math.Abs(sd-w.between) > 0.004 {
		t.Errorf("sd between builds %.4f, want %.4f", sd, w.between)
	}
}

// TestPower: an effect like Randal's is found, and soon.
func TestPower(t *testing.T) {
	const sims = 60
	found, trials := 0, 0
	w := world{arms: 5, blocks: 20, noise: 0.02}
	for s := range uint64(sims) {
		table := w.table(rand.New(rand.NewPCG(4, s)))
		for b := range table {
			for j, effect := range []float64{0, -0.03, 0.02, 0.06, 0.03} {
				table[b][j].Throughput *= math.Exp(effect)
			}
		}
		r := must(Judge(DefaultConfig(), armsOf(5), table))
		analysis, _ := r.Last()
		trials += r.Trials
		if analysis.Recommended == 3 {
			found++
		}
	}
	if found < 0.9*sims || trials > 50*sims {
		t.Errorf("found %d of %d, with %.1f trials", found, sims, float64(trials)/sims)
	}
}
