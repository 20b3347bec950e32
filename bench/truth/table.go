package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"filewise"
	"filewise/verdict"
)

// The table has a cell for each world, number of layouts, and number of blocks planned. Each is
// appended to a file when it is done, and the command goes on where it was.

var (
	tableLayouts = []int{2, 3, 5, 8, 12}
	tableBlocks  = []int{3, 6, 12, 20}
)

// cellKey names a cell. Cells of other rules, sizes or seeds are other cells.
type cellKey struct {
	World   string  `json:"world"`
	Layouts int     `json:"layouts"`
	Blocks  int     `json:"blocks"`
	Percent float64 `json:"percent"` // by which the layout in the middle is faster
	Rules   int     `json:"rules"`
	S       int     `json:"s"`
	Seed    uint64  `json:"seed"`
}

// cellDone counts the experiments of a cell.
type cellDone struct {
	cellKey
	Alarms    int     `json:"alarms"`     // at some look a difference is claimed where there is none
	Wrong     int     `json:"wrong"`      // see wrongChoice
	Covered   int     `json:"covered"`    // all intervals of all looks hold
	Bounded   int     `json:"bounded"`    // U holds at all looks
	Together  int     `json:"together"`   // both
	Decided   int     `json:"decided"`    // use, keep or more
	Found     int     `json:"found"`      // the faster layout is named, by use or more
	Reversed  int     `json:"reversed"`   // faster is claimed of the slower, or the other way round
	Withheld  int     `json:"withheld"`   // no verdict at the last look, because of carry-over
	Trials    float64 `json:"trials"`     // mean
	KnowNoise int     `json:"know_noise"` // found by a test at the last block alone that knows the noise; −1: none is known
}

// cellScore is one experiment of a cell.
type cellScore struct {
	score
	wrongChoice, bounded, decided, withheld, knowing bool
}

// noiseSD are the standard deviations of a trial in worlds of the power rows.
var noiseSD = map[string]float64{"all CV 2 %": 0.02, "skewed lognormal noise": lognormalScale *
	math.Sqrt((math.Exp(lognormalShape*lognormalShape)-1)*math.Exp(lognormalShape*lognormalShape))}

// experimentOf judges one experiment, and holds it against medians that differ by nothing but the
// effect.
func experimentOf(w kind, key cellKey, number uint64) (s cellScore, err error) {
	k, effect := key.Layouts, math.Log1p(key.Percent/100)
	cfg := verdict.DefaultConfig()
	cfg.MaxBlocks, cfg.Rules = key.Blocks, key.Rules
	arms, truth := make([]verdict.Arm, k), make([]float64, k)
	for j := range arms {
		arms[j] = verdict.Arm{Name: filewise.FilesName(j + 1), Rank: j + 1}
	}
	truth[k/2] = effect
	table := nullTable(w, k, key.Rules, key.Seed, number)[:key.Blocks]
	for b := range table {
		table[b][k/2].Throughput *= math.Exp(effect)
	}
	r, err := verdict.Judge(cfg, arms, table)
	if err != nil {
		return s, fmt.Errorf("%s, %d layouts: %w", w.name, k, err)
	}
	s.covered, s.bounded, s.trials = true, true, r.Trials
	for _, look := range r.Looks {
		for j, e := range look.Estimates {
			if e.Known() {
				s.claim(truth[j], e.Lo, e.Hi)
			}
		}
		if u := look.Estimates[0].Regret; u < effect-1e-9 { // not of NaN
			s.bounded = false
		}
	}
	if look, ok := r.Last(); ok {
		s.withheld = look.CarryOver
	}
	a := r.Answer()
	s.decided = a.Decided()
	if s.decided && a.Arm > 0 {
		s.found = effect > 0 && a.Arm == k/2
		s.wrongChoice = truth[a.Arm] <= 0
	}
	s.knowing = knows(table, k/2, noiseSD[w.name], k)
	return s, nil
}

// knows is a test at the last block alone by the mean, with the noise known, at 5 % over all layouts.
func knows(table verdict.Table, j int, sd float64, k int) bool {
	sum, n := 0.0, 0.0
	for _, row := range table {
		if row[0].OK && row[j].OK {
			sum, n = sum+math.Log(row[j].Throughput/row[0].Throughput), n+1
		}
	}
	return sd > 0 && sum/n > distuv.UnitNormal.Quantile(1-0.025/float64(k-1))*sd*math.Sqrt(2/n)
}

