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
	"filewise/experiment"
	"filewise/verdict"
)

// Races are what filewise backup does: some dozens of layouts, of which those that are
// proven not to be the best get no more trials, until one is proven that no other is more than
// the margin faster than (verdict.GoalBest). The boundaries are those of every verdict.

// raced are the numbers of layouts of races.
var raced = []int{12, 24}

// raceScore is what came of a race.
type raceScore struct {
	trials         int
	proven, wrong  bool // wrong: proven, and another is more than the margin faster
	chosen, missed bool // chosen, proven or not: the last leader; missed: as wrong
}

// race measures layouts that differ by up to three times in noise of a kind.
func race(w kind, k int, seed, number uint64) (s raceScore, err error) {
	r := rand.New(rand.NewPCG(seed, number))
	draw := w.make(r, k)
	cfg := verdict.DefaultConfig()
	cfg.MaxBlocks, cfg.Goal = maxBlocks, verdict.GoalBest
	arms, effects, live := make([]verdict.Arm, k), make([]float64, k), make([]bool, k)
	best := math.Inf(-1)
	for j := range arms {
		arms[j], live[j] = verdict.Arm{Name: filewise.FilesName(j + 1), Rank: j + 1}, true
		effects[j] = -math.Log(3) * r.Float64()
		best = max(best, effects[j])
	}
	plan := experiment.Plan{Rules: verdict.NewestRules, Seed: r.Uint64(), Goal: cfg.Goal, MaxBlocks: maxBlocks,
		Target: filewise.Target{Database: "theirs"}, Layouts: make([]filewise.Layout, k)}
	var table verdict.Table
	var look verdict.Look
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
		if look, ok = result.Last(); !ok {
			continue
		}
		next := 0
		for j, e := range look.Estimates {
			if live[j] = e.DroppedAt == 0; live[j] {
				next++
			}
		}
		if look.Stop != verdict.ReasonNone || s.trials+next > plan.MostTrials() {
			break
		}
	}
	far := func(j int) bool { return effects[j] < best-cfg.Margin }
	s.proven, s.chosen = look.Recommended >= 0, look.Leader >= 0
	s.wrong, s.missed = s.proven && far(look.Recommended), s.chosen && far(look.Leader)
	return s, nil
}

// runRaces takes n races in each kind of noise, prints how they end, and returns the targets
// that are missed.
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
