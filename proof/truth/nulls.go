package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"text/tabwriter"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// The whole experiments have five layouts. In addition, every kind of noise is run with 2, 5, 8 and 12 layouts that do
// not differ, in the program's order of trials. Package verdict judges them at every interim analysis. All blocks are
// measured in full: the judgement leaves out what a decision or a dropped layout would have saved.

// counts lists the numbers of layouts.
var counts = []int{2, 5, 8, 12}

// builtKind is the world that needs builds: the last layout's three builds are reused in turn. Each is permanently
// faster or slower by a normal 6 %.
const builtKind = "one layout's reused builds differ by 6 %"

// nullTable returns an experiment with a number of blocks and a kind of noise, in the rules' order of trials.
func nullTable(w kind, k, rules, blocks int, seed, number uint64) verdict.Table {
	r := rand.New(rand.NewPCG(seed, number))
	draw := w.make(r, k)
	plan := experiment.Plan{Rules: rules, Seed: r.Uint64()}
	table, trial := make(verdict.Table, blocks), 0
	build := [3]float64{}
	for i := range build {
		build[i] = 0.06 * r.NormFloat64()
	}
	states := make([]float64, len(build)*k)
	for i := range states {
		states[i] = 0.04 * (float64(r.IntN(2)) - 0.5)
	}
	for b := range table {
		table[b] = make([]verdict.Cell, k)
		for _, j := range plan.Order(b+1, k) {
			trial++
			y := draw(b, j, trial)
			if math.IsNaN(y) {
				continue
			}
			cell := verdict.Cell{OK: true, Order: trial}
			if w.name == twoStateBuilds {
				i := (b + j) % len(build)
				cell.Build = fmt.Sprint(j, "/", i)
				y += states[j*len(build)+i]
			}
			if w.name == builtKind {
				i := (b + j) % len(build)
				cell.Build = fmt.Sprint(j, "/", i)
				if j == k-1 {
					y += build[i]
				}
			}
			cell.Throughput = 1000 * math.Exp(y)
			table[b][j] = cell
		}
	}
	return table
}

// plantedScore judges an experiment by the rules, with the middle layout faster by an effect on the log scale. Without
// an effect, an alarm is the same as an interval that misses the truth.
func plantedScore(w kind, k int, effect float64, rules int, seed, number uint64) (score, error) {
	cfg := verdict.DefaultConfig()
	cfg.MaxBlocks, cfg.Rules = maxBlocks, rules
	arms, effects := make([]verdict.Arm, k), make([]float64, k)
	for j := range arms {
		arms[j] = verdict.Arm{Name: filewise.FilesName(1 << j), Rank: 1 << j}
	}
	effects[k/2] = effect
	table := nullTable(w, k, verdict.NewestRules, maxBlocks, seed, number)
	for b := range table {
		table[b][k/2].Throughput *= math.Exp(effect)
	}
	r, err := verdict.Judge(cfg, arms, table)
	if err != nil {
		return score{}, fmt.Errorf("%s, %d layouts: %w", w.name, k, err)
	}
	s := score{covered: true, trials: r.Trials}
	for _, analysis := range r.Analyses {
		for j, e := range analysis.Estimates {
			if e.Known() {
				s.claim(effects[j], e.Lo, e.Hi)
			}
		}
	}
	if analysis, ok := r.Last(); ok {
		s.proven, s.found = analysis.Recommended >= 0, analysis.Recommended == k/2
	}
	return s, nil
}

// runNulls runs n experiments for each kind and number of layouts. It prints the false alarms by rules 1 and 2 on the
// way, and returns the targets that rules 2 miss.
func runNulls(ctx context.Context, all []kind, names string, n int, seed uint64, w io.Writer) (missed []string, err error) {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(tw, "| false alarms, % (rules 1 → 2)\t| 2 layouts\t| 5\t| 8\t| 12\t|")
	fmt.Fprintln(tw, "|---\t|---\t|---\t|---\t|---\t|")
	for _, kind := range all {
		if names != "" && !strings.Contains(kind.name, names) {
			continue
		}
		fmt.Fprintf(tw, "| %s\t", kind.name)
		for _, k := range counts {
			var old, now share
			for rules, out := range map[int]*share{1: &old, 2: &now} {
				scores, err := parallel(ctx, n, func(i uint64) (score, error) { return plantedScore(kind, k, 0, rules, seed, i) })
				if err != nil {
					return missed, err
				}
				for _, s := range scores {
					if s.alarm {
						out.of++
					}
					out.n++
				}
			}
			fmt.Fprintf(tw, "| %.1f → %s\t", 100*old.value(), now)
			if now.value() > mostAlarms+tolerated*now.se() {
				missed = append(missed, fmt.Sprintf("%s, %d layouts: false alarms %s %%, target at most 5 %%", kind.name, k, now))
			}
		}
		fmt.Fprintln(tw, "|")
	}
	return missed, tw.Flush()
}

