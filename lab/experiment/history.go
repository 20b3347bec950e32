package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// history holds the state of a plan's trials: per block and layout, the number of tries and their result. The pilot is
// block 0.
type history struct {
	plan    Plan
	trials  []filewise.Trial
	tries   map[cellKey]tries
	left    []filewise.Trial // pilots of designs that the run has abandoned
	elapsed time.Duration    // wall time of all trials, left included
	voids   voids
	last    int            // the last block
	most    int            // tries that any cell may have; a void trial allows one more
	givenUp map[string]int // the first block in which a layout was given up
}

type cellKey struct {
	block  int // 0 means the pilot
	layout string
}

type tries struct {
	n      int
	voids  int // of n; void tries do not count as failures
	done   *filewise.Trial
	reason string // of the last failure
}

func (p Plan) read(trials []filewise.Trial) history {
	trials, voids := counted(trials)
	h := history{plan: p, tries: make(map[cellKey]tries), voids: voids, most: p.Attempts, givenUp: make(map[string]int)}
	trials = h.ofDesign(trials)
	h.trials = trials
	for i := range trials {
		t := &trials[i]
		k := cellKey{t.Cell.Block, t.Cell.Layout}
		x := h.tries[k]
		x.n = max(x.n, t.Cell.Attempt)
		if why := void(*t); t.State == filewise.Done {
			if x.done == nil {
				x.done = t
			}
		} else if why != "" {
			x.voids++
		} else {
			if p.Params.Custom.Restored() && x.reason == t.Reason && notBuilt(t.Reason) { // a dump fails the same way each time
				x.n = max(x.n, p.Attempts)
			}
			x.reason = t.Reason
		}
		h.tries[k] = x
		h.elapsed += t.Elapsed
	}
	for k, x := range h.tries {
		h.last, h.most = max(h.last, k.block), max(h.most, p.Attempts+x.voids)
		if at, before := h.givenUp[k.layout]; x.done == nil && x.n >= p.Attempts+x.voids && (!before || k.block < at) {
			h.givenUp[k.layout] = k.block
		}
	}
	h.plan.Budget = h.budget()
	return h
}

// ofDesign returns the trials of the present design. It moves the pilots of abandoned designs to left, where only their
// time counts.
func (h *history) ofDesign(trials []filewise.Trial) []filewise.Trial {
	if len(h.plan.Rungs) == 0 {
		return trials
	}
	var here []filewise.Trial
	for _, t := range trials {
		if h.plan.rungOf(t.Cell) == len(h.plan.Rungs) {
			here = append(here, t)
			continue
		}
		h.left = append(h.left, t)
		h.elapsed += t.Elapsed
	}
	return here
}

// open reports whether a cell needs a trial: it is neither done nor given up.
func (h history) open(block, layout int) bool {
	x := h.tries[cellKey{block, h.plan.Layouts[layout].Name}]
	return x.done == nil && x.n < h.plan.Attempts+x.voids
}

// cell returns the next trial of a block. First every layout is tried once, in order; then the failed ones are tried
// again. It returns false if no layout needs a trial.
func (h history) cell(block int, order []int) (filewise.Cell, bool) {
	for attempt := 1; attempt <= h.most; attempt++ {
		for pos, i := range order {
			name := h.plan.Layouts[i].Name
			if h.open(block, i) && h.tries[cellKey{block, name}].n == attempt-1 {
				return filewise.Cell{Pilot: block == 0, Block: block, Position: h.plan.position(block, pos), Layout: name, Attempt: attempt}, true
			}
		}
	}
	return filewise.Cell{}, false
}

func (h history) nextPilot() (filewise.Cell, bool) {
	if base := slices.IndexFunc(h.plan.Layouts, func(l filewise.Layout) bool { return l.Name == h.plan.Baseline }); h.plan.OnePilot {
		return h.cell(0, []int{base})
	}
	return h.cell(0, h.plan.order(0, upTo(len(h.plan.Layouts))))
}

// withdrawn reports whether a layout was given up in a block before b.
func (h history) withdrawn(layout, b int) bool {
	at, is := h.givenUp[h.plan.Layouts[layout].Name]
	return is && at < b
}