// measureCell takes all experiments of a cell.
func measureCell(ctx context.Context, w kind, key cellKey) (cellDone, error) {
	c := cellDone{cellKey: key}
	scores, err := parallel(ctx, key.S, func(i uint64) (cellScore, error) { return experimentOf(w, key, i) })
	if err != nil {
		return c, err
	}
	for _, s := range scores {
		for of, is := range map[*int]bool{&c.Alarms: s.alarm, &c.Wrong: s.wrongChoice, &c.Covered: s.covered, &c.Bounded: s.bounded,
			&c.Together: s.covered && s.bounded, &c.Decided: s.decided, &c.Found: s.found, &c.Reversed: s.wrong, &c.Withheld: s.withheld,
			&c.KnowNoise: s.knowing} {
			if is {
				*of++
			}
		}
		c.Trials += float64(s.trials) / float64(key.S)
	}
	if noiseSD[w.name] == 0 {
		c.KnowNoise = -1
	}
	return c, nil
}

// tableOptions are what the table is made of.
type tableOptions struct {
	s, rules    int
	seed        uint64
	only, state string // part of the worlds' names, and the file of cells that are done
	page        string // that has a summary between marks; empty: none
	date        time.Time
	stored      bool // print the cells that are done, and measure none
}

// tableKinds are all worlds of the table that are judged by package verdict.
func tableKinds() []kind { return append(append(kinds(), heldOut()...), disturbed()...) }

// cellsOf are the cells of a table: with nothing that differs in every world, and with one faster
// layout in those of the power rows.
func (o tableOptions) cellsOf() (all []cellKey, worlds map[string]kind) {
	worlds = map[string]kind{}
	for _, w := range tableKinds() {
		if !strings.Contains(w.name, o.only) {
			continue
		}
		worlds[w.name] = w
		for _, k := range tableLayouts {
			for _, n := range tableBlocks {
				all = append(all, cellKey{w.name, k, n, 0, o.rules, o.s, o.seed})
			}
			for _, percent := range []float64{6, 20} {
				if noiseSD[w.name] > 0 {
					all = append(all, cellKey{w.name, k, maxBlocks, percent, o.rules, o.s, o.seed})
				}
			}
		}
	}
	return all, worlds
}

// runTable measures the cells that the state lacks, and prints all.
func runTable(ctx context.Context, o tableOptions, stdout, stderr io.Writer) (missed []string, err error) {
	done, err := readCells(o.state)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(o.state, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	keys, worlds := o.cellsOf()
	var cells []cellDone
	for i, key := range keys {
		c, known := done[key]
		if !known && o.stored {
			continue
		}
		if !known {
			if c, err = measureCell(ctx, worlds[key.World], key); err != nil {
				return nil, err
			}
			if err := json.NewEncoder(file).Encode(c); err != nil {
				return nil, err
			}
			fmt.Fprintf(stderr, "%d of %d cells: %s, %d layouts, %d blocks\n", i+1, len(keys), key.World, key.Layouts, key.Blocks)
		}
		cells = append(cells, c)
	}
	missed = printTable(stdout, cells)
	if o.page != "" {
		return missed, writePage(o, cells, missed)
	}
	return missed, nil
}

// readCells reads the cells that are done. A last line that was cut off is measured again.
func readCells(path string) (map[cellKey]cellDone, error) {
	done := map[cellKey]cellDone{}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c cellDone
		if json.Unmarshal(lines.Bytes(), &c) == nil {
			done[c.cellKey] = c
		}
	}
	return done, nil
}

// printTable prints a row for each cell, and returns the targets that are missed.
func printTable(w io.Writer, cells []cellDone) (missed []string) {
	fmt.Fprintln(w, "| world | layouts | blocks | faster by | false alarms | wrong recommendations | coverage | U | U and intervals | "+
		"decided | found | by known noise | wrong direction | withheld | trials |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, c := range cells {
		of := func(n int) share { return share{n, c.S} }
		found, knowing := "–", "–"
		if c.Percent > 0 {
			found, knowing = of(c.Found).String(), of(c.KnowNoise).String()
		}
		fmt.Fprintf(w, "| %s | %d | %d | %g %% | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %.1f |\n", c.World, c.Layouts, c.Blocks,
			c.Percent, of(c.Alarms), of(c.Wrong), of(c.Covered), of(c.Bounded), of(c.Together), of(c.Decided), found, knowing, of(c.Reversed),
			of(c.Withheld), c.Trials)
		for _, target := range []struct {
			what string
			n    int // of failures
			most float64
		}{{"false alarms", c.Alarms, mostAlarms}, {"wrong recommendations", c.Wrong, mostAlarms},
			{"intervals missed", c.S - c.Covered, 1 - leastCovered},
			{"U or intervals missed", c.S - c.Together, 1 - leastCovered}, {"wrong direction", c.Reversed, mostWrong}} {
			if s := of(target.n); s.value() > target.most+tolerated*math.Sqrt(target.most*(1-target.most)/float64(c.S)) {
				missed = append(missed, fmt.Sprintf("%s, %d layouts, %d blocks, +%g %%: %s %s %%, target at most %g %%", c.World, c.Layouts,
					c.Blocks, c.Percent, target.what, s, 100*target.most))
			}
		}
	}
	return missed
}
