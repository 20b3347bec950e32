package verdict

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"filewise/lab/verdict/internal/vectorstest"
)

// One layout that is much noisier than the others breaks rules 1 and not rules 2.
func TestOneNoisyLayout(t *testing.T) {
	if vectorstest.Raced || testing.Short() {
		t.Skip("a simulation")
	}
	const sims = 80
	alarms := map[int]int{}
	for s := range uint64(sims) {
		random := rand.New(rand.NewPCG(11, s))
		table := make(Table, 12)
		for b := range table {
			for j := range 5 {
				sd := 0.01
				if j == 4 {
					sd = 0.15
				}
				table[b] = append(table[b], Cell{Throughput: math.Exp(sd * random.NormFloat64()), OK: true})
			}
		}
		for rules := 1; rules <= 2; rules++ {
			cfg := DefaultConfig()
			cfg.Rules, cfg.MaxBlocks = rules, len(table)
			if falseClaim(must(Judge(cfg, armsOf(5), table))) {
				alarms[rules]++
			}
		}
	}
	if alarms[1] < sims/5 || alarms[2] > sims/10 {
		t.Errorf("false alarms in %d experiments: %v", sims, alarms)
	}
}

// Two noisy layouts of five blur the blocks' effects, and are still separated from the three quiet ones; most equal
// ones are found to be equal.
func TestAlikeAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 1))
	alike := func(noisy float64) []bool {
		table := make(Table, 8)
		for b := range table {
			for j := range 5 {
				sd := 0.01
				if j >= 3 {
					sd = noisy
				}
				table[b] = append(table[b], Cell{Throughput: math.Exp(sd * random.NormFloat64()), OK: true})
			}
		}
		return newReplay(DefaultConfig(), armsOf(5), table, Boundaries{}).scene(len(table)).noise.similar
	}
	found := 0
	for range 50 {
		if got := alike(0.08); got[3] || got[4] {
			t.Errorf("noisy layouts are taken for quiet ones: %v", got)
		}
		found += count(alike(0.01))
	}
	if found < 200 {
		t.Errorf("of equal layouts %d of 250 are alike", found)
	}
}

// Layouts with tails of slow trials are not pooled, though they look equally noisy: their typical trials differ
// though their means do not.
func TestTailsAreNotPooled(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	pooled := func(noise func() float64) (n int) {
		for range 50 {
			table := make(Table, 10)
			for b := range table {
				for range 8 {
					table[b] = append(table[b], Cell{Throughput: math.Exp(noise()), OK: true})
				}
			}
			n += count(newReplay(DefaultConfig(), armsOf(8), table, Boundaries{}).scene(len(table)).noise.similar)
		}
		return n
	}
	tailed := pooled(func() float64 { return -0.05 * math.Exp(0.8*random.NormFloat64()) })
	equal := pooled(func() float64 { return 0.05 * random.NormFloat64() })
	if tailed > 40 || equal < 300 {
		t.Errorf("of 400 layouts with tails %d are pooled, of 400 without %d", tailed, equal)
	}
}

// The example: one stall of 4 files is named, with the effect without it, and
// the verdict is not taken from the block in which it came.
func TestStallIsNamed(t *testing.T) {
	base := []float64{701, 690, 725, 731, 712}
	four := []float64{642, 272, 742, 713, 721}
	var table Table
	for b := range base {
		table = append(table, []Cell{{Throughput: base[b], OK: true}, {Throughput: four[b], OK: true}})
	}
	r := must(Judge(DefaultConfig(), []Arm{{Name: "1 file"}, {Name: "4 files", Rank: 4}}, table))
	analysis, _ := r.Last()
	if len(analysis.Stalls) != 1 || analysis.Stalls[0].Arm != 1 || analysis.Stalls[0].Block != 2 {
		t.Fatalf("%+v", analysis.Stalls)
	}
	if s := analysis.Stalls[0]; Percent(s.Effect) > -15 || Percent(s.Without) < -5 || !hasWarning(r, WarnStall) {
		t.Errorf("%+v, %v", s, r.Warnings)
	}
	if !fresh(analysis.Stalls, 2) || fresh(analysis.Stalls, 5) {
		t.Error("fresh is not about the latest block")
	}
}

