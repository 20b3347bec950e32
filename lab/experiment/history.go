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

// history holds the state of a plan's trials: by pilot or block and layout, the number of tries and their result.
type history struct {
	plan    Plan
	trials  []filewise.Trial
	tries   map[cellKey]tries
	left    []filewise.Trial // pilots of designs that the run has left
	elapsed time.Duration    // wall time of all trials, these included
	voids   voids
}

type cellKey struct {
	block  int // 0 means the pilot
	layout string
}

type tries struct {
	n      int
	voids  int // of n: they do not count as failures
	done   *filewise.Trial
	reason string // of the last failure
}

func (p Plan) read(trials []filewise.Trial) history {
	trials, voids := counted(trials)
	h := history{plan: p, tries: make(map[cellKey]tries), voids: voids}
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
			if p.Params.Custom.Restored() && x.reason == t.Reason && notBuilt(t.Reason) { // a dump is the same each time
				x.n = max(x.n, p.Attempts)
			}
			x.reason = t.Reason
		}
		h.tries[k] = x
		h.elapsed += t.Elapsed
	}
	h.plan.Budget = h.budget()
	return h
}

// ofDesign takes the pilots of designs that the run has left apart, which count for time alone.
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

// mostAttempts returns the number of tries that a cell may have, void trials included.
func (h history) mostAttempts() int {
	most := h.plan.Attempts
	for _, x := range h.tries {
		most = max(most, h.plan.Attempts+x.voids)
	}
	return most
}

