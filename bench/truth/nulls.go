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

// Beside the whole experiments, which have five layouts: every kind of noise with 2,
// 5, 8 and 12 layouts that do not differ, in the program's order of trials, judged by
// package verdict at every look. All blocks are measured in full; what a decision or a
// dropped layout would have saved is left out by the judgement.

// counts are the numbers of layouts.
var counts = []int{2, 5, 8, 12}

// builtKind is the world that needs builds: the last layout's three are reused in
// turn, and each is faster or slower for good by a normal 6 %.
const builtKind = "one layout's reused builds differ by 6 %"

// nullTable is an experiment of a kind of noise.
func nullTable(w kind, k int, seed, number uint64) verdict.Table {
	r := rand.New(rand.NewPCG(seed, number))
	draw := w.make(r, k)
	plan := experiment.Plan{Rules: verdict.NewestRules, Seed: r.Uint64()}
	table, trial := make(verdict.Table, maxBlocks), 0
	build := [3]float64{}
	for i := range build {
		build[i] = 0.06 * r.NormFloat64()
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
			if w.name == builtKind {
				i := (b + j) % len(build)
				cell.Instance = fmt.Sprint(j, "/", i)
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

// nullScore judges it by the rules. With no effects an alarm and an interval that
// does not hold the truth are the same.
func nullScore(w kind, k, rules int, seed, number uint64) (score, error) {
	cfg := verdict.DefaultConfig()
	cfg.MaxBlocks, cfg.Rules = maxBlocks, rules
	arms := make([]verdict.Arm, k)
	for j := range arms {
		arms[j] = verdict.Arm{Name: filewise.FilesName(1 << j), Rank: 1 << j}
	}
	r, err := verdict.Judge(cfg, arms, nullTable(w, k, seed, number))
	if err != nil {
		return score{}, fmt.Errorf("%s, %d layouts: %w", w.name, k, err)
	}
	s := score{covered: true, trials: r.Trials}
	for _, look := range r.Looks {
		for _, e := range look.Estimates {
			if e.Known() {
				s.claim(0, e.Lo, e.Hi)
			}
		}
	}
	return s, nil
}

// runNulls takes n experiments of each kind and number of layouts, prints the false
// alarms by rules 1 and 2 as it goes, and returns the targets that rules 2 miss.
func runNulls(ctx context.Context, names string, n int, seed uint64, w io.Writer) (missed []string, err error) {
	tw := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(tw, "| false alarms, % (rules 1 → 2)\t| 2 layouts\t| 5\t| 8\t| 12\t|")
	fmt.Fprintln(tw, "|---\t|---\t|---\t|---\t|---\t|")
	all := append(kinds(), kind{builtKind, kinds()[0].make})
	for _, kind := range all {
		if names != "" && !strings.Contains(kind.name, names) {
			continue
		}
		fmt.Fprintf(tw, "| %s\t", kind.name)
		for _, k := range counts {
			var old, now share
			for rules, out := range map[int]*share{1: &old, 2: &now} {
				scores, err := parallel(ctx, n, func(i uint64) (score, error) { return nullScore(kind, k, rules, seed, i) })
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
