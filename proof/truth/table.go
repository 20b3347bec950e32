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
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/lab/verdict"
	"gonum.org/v1/gonum/stat/distuv"
)

// The table has a cell for each world, number of layouts, and number of planned blocks. Cells grow by batches: every
// cell gets a batch before any gets the next. Each batch is appended to a file once it is done, and the next run
// continues from the file.

// batch is the number of experiments by which a cell grows.
const batch = 100

var (
	tableLayouts = []int{2, 3, 5, 8, 12}
	tableBlocks  = []int{3, 6, 12, 20}
	// of experiments through the Runner
	sessionLayouts = []int{2, 5, 12}
	sessionBlocks  = []int{6, 20}
)

// asGranted represents the number of blocks that an earlier experiment named as sufficient.
const asGranted = 0

// cellKey identifies a cell. Other rules or seeds make other cells.
type cellKey struct {
	World   string  `json:"world"`
	Layouts int     `json:"layouts"`
	Blocks  int     `json:"blocks"`  // planned, or asGranted
	Percent float64 `json:"percent"` // by which the middle layout is faster
	Rules   int     `json:"rules"`
	Seed    uint64  `json:"seed"`
}

// cellDone counts the results of a cell's experiments, or of a batch of them.
type cellDone struct {
	cellKey
	S         int     `json:"s"`          // experiments
	Alarms    int     `json:"alarms"`     // a difference is claimed at some interim analysis although there is none
	Wrong     int     `json:"wrong"`      // see wrongChoice
	Covered   int     `json:"covered"`    // all intervals of all interim analyses hold
	Bounded   int     `json:"bounded"`    // U holds at all interim analyses
	Together  int     `json:"together"`   // covered and bounded
	Decided   int     `json:"decided"`    // the verdict is use, keep or more
	Found     int     `json:"found"`      // the faster layout is named, by the verdict use or more
	Reversed  int     `json:"reversed"`   // the slower layout is claimed to be faster, or the other way round
	Withheld  int     `json:"withheld"`   // no verdict at the last interim analysis, because of carry-over
	Trials    float64 `json:"trials"`     // mean trials
	KnowNoise int     `json:"know_noise"` // found by a test of the last block alone that is given the noise; 0 if there is none
}

// cellScore is the result of one experiment of a cell.
type cellScore struct {
	score
	wrongChoice, bounded, decided, withheld, knowing bool
}

// noiseSD holds the standard deviations of a trial in the worlds of the power rows.
var noiseSD = map[string]float64{"all CV 2 %": 0.02, "skewed lognormal noise": lognormalScale *
	math.Sqrt((math.Exp(lognormalShape*lognormalShape)-1)*math.Exp(lognormalShape*lognormalShape))}

// config returns the configuration of a plan with a number of blocks.
func (k cellKey) config(blocks int) (verdict.Config, []verdict.Arm) {
	cfg := verdict.DefaultConfig()
	cfg.MaxBlocks, cfg.Rules = blocks, k.Rules
	arms := make([]verdict.Arm, k.Layouts)
	for j := range arms {
		arms[j] = verdict.Arm{Name: filewise.FilesName(j + 1), Rank: j + 1}
	}
	return cfg, arms
}

// experimentOf judges one experiment by package verdict, with the middle layout faster by the effect.
func experimentOf(w kind, key cellKey, number uint64) (s cellScore, err error) {
	k, effect, blocks := key.Layouts, math.Log1p(key.Percent/100), key.Blocks
	if blocks == asGranted {
		n, ok, err := granted(w, key, number)
		if !ok || err != nil {
			return cellScore{score: score{covered: true}, bounded: true}, err
		}
		blocks = n
	}
	cfg, arms := key.config(blocks)
	table := nullTable(w, k, key.Rules, max(blocks, maxBlocks), key.Seed, number)[:blocks]
	for b := range table {
		table[b][k/2].Throughput *= math.Exp(effect)
	}
	r, err := verdict.Judge(cfg, arms, table)
	if err != nil {
		return s, fmt.Errorf("%s, %d layouts: %w", w.name, k, err)
	}
	s = key.scored(r)
	s.knowing = knows(table, k/2, noiseSD[w.name], k)
	return s, nil
}

// scored compares a result with medians that differ by the effect alone.
func (k cellKey) scored(r verdict.Result) (s cellScore) {
	effect, truth := math.Log1p(k.Percent/100), make([]float64, k.Layouts)
	truth[k.Layouts/2] = effect
	s.covered, s.bounded, s.trials = true, true, r.Trials
	for _, analysis := range r.Analyses {
		for j, e := range analysis.Estimates {
			if e.Known() {
				s.claim(truth[j], e.Lo, e.Hi)
			}
		}
		if u := analysis.Estimates[0].WorstLoss; u < effect-1e-9 { // false for NaN
			s.bounded = false
		}
	}
	if analysis, ok := r.Last(); ok {
		s.withheld = analysis.CarryOver
	}
	a := r.Answer()
	s.decided = a.Decided()
	if s.decided && a.Arm > 0 {
		s.found = effect > 0 && a.Arm == k.Layouts/2
		s.wrongChoice = truth[a.Arm] <= 0
	}
	return s
}

