package report

import (
	"fmt"
	"html/template"
	"strconv"

	"filewise/internal/say"
	"filewise/lab/verdict"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// analyses returns the interim analyses after each block, as charts and as a table.
func (v view) analyses() []document.Block {
	some := v.someAnalyses()
	if len(some) == 0 {
		n := v.of.Result.Blocks
		text := fmt.Sprintf("There was no interim analysis: the first is possible after block %d, and %s %s complete.", verdict.FirstAnalysis,
			say.Count(n, "block"), isAre(n))
		return []document.Block{document.OnPages(document.Text(text))}
	}
	caption := "What was known after each block"
	if all := len(v.of.Result.Analyses); all > len(some) {
		caption = fmt.Sprintf("What was known after some of the %d blocks looked at", all)
	}
	columns := []document.Of[verdict.Analysis]{
		document.Name("blocks", func(l verdict.Analysis) string { return fmt.Sprint(l.Block) }).As("num"),
		document.Num("trials", func(l verdict.Analysis) string { return fmt.Sprint(l.Trials) }),
	}
	for j, a := range v.of.Result.Arms {
		columns = append(columns, document.Cells(a.Name, func(l verdict.Analysis) document.Cell { return v.analysisCell(l, j) }).As("nb"))
	}
	columns = append(columns,
		document.Cells("leader", func(l verdict.Analysis) document.Cell {
			return document.Cell{Text: v.arm(l.Leader), Small: []string{"tolerance " + atMost(l.Tolerance)}}
		}).As("nb"),
		document.Words("outcome", v.outcome).As("words"))
	return []document.Block{
		document.Text(fmt.Sprintf("After each block from the third, the difference to %s, from block %d on its interval, and the worst-case "+
			"loss: no tested layout is faster by more than this. A layout can be "+
			"recommended as soon as that is within the tolerance: the margin, or a quarter of the gain that is proven.",
			v.Plan.Baseline, v.of.Result.FirstClaim())),
		v.analysisFigure(), document.Tabulate(document.Table{Caption: caption, Class: "looks"}, some, columns...),
	}
}

// mostAnalyses is the largest number of interim analyses of which all are shown.
const mostAnalyses = 60

// someAnalyses returns the interim analyses to show. If there are very many, it chooses some at equal distances, including
// the first and the last.
func (v view) someAnalyses() []verdict.Analysis {
	all := v.of.Result.Analyses
	if len(all) <= mostAnalyses {
		return all
	}
	out := make([]verdict.Analysis, 0, mostAnalyses)
	for i := range mostAnalyses {
		out = append(out, all[i*(len(all)-1)/(mostAnalyses-1)])
	}
	return out
}

// analysisCell returns a layout's result in one interim analysis.
func (v view) analysisCell(l verdict.Analysis, arm int) document.Cell {
	if arm >= len(l.Estimates) {
		return document.Cell{}
	}
	e := v.of.Result.Shown(l, arm)
	c := document.Cell{Text: say.Difference(e.Effect)}
	switch {
	case arm == v.of.Result.Config.Baseline:
		c.Text = "baseline"
	case e.Known() && say.Unresolvable(e.Lo, e.Hi):
		c.Text = say.NotResolvable
	case e.Known() && say.Known(e.Effect):
		c.Small = append(c.Small, say.Limits(e.Effect, e.Lo, e.Hi))
	}
	if say.Known(e.WorstLoss) && (e.DroppedAt == 0 || e.DroppedAt >= l.Block) {
		c.Small = append(c.Small, "loss "+atMost(e.WorstLoss))
	}
	if e.DroppedAt > 0 {
		c.Small = append(c.Small, fmt.Sprintf("dropped after %d", e.DroppedAt))
	}
	return c
}

// atMost writes an upper limit: "≤ 1.6 %", "≤ factor 2.7".
func atMost(effect float64) string {
	if !say.Known(effect) || effect <= 0 || say.Unresolvable(0, effect) {
		return say.Bound(effect)
	}
	return "≤ " + say.Bound(effect)
}

func (v view) arm(i int) string {
	if i < 0 || i >= len(v.of.Result.Arms) {
		return say.Absent
	}
	return v.of.Result.Arms[i].Name
}

// outcome returns the consequence of an interim analysis.
func (v view) outcome(l verdict.Analysis) string {
	switch l.Stop {
	case verdict.ReasonNone:
		if l.BlocksNeeded > 0 {
			return fmt.Sprintf("go on (±%s would need about %d blocks)", v.margin(), l.BlocksNeeded)
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

// analysisFigure returns the estimates and intervals after each block, layout by layout. It is empty for a single interim
// analysis.
func (v view) analysisFigure() document.Figure {
	result, analyses := v.of.Result, v.someAnalyses()
	f := document.Figure{ID: "chart-looks", Grid: true}
	if len(analyses) < 2 {
		return f
	}
	e := v.effects(v.factors())
	for _, l := range analyses {
		for j := range l.Estimates {
			if s := result.Shown(l, j); shownAnalysis(s) {
				e.Include(s.Effect, s.Lo, s.Hi)
			}
		}
	}
	f.Caption = "Estimate and interval against " + v.Plan.Baseline + " after each block, over the number of blocks. " +
		"Hollow dots: the layout was dropped, with the estimate and interval of its last block."
	for j, a := range result.Arms {
		if j != result.Config.Baseline {
			if d := v.analysisChart(j, analyses, e); d != "" {
				f.Drawings = append(f.Drawings, document.Drawing{Name: a.Name, SVG: d})
			}
		}
	}
	return f
}

// shownAnalysis reports whether an estimate has a position on the scale.
func shownAnalysis(s verdict.Estimate) bool {
	return say.Known(s.Effect) && !say.Unresolvable(s.Lo, s.Hi)
}

// analysisChart draws the estimates of one layout over the interim analyses. Hollow dots are analyses after it was dropped.
// The chart is empty if no estimate has a position on the scale.
func (v view) analysisChart(arm int, analyses []verdict.Analysis, e chart.Effects) template.HTML {
	var points []chart.Point
	drawn := false
	for _, l := range analyses {
		p := chart.Point{N: l.Block, X: nan, Lo: nan, Hi: nan, Class: "l0"}
		if arm < len(l.Estimates) {
			if s := v.of.Result.Shown(l, arm); shownAnalysis(s) {
				p.X, p.Lo, p.Hi, drawn = s.Effect, s.Lo, s.Hi, true
				p.Tip = "after block " + strconv.Itoa(l.Block) + ": " + say.Interval(s.Effect, s.Lo, s.Hi)
				if s.DroppedAt > 0 && s.DroppedAt < l.Block {
					p.Class = "hollow"
				}
			}
		}
		points = append(points, p)
	}
	if !drawn {
		return ""
	}
	return chart.Curve(points, e, 154, false, "complete blocks",
		v.of.Result.Arms[arm].Name+": estimate and interval after each block; the table below has "+
			"the numbers.")
}