// others counts the experiments other than the whole ones, by sort. 0 means none.
type others struct {
	nulls, heldOut, planted, races int
	kinds                          string // part of the names of the kinds of noise to run
	seed                           uint64
}

func runOthers(ctx context.Context, o others, w io.Writer) (missed []string, err error) {
	for _, part := range []struct {
		name string
		n    int
		run  func(n int) ([]string, error)
	}{
		{"Nothing differs", o.nulls, func(n int) ([]string, error) { return runNulls(ctx, kinds(), o.kinds, n, o.seed, w) }},
		{"Nothing differs, held out", o.heldOut, func(n int) ([]string, error) { return runNulls(ctx, heldOut(), o.kinds, n, o.seed, w) }},
		{"One layout is faster", o.planted, func(n int) ([]string, error) { return runPlanted(ctx, n, o.seed, w) }},
		{"Races", o.races, func(n int) ([]string, error) { return runRaces(ctx, n, o.kinds, o.seed, w) }},
	} {
		if part.n == 0 {
			continue
		}
		fmt.Fprintln(w)
		more, err := part.run(part.n)
		if err != nil {
			return missed, err
		}
		fmt.Fprintf(w, "\n%s: %d experiments in each cell, seed %d.\n", part.name, part.n, o.seed)
		missed = append(missed, more...)
	}
	return missed, nil
}

// runPlanted runs n experiments for each effect, machine and number of layouts, one of which is faster. It prints how
// many trials rules 1 and 2 take, and how often they find that layout. The targets concern wrong intervals.
func runPlanted(ctx context.Context, n int, seed uint64, w io.Writer) (missed []string, err error) {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(tw, "| trials (found, %), rules 1 → 2\t| 2 layouts\t| 5\t| 8\t| 12\t|")
	fmt.Fprintln(tw, "|---\t|---\t|---\t|---\t|---\t|")
	for _, m := range []kind{kinds()[0], ofMachine("drift", drifting(0.02)), ofMachine("shared", shared(0.02))} {
		for _, percent := range []float64{6, 20, 50} {
			fmt.Fprintf(tw, "| %s, one layout +%.0f %%\t", m.name, percent)
			for _, k := range counts {
				var tallies [verdict.NewestRules]tally
				for i := range tallies {
					scores, err := parallel(ctx, n, func(e uint64) (score, error) {
						return plantedScore(m, k, math.Log1p(percent/100), i+1, seed, e)
					})
					if err != nil {
						return missed, err
					}
					for _, s := range scores {
						tallies[i].add(s)
					}
				}
				old, now := tallies[0], tallies[1]
				fmt.Fprintf(tw, "| %.1f (%.0f) → %.1f (%.0f)\t", old.trials/float64(n), 100*share{old.found, n}.value(),
					now.trials/float64(n), 100*share{now.found, n}.value())
				if s := (share{now.covered, n}); s.value() < leastCovered-tolerated*s.se() {
					missed = append(missed, fmt.Sprintf("%s +%.0f %%, %d layouts: coverage %s %%, target at least 95 %%", m.name, percent, k, s))
				}
			}
			fmt.Fprintln(tw, "|")
		}
	}
	return missed, tw.Flush()
}

// Races are filewise backup's races of some dozens of layouts. Layouts that are proven not to be the best get no more
// trials. The race ends once no layout can be faster than a certain one by more than the margin (verdict.GoalBest). The
// boundaries are the same as for every verdict.

// raced lists the numbers of layouts in races.
var raced = []int{12, 24}