// knows reports whether a test of the last block alone, by the mean and given the noise, finds a layout, at 5 % over
// all layouts.
func knows(table verdict.Table, j int, sd float64, k int) bool {
	sum, n := 0.0, 0.0
	for _, row := range table {
		if row[0].OK && row[j].OK {
			sum, n = sum+math.Log(row[j].Throughput/row[0].Throughput), n+1
		}
	}
	return sd > 0 && sum/n > distuv.UnitNormal.Quantile(1-0.025/float64(k-1))*sd*math.Sqrt(2/n)
}

// add adds the counts of another batch.
func (c *cellDone) add(more cellDone) {
	c.Trials = (c.Trials*float64(c.S) + more.Trials*float64(more.S)) / float64(c.S+more.S)
	c.S += more.S
	for of, n := range map[*int]int{&c.Alarms: more.Alarms, &c.Wrong: more.Wrong, &c.Covered: more.Covered, &c.Bounded: more.Bounded,
		&c.Together: more.Together, &c.Decided: more.Decided, &c.Found: more.Found, &c.Reversed: more.Reversed, &c.Withheld: more.Withheld,
		&c.KnowNoise: more.KnowNoise} {
		*of += n
	}
}

// measureCell runs n experiments of a cell, beginning with number from.
func measureCell(ctx context.Context, w tableWorld, key cellKey, from, n int) (cellDone, error) {
	c := cellDone{cellKey: key, S: n}
	scores, err := parallel(ctx, n, func(i uint64) (cellScore, error) { return w(ctx, key, uint64(from)+i) })
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
		c.Trials += float64(s.trials) / float64(n)
	}
	return c, nil
}

type tableOptions struct {
	s, rules    int
	seed        uint64
	only, state string // part of the worlds' names; file of the finished cells
	page        string // page with a summary between marks; empty means none
	date        time.Time
	stored      bool // print the finished cells, and measure none
}

// tableKinds returns the table's worlds that package verdict judges.
func tableKinds() []kind { return append(append(kinds(), heldOut()...), disturbed()...) }

// tableWorld runs one experiment of a cell.
type tableWorld func(ctx context.Context, key cellKey, number uint64) (cellScore, error)

// cellsOf returns the cells of a table. Every world has cells without a difference. The worlds of the power rows also
// have cells with one faster layout. In the quiet world, these are also judged by rules 2, whose trials must suffice,
// and with the number of blocks named as sufficient.
func (o tableOptions) cellsOf() (all []cellKey, worlds map[string]tableWorld) {
	worlds = map[string]tableWorld{}
	for _, w := range tableKinds() {
		if !strings.Contains(w.name, o.only) {
			continue
		}
		worlds[w.name] = func(_ context.Context, key cellKey, number uint64) (cellScore, error) {
			return experimentOf(w, key, number)
		}
		for _, k := range tableLayouts {
			for _, n := range tableBlocks {
				all = append(all, cellKey{w.name, k, n, 0, o.rules, o.seed})
			}
			for _, percent := range []float64{6, 20} {
				if noiseSD[w.name] > 0 {
					all = append(all, cellKey{w.name, k, maxBlocks, percent, o.rules, o.seed})
				}
				if w.name == quietKind && o.rules > 2 {
					all = append(all, cellKey{w.name, k, maxBlocks, percent, 2, o.seed})
				}
			}
			if w.name == quietKind && o.rules > 2 {
				all = append(all, cellKey{w.name, k, asGranted, 0, o.rules, o.seed}, cellKey{w.name, k, asGranted, twoMargins, o.rules, o.seed})
			}
		}
	}
	for _, w := range sessionWorlds() {
		if !strings.Contains(w.name, o.only) {
			continue
		}
		worlds[w.name] = func(ctx context.Context, key cellKey, number uint64) (cellScore, error) {
			r, err := sessionsOf(ctx, w, key, number)
			return key.scored(r), err
		}
		for _, k := range sessionLayouts {
			for _, n := range sessionBlocks {
				all = append(all, cellKey{w.name, k, n, 0, o.rules, o.seed})
			}
		}
	}
	return all, worlds
}

// quietKind is the world with the least noise.
const quietKind = "all CV 2 %"

