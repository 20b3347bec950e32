package experiment

import (
	"cmp"
	"slices"
	"time"

	"filewise"
	"filewise/lab/verdict"
)

// interleavedOf returns a block's trials by their position in the interleaved block. It returns nil if not all
// of them were measured in one interleaved block to its end.
func (h history) interleavedOf(block int) []*filewise.Trial {
	var members []*filewise.Trial
	for _, l := range h.plan.Layouts {
		switch x := h.tries[cellKey{block, l.Name}]; {
		case x.n == 0: // the layout was dropped earlier
		case x.done == nil || x.done.Cell.Attempt != 1 || len(x.done.Measures) == 0:
			return nil
		default:
			members = append(members, x.done)
		}
	}
	slices.SortFunc(members, func(a, b *filewise.Trial) int { return cmp.Compare(a.Cell.Position, b.Cell.Position) })
	var took time.Duration
	for _, t := range members {
		took += t.Elapsed
	}
	for i, t := range members {
		if t.Cell.Position != i || t.Started.Sub(members[0].Started) > took/2 { // an interleaved block was broken off, and this is the rest of it
			return nil
		}
	}
	return members
}

// turnsOfBlock returns the turns of each layout of a block, for one operation. Each turn holds the number (from 1) of
// the layout that had the turn before. It returns nil if the order of the interleaved block is not known.
func (h history) turnsOfBlock(block int, operation string) map[string]*verdict.Turns {
	if !h.plan.Interleaved && h.plan.Rounds == 0 {
		return nil
	}
	members, number := h.interleavedOf(block), make([]int, 0, len(h.plan.Layouts))
	var turns [][]float64
	for _, t := range members {
		number = append(number, 1+slices.IndexFunc(h.plan.Layouts, func(l filewise.Layout) bool { return l.Name == t.Cell.Layout }))
		i := slices.IndexFunc(t.Measures, func(m filewise.Measure) bool { return m.Operation == operation })
		if i < 0 || len(t.Measures[i].Turns) == 0 {
			return nil
		}
		turns = append(turns, t.Measures[i].Turns)
	}
	if len(members) < 2 {
		return nil
	}
	out, before := make(map[string]*verdict.Turns), 0
	if stageTime(*members[0], filewise.StageWarmUp) > 0 {
		order := h.plan.turnOrder(members[0].Cell, 0, len(members))
		before = number[order[len(order)-1]]
	}
	for r := range turns[0] {
		for _, i := range h.plan.turnOrder(members[0].Cell, r+1, len(members)) {
			name, work := members[i].Cell.Layout, 0.0
			if r < len(turns[i]) {
				work = turns[i][r]
			}
			if out[name] == nil {
				out[name] = new(verdict.Turns)
			}
			out[name].Work, out[name].After = append(out[name].Work, work), append(out[name].After, before)
			before = number[i]
		}
	}
	return out
}