func notBuilt(reason string) bool { return strings.HasPrefix(reason, filewise.StageBuild+": ") }

// unbuilt returns why no layout's database can be filled from the user's dump. It returns "" unless the first try of
// each layout failed for the same reason.
func (h history) unbuilt() string {
	why := h.reason(h.plan.Baseline)
	if !h.plan.Params.Custom.Restored() || !notBuilt(why) || h.plan.OnePilot {
		return ""
	}
	for _, l := range h.plan.Layouts {
		x := h.tries[cellKey{0, l.Name}]
		if x.done != nil || strings.ReplaceAll(x.reason, l.Name, h.plan.Baseline) != why {
			return ""
		}
	}
	return "no layout can be built: " + strings.TrimPrefix(why, filewise.StageBuild+": ")
}

// broken returns why the layouts can no longer be compared, or "" if they can.
func (h history) broken() string {
	if why := h.unbuilt(); why != "" {
		return why
	}
	left, last, lost := 0, h.last+1, ""
	for i, l := range h.plan.Layouts {
		if !h.withdrawn(i, last) {
			left++
			continue
		}
		lost = fmt.Sprintf("; %s: %s", l.Name, h.reason(l.Name))
		if l.Name == h.plan.Baseline {
			return fmt.Sprintf("the baseline, %s, could not be measured: %s", l.Name, h.reason(l.Name))
		}
	}
	if left < 2 {
		return fmt.Sprintf("only %d of %d layouts could be measured%s", left, len(h.plan.Layouts), lost)
	}
	return ""
}

// reason returns the last failure of a layout, or "unknown" if there is none.
func (h history) reason(layout string) string {
	for b := h.last; b >= 0; b-- {
		if x := h.tries[cellKey{b, layout}]; x.reason != "" && x.done == nil {
			return x.reason
		}
	}
	return "unknown"
}

// inBlocks counts the trials measured in blocks, without void trials.
func (h history) inBlocks() (n int) {
	for _, t := range h.trials {
		if !t.Cell.Pilot && void(t) == "" {
			n++
		}
	}
	return n
}

// live returns the layouts that block b measures. A layout is left out if it is given up, or if every operation has
// dropped or decided it before.
func (h history) live(results []verdict.Result, b int) []int {
	var out []int
	for i := range h.plan.Layouts {
		wanted := slices.ContainsFunc(results, func(r verdict.Result) bool { return h.plan.openIn(r, i, b) })
		if wanted && !h.withdrawn(i, b) {
			out = append(out, i)
		}
	}
	return out
}

// openIn reports whether an operation's verdict leaves a layout open in block b.
func (p Plan) openIn(r verdict.Result, layout, b int) bool {
	analysis, judged := r.Last()
	if !judged {
		return true
	}
	if analysis.Stop != verdict.ReasonNone && analysis.Block < b && !p.narrows(r, analysis) {
		return false
	}
	at := analysis.Estimates[layout].DroppedAt
	return at == 0 || at >= b
}

// replay judges the complete blocks, operation by operation, and returns the next cell of the incomplete block, if there is
// one. The layouts live in a block follow from the blocks before it. With several operations this is exact for the last
// block only, because one decided operation lets the others decide more. That is enough: the blocks before the last are
// complete, or the last would not have begun.
func (h history) replay(s Schedule, m *memo) ([]verdict.Result, *filewise.Cell, error) {
	last := h.last
	before, known := m.of(s, last-1)
	if !known {
		var err error
		if before, err = h.judge(s, max(last-1, 0), m); err != nil {
			return before, nil, err
		}
		m.keep(s, max(last-1, 0), before)
	}
	judged := h.plan.judged(before)
	for b := 1; b <= last; b++ {
		live := h.live(judged, b)
		if !slices.ContainsFunc(live, func(i int) bool { return h.open(b, i) }) {
			continue // without drawing its order
		}
		cell, _ := h.cell(b, h.plan.order(b, live))
		if b == last {
			return before, &cell, nil
		}
		results, err := h.judge(s, b-1, m)
		return results, &cell, err
	}
	results, err := h.judge(s, last, m)
	if err == nil {
		m.keep(s, last, results)
	}
	return results, nil, err
}