// twoMargins is the gain, in percent, that a granted number of blocks has to find.
const twoMargins = 4.04

// runTable measures the cells that the file lacks, and prints all.
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
	for least := min(batch, o.s); !o.stored; least = min(least+batch, o.s) {
		for _, key := range keys {
			c := done[key]
			if c.S >= least {
				continue
			}
			more, err := measureCell(ctx, worlds[key.World], key, c.S, least-c.S)
			if err != nil {
				return nil, err
			}
			if err := json.NewEncoder(file).Encode(more); err != nil {
				return nil, err
			}
			c.cellKey = key
			c.add(more)
			done[key] = c
			fmt.Fprintf(stderr, "%s, %d layouts, %s blocks: %d of %d experiments\n", key.World, key.Layouts, key.planned(), least, o.s)
		}
		if least == o.s {
			break
		}
	}
	var cells []cellDone
	for _, key := range keys {
		if c, known := done[key]; known {
			cells = append(cells, c)
		}
	}
	missed = printTable(stdout, cells)
	if o.page != "" {
		return missed, writePage(o, cells, missed)
	}
	return missed, nil
}

// readCells sums up the finished batches. A last line that was cut off is ignored, so its batch is measured again.
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
		var more cellDone
		if json.Unmarshal(lines.Bytes(), &more) == nil && more.S > 0 {
			c := done[more.cellKey]
			c.cellKey = more.cellKey
			c.add(more)
			done[more.cellKey] = c
		}
	}
	return done, nil
}

// printTable prints a row for each cell, and returns the missed targets.
func printTable(w io.Writer, cells []cellDone) (missed []string) {
	rules2 := trialsBy(2, cells)
	fmt.Fprintln(w, "| world | layouts | blocks | faster by | false alarms | wrong recommendations | coverage | U | U and intervals | "+
		"decided | found | by known noise | wrong direction | withheld | trials |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, c := range cells {
		of := func(n int) share { return share{n, c.S} }
		found, knowing := "–", "–"
		if c.Percent > 0 {
			found, knowing = of(c.Found).String(), of(c.KnowNoise).String()
		}
		fmt.Fprintf(w, "| %s | %d | %s | %g %% | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %.1f |\n", c.World, c.Layouts, c.planned(),
			c.Percent, of(c.Alarms), of(c.Wrong), of(c.Covered), of(c.Bounded), of(c.Together), of(c.Decided), found, knowing, of(c.Reversed),
			of(c.Withheld), c.Trials)
		missed = append(missed, c.misses(rules2)...)
	}
	return missed
}

// trialsBy returns the mean trials of the cells by some rules, under the keys of cells of the newest rules.
func trialsBy(rules int, cells []cellDone) map[cellKey]float64 {
	out := map[cellKey]float64{}
	for _, c := range cells {
		if c.Rules == rules {
			key := c.cellKey
			key.Rules = verdict.NewestRules
			out[key] = c.Trials
		}
	}
	return out
}

// misses returns the targets that a cell misses. Cells of rules 2 next to cells of rules 3 have no targets.
func (c cellDone) misses(rules2 map[cellKey]float64) (missed []string) {
	miss := func(format string, args ...any) {
		missed = append(missed, fmt.Sprintf("%s, %d layouts, %s blocks, +%g %%: ", c.World, c.Layouts, c.planned(), c.Percent)+
			fmt.Sprintf(format, args...))
	}
	for _, target := range []struct {
		what string
		n    int // number of failures
		most float64
	}{{"false alarms", c.Alarms, mostAlarms}, {"wrong recommendations", c.Wrong, mostAlarms},
		{"intervals missed", c.S - c.Covered, 1 - leastCovered},
		{"U or intervals missed", c.S - c.Together, 1 - leastCovered}, {"wrong direction", c.Reversed, mostWrong}} {
		if s := (share{target.n, c.S}); s.value() > target.most+tolerated*math.Sqrt(target.most*(1-target.most)/float64(c.S)) {
			miss("%s %s %%, target at most %g %%", target.what, s, 100*target.most)
		}
	}
	if s := (share{c.Decided, c.S}); c.Blocks == asGranted && s.value() < leastDecided-tolerated*s.se() {
		miss("decided %s %%, target at least %g %%", s, 100*leastDecided)
	}
	if most, known := rules2[c.cellKey]; known && c.Rules > 2 && c.Trials > most+rounding {
		miss("%.1f trials, rules 2 take %.1f", c.Trials, most)
	}
	return missed
}

// leastDecided is the least share of experiments that the granted blocks must decide.
const leastDecided = verdict.Power

// planned describes the number of blocks.
func (k cellKey) planned() string {
	if k.Blocks == asGranted {
		return "granted"
	}
	return strconv.Itoa(k.Blocks)
}
