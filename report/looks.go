package report

import (
	"fmt"

	"filewise/verdict"
)

// lookRow is the judgement after one block.
type lookRow struct {
	Block, Trials int
	Cells         []lookCell // by layout, in the order of Arms
	Leader        string
	Tolerance     string
	Outcome       string
}

// lookCell is what one look says about one layout.
type lookCell struct{ Effect, Limits, Regret, Note string }

// Arms are the names of the layouts in the order of a look's cells.
func (v view) Arms() []string {
	var out []string
	for _, a := range v.Judgement.Result.Arms {
		out = append(out, a.Name)
	}
	return out
}

// mostLooks is up to how many looks are all shown.
const mostLooks = 60

// ThinnedLooks tells whether there are too many looks to show each.
func (v view) ThinnedLooks() bool { return len(v.Judgement.Result.Looks) > mostLooks }

// someLooks are the looks that are shown: of very many at equal distances, the
// first and the last among them.
func (v view) someLooks() []verdict.Look {
	all := v.Judgement.Result.Looks
	if !v.ThinnedLooks() {
		return all
	}
	out := make([]verdict.Look, 0, mostLooks)
	for i := range mostLooks {
		out = append(out, all[i*(len(all)-1)/(mostLooks-1)])
	}
	return out
}

// Looks are the judgements in order; of very many, some.
func (v view) Looks() []lookRow {
	var out []lookRow
	for _, l := range v.someLooks() {
		r := lookRow{Block: l.Block, Trials: l.Trials, Leader: v.arm(l.Leader), Tolerance: atMost(l.Tolerance), Outcome: v.outcome(l)}
		for j := range l.Estimates {
			r.Cells = append(r.Cells, cellOf(l, v.Judgement.Result.Shown(l, j), j == v.Judgement.Result.Config.Baseline))
		}
		out = append(out, r)
	}
	return out
}

func cellOf(l verdict.Look, e verdict.Estimate, baseline bool) lookCell {
	c := lookCell{Effect: difference(e.Effect)}
	if baseline {
		c.Effect = "baseline"
	} else if e.Known() && unresolvable(e.Lo, e.Hi) {
		c.Effect = notResolvable
	} else if e.Known() && known(e.Effect) {
		c.Limits = limits(e.Effect, e.Lo, e.Hi)
	}
	if known(e.Regret) && (e.DroppedAt == 0 || e.DroppedAt >= l.Block) {
		c.Regret = "regret " + atMost(e.Regret)
	}
	if e.DroppedAt > 0 {
		c.Note = fmt.Sprintf("dropped after %d", e.DroppedAt)
	}
	return c
}

// atMost writes an upper limit: "≤ 1.6 %", "≤ factor 2.7".
func atMost(effect float64) string {
	if !known(effect) || effect <= 0 {
		return bound(effect)
	}
	return "≤ " + bound(effect)
}

func (v view) arm(i int) string {
	if i < 0 || i >= len(v.Judgement.Result.Arms) {
		return absent
	}
	return v.Judgement.Result.Arms[i].Name
}

// outcome is what followed from a look.
func (v view) outcome(l verdict.Look) string {
	switch l.Stop {
	case verdict.ReasonNone:
		if l.BlocksNeeded > 0 {
			return fmt.Sprintf("go on (±%s would need about %d blocks)", v.Margin(), l.BlocksNeeded)
		}
		return "go on"
	case verdict.ReasonKeepBaseline:
		return "proven: keep " + v.Plan.Baseline
	case verdict.ReasonRecommend:
		return "proven: use " + v.arm(l.Recommended)
	case verdict.ReasonAllResolved:
		return "every layout is resolved"
	case verdict.ReasonFutile:
		return "stop: the blocks left could not decide it"
	case verdict.ReasonMaxBlocks:
		return "stop: all planned blocks are measured"
	}
	return string(l.Stop)
}
