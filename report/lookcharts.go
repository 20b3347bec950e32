package report

import (
	"html/template"
	"strconv"

	"filewise/verdict"
)

// LookCharts are the estimates and intervals after each block, layout by layout;
// none of a single look.
func (v view) LookCharts() []cell {
	result, looks := v.Judgement.Result, v.someLooks()
	if len(looks) < 2 {
		return nil
	}
	e := newEffects(v.factors(), result.Config.Margin)
	for _, l := range looks {
		for j := range l.Estimates {
			if s := result.Shown(l, j); shownLook(s) {
				e.include(s.Effect, s.Lo, s.Hi)
			}
		}
	}
	var out []cell
	for j, a := range result.Arms {
		if j != result.Config.Baseline {
			if d := v.lookChart(j, looks, e); d != "" {
				out = append(out, cell{a.Name, d})
			}
		}
	}
	return out
}

// shownLook tells whether an estimate has a place on a scale.
func shownLook(s verdict.Estimate) bool { return known(s.Effect) && !unresolvable(s.Lo, s.Hi) }

// lookChart is one layout's course; hollow dots are those after it was dropped.
func (v view) lookChart(arm int, looks []verdict.Look, e effects) template.HTML {
	const top, bottom = 18, 128
	d := drawing{height: bottom + 24}
	y := e.scale(bottom, top)
	x := scale{lo: float64(looks[0].Block), hi: float64(looks[len(looks)-1].Block), from: 19, to: 95}
	d.upright(e, y, 4)
	var blocks []int
	drawn := false
	for _, l := range looks {
		at := x.at(float64(l.Block))
		blocks = append(blocks, l.Block)
		if arm >= len(l.Estimates) {
			continue
		}
		s := v.Judgement.Result.Shown(l, arm)
		if !shownLook(s) {
			continue
		}
		drawn = true
		tip := "after block " + strconv.Itoa(l.Block) + ": " + interval(s.Effect, s.Lo, s.Hi)
		if known(s.Lo) && known(s.Hi) {
			d.line("interval l0", at, y.at(e.of(s.Lo)), at, y.at(e.of(s.Hi)), tip)
		}
		class := "estimate l0"
		if s.DroppedAt > 0 && s.DroppedAt < l.Block {
			class = "estimate hollow"
		}
		d.circle(class, at, y.at(e.of(s.Effect)), 4, tip)
	}
	if !drawn {
		return ""
	}
	d.counts(blocks, x, bottom+18)
	return d.html(v.Judgement.Result.Arms[arm].Name + ": estimate and interval after each block; the table below has the numbers.")
}