// What ran before slows the next: with the order of trials it is seen, and no verdict is given; without it, or
// without the effect, nothing is reported.
func TestCarryOverIsSeen(t *testing.T) {
	make := func(leaves float64, known bool) Result {
		random := rand.New(rand.NewPCG(5, 1))
		var table Table
		order, before := 0, 0.0
		for range 12 {
			row := []Cell{{}, {}, {}}
			for _, j := range random.Perm(3) {
				order++
				row[j] = Cell{Throughput: math.Exp(0.01*random.NormFloat64() - before), OK: true}
				if known {
					row[j].Order = order
				}
				before = leaves * float64(j)
			}
			table = append(table, row)
		}
		return must(Judge(DefaultConfig(), armsOf(3), table))
	}
	seen := make(0.03, true)
	if analysis, _ := seen.Last(); !analysis.CarryOver || analysis.Recommended >= 0 || !hasWarning(seen, WarnCarryOver) {
		t.Errorf("%+v", analysis)
	}
	if !strings.Contains(Headline(seen, WordsOptions{}), "each trial affects the one after it") {
		t.Error(Headline(seen, WordsOptions{}))
	}
	if hasWarning(make(0.03, false), WarnCarryOver) || hasWarning(make(0, true), WarnCarryOver) {
		t.Error("a carry-over is claimed without one, or without the order")
	}
}

// One layout's builds differ, and the others' do not: trials on one build are not
// taken for independent ones.
func TestBuildsOfOneArm(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	var table Table
	for b := range 12 {
		var row []Cell
		for j := range 5 {
			build := string(rune('a'+j)) + string(rune('0'+b%3))
			y := 0.01 * random.NormFloat64()
			if j == 4 {
				y += []float64{0.07, 0.05, 0.01}[b%3]
			}
			row = append(row, Cell{Throughput: math.Exp(y), OK: true, Build: build})
		}
		table = append(table, row)
	}
	cfg := DefaultConfig()
	cfg.MaxBlocks, cfg.Goal = 12, GoalVerdicts
	analysis, _ := must(Judge(cfg, armsOf(5), table)).Last()
	known := analysis.Estimates[4]
	if known.Lo > 0 || known.Hi < 0.1 {
		t.Errorf("%.3f … %.3f of three builds that differ", known.Lo, known.Hi)
	}
	for b := range table {
		for j := range table[b] {
			table[b][j].Build = ""
		}
	}
	analysis, _ = must(Judge(cfg, armsOf(5), table)).Last()
	if e := analysis.Estimates[4]; !(e.Hi-e.Lo < (known.Hi-known.Lo)/2) {
		t.Errorf("built anew: %.3f … %.3f", e.Lo, e.Hi)
	}
}

// TestFewSkewedDifferences: of eleven differences of a real run, one of them far above the
// others, the limit on that side is beyond Student's, and not beyond the farthest of them.
func TestFewSkewedDifferences(t *testing.T) {
	d := []float64{-.092, -.021, -.025, -.015, .065, -.050, -.052, -.026, -.012, -.045, .029}
	c := ofSample(d)
	const score = 3.2
	student, farthest := c.critical(score)*c.se(), .065-c.effect
	if above := c.above(score); above <= 0 || above > max(student, farthest)+1e-9 || above < student {
		t.Errorf("%.3f above the mean, not between Student's %.3f and the farthest difference's %.3f", above, student, farthest)
	}
	c.farthest = [2]float64{}
	if above := c.above(score); above < 1.3*farthest {
		t.Errorf("Hall's own limit does not run away: %.3f", above)
	}
}

// Of two layouts the one whose trial differs from its own others is named, be it slow or impossibly fast.
func TestStallOfTwoLayouts(t *testing.T) {
	for name, c := range map[string]struct {
		arm    int
		factor float64
	}{"slow": {1, 0.3}, "fast": {1, 4}, "slow baseline": {0, 0.3}, "fast baseline": {0, 4}} {
		table := make(Table, 8)
		for b := range table {
			for j := range 2 {
				x := 1000 * (1 + 0.001*float64((b*3+j*5)%7))
				if b == 4 && j == c.arm {
					x *= c.factor
				}
				table[b] = append(table[b], Cell{Throughput: x, OK: true})
			}
		}
		analysis, _ := must(Judge(DefaultConfig(), armsOf(2), table)).Last()
		if len(analysis.Stalls) != 1 || analysis.Stalls[0].Arm != c.arm || analysis.Stalls[0].Block != 5 {
			t.Errorf("%s: %+v", name, analysis.Stalls)
		}
	}
}