// judge judges the first blocks. Each operation has its own verdict, and the claims of all operations hold together.
func (h history) judge(s Schedule, blocks int, m *memo) ([]verdict.Result, error) {
	operations := h.plan.operations()
	tables := make([]verdict.Table, len(operations))
	for f, operation := range operations {
		tables[f] = make(verdict.Table, blocks)
		for b := range tables[f] {
			tables[f][b] = h.row(b+1, operation)
		}
	}
	shared, alone := h.plan.shares()
	some, err := JudgeOperations(h.plan.JudgedBy(), 1-h.plan.Confidence, len(shared), func(i int, confidence float64) (verdict.Result, error) {
		cfg, arms := h.plan.judging(s, tables[shared[i]], confidence)
		r, err := m.judges(shared[i], confidence).Judge(cfg, arms, tables[shared[i]])
		if err != nil {
			return r, fmt.Errorf("operation %q: %w", operations[shared[i]], err)
		}
		return r, nil
	})
	if err != nil {
		return some, err
	}
	results := make([]verdict.Result, len(operations))
	for i, f := range shared {
		results[f] = some[i]
	}
	for _, f := range alone {
		cfg, arms := h.plan.judging(s, tables[f], h.plan.Confidence)
		if results[f], err = verdict.Unjudged(cfg, arms, tables[f]); err != nil {
			return results, fmt.Errorf("operation %q: %w", operations[f], err)
		}
	}
	return results, nil
}

// Operations returns the operations that the workload measures. Plans of earlier versions store none if there is only one.
func (p Plan) Operations() []string {
	if len(p.Phases) == 0 {
		return []string{workload.OperationInserts}
	}
	return p.Phases
}

// operations returns the operations by which the trials are judged.
func (p Plan) operations() []string {
	switch {
	case p.cycles():
		return cycleOperations
	case p.Measure == MeasureLifecycle:
		return lifecycleOperations
	case p.Overall:
		return append(slices.Clone(p.Operations()), OperationOverall)
	}
	return p.Operations()
}

func (h history) row(b int, operation string) []verdict.Cell {
	row := make([]verdict.Cell, len(h.plan.Layouts))
	var turns map[string]*verdict.Turns
	if h.plan.JudgedBy() >= chainedFrom {
		turns = h.turnsOfBlock(b, operation)
	}
	for i, l := range h.plan.Layouts {
		t := h.tries[cellKey{b, l.Name}].done
		if t == nil || len(t.Measures) == 0 {
			continue
		}
		x, ok := t.Throughput(operation)
		if operation == OperationOverall {
			x, ok = h.plan.overall(*t)
		}
		probe, _ := t.Throughput(OperationCalibration) // 0 if no calibration was measured
		row[i] = verdict.Cell{Throughput: x, Build: t.Build, Calibration: probe, Order: h.orderOf(t), OK: ok,
			Turns: turns[l.Name]}
	}
	return row
}

// memo caches the verdict on the complete blocks between the trials of a run. The verdict changes only with a block,
// and computing it takes longer than choosing the next cell.
type memo struct {
	schedule Schedule
	blocks   int
	results  []verdict.Result
	series   map[level]*verdict.Series // these go on with each block
}

// level is an operation, and the confidence at which it is judged.
type level struct {
	operation  int
	confidence float64
}

// of returns the results cached for these blocks. It returns false if there are none.
func (m *memo) of(s Schedule, blocks int) ([]verdict.Result, bool) {
	if m == nil || m.results == nil || m.schedule != s || m.blocks != blocks {
		return nil, false
	}
	return m.results, true
}

func (m *memo) keep(s Schedule, blocks int, results []verdict.Result) {
	if m != nil {
		m.schedule, m.blocks, m.results = s, blocks, results
	}
}

// judges returns what judges an operation at a confidence, with its analyses so far.
func (m *memo) judges(operation int, confidence float64) *verdict.Series {
	if m == nil {
		return new(verdict.Series)
	}
	at := level{operation, confidence}
	if m.series[at] == nil {
		if m.series == nil {
			m.series = make(map[level]*verdict.Series)
		}
		m.series[at] = new(verdict.Series)
	}
	return m.series[at]
}