// cell picks the next trial of a block: first every layout once, in order; then
// the failed ones again.
func (h history) cell(block int, order []int) (filewise.Cell, bool) {
	for attempt := 1; attempt <= h.mostAttempts(); attempt++ {
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
	for block := range b { // 0 is the pilot
		x, tried := h.tries[cellKey{block, h.plan.Layouts[layout].Name}]
		if tried && x.done == nil && x.n >= h.plan.Attempts+x.voids {
			return true
		}
	}
	return false
}

func notBuilt(reason string) bool { return strings.HasPrefix(reason, filewise.StageBuild+": ") }

// unbuilt returns why no layout's build can be filled from the user's dump, if the first try of each failed for one
// reason. Else it is empty.
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

// broken reports why nothing can be compared any more, or is empty.
func (h history) broken() string {
	if why := h.unbuilt(); why != "" {
		return why
	}
	left, last, lost := 0, h.lastBlock()+1, ""
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

// reason is the last failure of a layout.
func (h history) reason(layout string) string {
	for b := h.lastBlock(); b >= 0; b-- {
		if x := h.tries[cellKey{b, layout}]; x.reason != "" && x.done == nil {
			return x.reason
		}
	}
	return "unknown"
}

func (h history) lastBlock() int {
	last := 0
	for k := range h.tries {
		last = max(last, k.block)
	}
	return last
}

// inBlocks counts the trials that were measured in blocks. A void one was not.
func (h history) inBlocks() (n int) {
	for _, t := range h.trials {
		if !t.Cell.Pilot && void(t) == "" {
			n++
		}
	}
	return n
}

// live are the layouts that block b measures: those that are not given up, and
// that some judged family has neither dropped nor decided before.
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

// openIn reports whether a family's judgement leaves a layout in question in block b.
func (p Plan) openIn(r verdict.Result, layout, b int) bool {
	look, judged := r.Last()
	if !judged {
		return true
	}
	if look.Stop != verdict.ReasonNone && look.Block < b && !p.narrows(r, look) {
		return false
	}
	at := look.Estimates[layout].DroppedAt
	return at == 0 || at >= b
}

// replay judges the complete blocks, family by family, and returns the next cell
// of the block that is not complete, if there is one. What is live in a block
// follows from the blocks before it. With several families that is exact for the
// last block only, for one that is decided lets the others decide more; but the
// blocks before the last are complete, or it would not have begun.
func (h history) replay(s Schedule, m *memo) ([]verdict.Result, *filewise.Cell, error) {
	last := h.lastBlock()
	before, known := m.of(s, last-1)
	if !known {
		var err error
		if before, err = h.judge(s, max(last-1, 0)); err != nil {
			return before, nil, err
		}
		m.keep(s, max(last-1, 0), before)
	}
	for b := 1; b <= last; b++ {
		cell, open := h.cell(b, h.plan.order(b, h.live(h.plan.judged(before), b)))
		switch {
		case open && b == last:
			return before, &cell, nil
		case open:
			results, err := h.judge(s, b-1)
			return results, &cell, err
		}
	}
	results, err := h.judge(s, last)
	if err == nil {
		m.keep(s, last, results)
	}
	return results, nil, err
}

// judge judges the first blocks, each family by itself; their claims hold together.
func (h history) judge(s Schedule, blocks int) ([]verdict.Result, error) {
	families := h.plan.families()
	tables := make([]verdict.Table, len(families))
	for f, family := range families {
		tables[f] = make(verdict.Table, blocks)
		for b := range tables[f] {
			tables[f][b] = h.row(b+1, family)
		}
	}
	shared, alone := h.plan.shares()
	some, err := JudgeFamilies(h.plan.JudgedBy(), 1-h.plan.Confidence, len(shared), func(i int, confidence float64) (verdict.Result, error) {
		r, err := h.plan.judgeTable(s, tables[shared[i]], confidence)
		if err != nil {
			return r, fmt.Errorf("family %q: %w", families[shared[i]], err)
		}
		return r, nil
	})
	if err != nil {
		return some, err
	}
	results := make([]verdict.Result, len(families))
	for i, f := range shared {
		results[f] = some[i]
	}
	for _, f := range alone {
		cfg, arms := h.plan.judging(s, tables[f], h.plan.Confidence)
		if results[f], err = verdict.Unjudged(cfg, arms, tables[f]); err != nil {
			return results, fmt.Errorf("family %q: %w", families[f], err)
		}
	}
	return results, nil
}

// Families returns the families that the workload measures, which plans of earlier versions leave out if there is
// one.
func (p Plan) Families() []string {
	if len(p.Phases) == 0 {
		return []string{workload.FamilyInserts}
	}
	return p.Phases
}

// families returns the families by which the trials are judged.
func (p Plan) families() []string {
	switch {
	case p.cycles():
		return cycleFamilies
	case p.Measure == MeasureLifecycle:
		return lifecycleFamilies
	case p.Overall:
		return append(slices.Clone(p.Families()), FamilyOverall)
	}
	return p.Families()
}

func (h history) row(b int, family string) []verdict.Cell {
	row := make([]verdict.Cell, len(h.plan.Layouts))
	var turns map[string]*verdict.Turns
	if h.plan.JudgedBy() >= chainedFrom {
		turns = h.turnsOfSession(b, family)
	}
	for i, l := range h.plan.Layouts {
		t := h.tries[cellKey{b, l.Name}].done
		if t == nil || len(t.Measures) == 0 {
			continue
		}
		x, ok := t.Throughput(family)
		if family == FamilyOverall {
			x, ok = h.plan.overall(*t)
		}
		probe, _ := t.Throughput(FamilyCalibration) // 0 means not collected
		row[i] = verdict.Cell{Throughput: x, Instance: t.Instance, Calibration: probe, Order: h.orderOf(t), OK: ok,
			Turns: turns[l.Name]}
	}
	return row
}

// memo keeps the judgement of the complete blocks between the trials of a run: it
// changes with a block, not with a trial, and costs more than choosing a cell.
type memo struct {
	schedule Schedule
	blocks   int
	results  []verdict.Result
}

// of returns the results kept for these blocks.
func (m *memo) of(s Schedule, blocks int) ([]verdict.Result, bool) {
	if m == nil || m.results == nil || m.schedule != s || m.blocks != blocks {
		return nil, false
	}
	return m.results, true
}

func (m *memo) keep(s Schedule, blocks int, results []verdict.Result) {
	if m != nil {
		*m = memo{s, blocks, results}
	}
}
