package experiment

import (
	"math"

	"filewise"
	"filewise/cause"
	"filewise/verdict"
)

// cause is what changed with a family's difference: that of the layout to use, or
// of the one that differs most. Where no layout differs for sure, it is what
// limits all of them. Nil: too little was measured.
func (s standing) cause(family string, r verdict.Result) *cause.Cause {
	look, ok := r.Last()
	if !ok {
		return nil
	}
	in := cause.Input{Trials: s.counted(r.Blocks), Family: family, Baseline: s.plan.Baseline, Loop: true,
		Layouts: filewise.LayoutNames(s.plan.Layouts)}
	for _, t := range in.Trials {
		for _, m := range t.Measures {
			if family == "" || m.Family == family {
				in.Connections, in.Loop = m.Connections, in.Loop && !m.Paced && m.Connections > 0
			}
		}
	}
	if arm := explained(r, look); arm >= 0 {
		in.Layout, in.Effect = r.Arms[arm].Name, r.Shown(look, arm).Effect
	}
	c, ok := cause.Explain(in)
	if !ok {
		return nil
	}
	return &c
}

// counted are the trials of the complete blocks.
func (h history) counted(blocks int) []filewise.Trial {
	var out []filewise.Trial
	for _, t := range h.trials {
		if t.State == filewise.Done && t.Cell.Block >= 1 && t.Cell.Block <= blocks {
			out = append(out, t)
		}
	}
	return out
}

// explained is the arm whose difference against the baseline is worth explaining;
// −1: none differs for sure.
func explained(r verdict.Result, look verdict.Look) int {
	best, most := -1, 0.0
	for arm := range r.Arms {
		e := r.Shown(look, arm)
		if e.Mark == verdict.MarkBaseline || !e.Known() || e.Lo <= 0 && e.Hi >= 0 {
			continue
		}
		if arm == look.Recommended {
			return arm
		}
		if x := math.Abs(e.Effect); x > most {
			best, most = arm, x
		}
	}
	return best
}