// raceScore holds a race's result.
type raceScore struct {
	trials         int
	proven, wrong  bool // wrong if proven although another layout is faster by more than the margin
	chosen, missed bool // chosen is the last leader, proven or not; missed is wrong for it
}

// race measures layouts that differ by up to a factor of three, with a kind of noise.
func race(w kind, k int, seed, number uint64) (s raceScore, err error) {
	r := rand.New(rand.NewPCG(seed, number))
	draw := w.make(r, k)
	cfg := verdict.DefaultConfig()
	cfg.Rules, cfg.MaxBlocks, cfg.Goal = verdict.RaceRules, maxBlocks, verdict.GoalBest
	arms, effects, live := make([]verdict.Arm, k), make([]float64, k), make([]bool, k)
	best := math.Inf(-1)
	for j := range arms {
		arms[j], live[j] = verdict.Arm{Name: filewise.FilesName(j + 1), Rank: j + 1}, true
		effects[j] = -math.Log(3) * r.Float64()
		best = max(best, effects[j])
	}
	plan := experiment.Plan{Rules: cfg.Rules, Seed: r.Uint64(), Goal: cfg.Goal, MaxBlocks: maxBlocks,
		Target: filewise.Target{Database: "theirs"}, Layouts: make([]filewise.Layout, k)}
	var table verdict.Table
	var analysis verdict.Analysis
	for b := range maxBlocks {
		row := make([]verdict.Cell, k)
		for _, j := range plan.Order(b+1, k) {
			if !live[j] {
				continue
			}
			s.trials++
			if y := draw(b, j, s.trials); !math.IsNaN(y) {
				row[j] = verdict.Cell{OK: true, Order: s.trials, Throughput: 1000 * math.Exp(effects[j]+y)}
			}
		}
		table = append(table, row)
		result, err := verdict.Judge(cfg, arms, table)
		if err != nil {
			return s, fmt.Errorf("%s, %d layouts: %w", w.name, k, err)
		}
		var ok bool
		if analysis, ok = result.Last(); !ok {
			continue
		}
		next := 0
		for j, e := range analysis.Estimates {
			if live[j] = e.DroppedAt == 0; live[j] {
				next++
			}
		}
		if analysis.Stop != verdict.ReasonNone || s.trials+next > plan.MostTrials() {
			break
		}
	}
	far := func(j int) bool { return effects[j] < best-cfg.Margin }
	s.proven, s.chosen = analysis.Recommended >= 0, analysis.Leader >= 0
	s.wrong, s.missed = s.proven && far(analysis.Recommended), s.chosen && far(analysis.Leader)
	return s, nil
}

// runRaces runs n races in each kind of noise, prints how they end, and returns the missed targets.
func runRaces(ctx context.Context, n int, names string, seed uint64, w io.Writer) (missed []string, err error) {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(tw, "| races\t| layouts\t| proven, %\t| proven and wrong, %\t| leader off by more than 2 %, %\t| trials of the full grid, "+
		"%\t|")
	fmt.Fprintln(tw, "|---\t|---\t|---\t|---\t|---\t|---\t|")
	all := append([]kind{ofMachine("quiet", quiet(0.01)), ofMachine("quiet, CV 5 %", quiet(0.05))}, kinds()...)
	for _, kind := range all {
		if names != "" && !strings.Contains(kind.name, names) || kind.name == builtKind {
			continue
		}
		for _, k := range raced {
			scores, err := parallel(ctx, n, func(i uint64) (raceScore, error) { return race(kind, k, seed, i) })
			if err != nil {
				return missed, err
			}
			proven, wrong, off := share{n: n}, share{n: n}, share{n: n}
			trials := 0
			for _, s := range scores {
				trials += s.trials
				for c, is := range map[*share]bool{&proven: s.proven, &wrong: s.wrong, &off: s.missed} {
					if is {
						c.of++
					}
				}
			}
			fmt.Fprintf(tw, "| %s\t| %d\t| %s\t| %s\t| %s\t| %.0f\t|\n", kind.name, k, proven, wrong, off,
				100*float64(trials)/float64(n*k*maxBlocks))
			if wrong.value() > mostAlarms+tolerated*wrong.se() {
				missed = append(missed, fmt.Sprintf("race, %s, %d layouts: wrong %s %%, target at most 5 %%", kind.name, k, wrong))
			}
		}
	}
	return missed, tw.Flush()
}
