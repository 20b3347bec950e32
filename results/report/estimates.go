package report

import (
	"cmp"
	"fmt"
	"slices"

	"filewise/internal/say"
	"filewise/lab/workload"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// estimateOf returns a layout's line in a dot plot. ok is false if nothing is known of the layout. An effect that is
// not resolvable has no position on the scale, and is described in words.
func estimateOf(r row, name string) (m chart.Estimate, ok bool) {
	if !r.Judged || !say.Known(r.Estimate.Effect) {
		return chart.Estimate{}, false
	}
	e := r.Estimate
	m = chart.Estimate{
		Name: name, Class: "c-" + r.markClass(), Label: say.Joined(" · ", say.Difference(e.Effect), r.markText(), r.droppedText()),
		X: e.Effect, Lo: e.Lo, Hi: e.Hi, Raw: e.RawEffect,
	}
	m.Tip = say.Joined(": ", name, say.Joined(", ", r.differenceText(), r.markText()))
	switch {
	case r.Baseline:
		m.Label = say.Joined(" · ", "baseline", notBaseline(r.markText()))
		m.Lo, m.Hi, m.Raw = nan, nan, nan
	case say.Unresolvable(e.Lo, e.Hi):
		m.Label = "not resolvable"
		m.X, m.Lo, m.Hi, m.Raw = nan, nan, nan, nan
	}
	return m, true
}

func notBaseline(mark string) string {
	if mark == "baseline" {
		return ""
	}
	return mark
}

// estimatesFigure returns the dot plot of the layouts. It is empty if no difference from the baseline has a position on
// the scale.
func (v view) estimatesFigure() document.Figure {
	e := v.effects(v.factors())
	var rows []chart.Estimate
	drawn := false
	for _, r := range v.Rows {
		if m, ok := estimateOf(r, r.Name); ok {
			drawn = drawn || say.Known(m.X) && !r.Baseline
			rows = append(rows, m)
			e.Include(m.X, m.Lo, m.Hi, m.Raw)
		}
	}
	if !drawn {
		return document.Figure{}
	}
	label := fmt.Sprintf("Differences of the layouts to %s with their %s intervals; the table below has the numbers.", v.Plan.Baseline,
		v.confidence())
	caption := fmt.Sprintf("Throughput of the typical trial against %s. Bars are %s intervals, simultaneous over all layouts and "+
		"interim analyses; "+
		"the dot is the robust estimate, the small upright line the difference of the geometric means. "+
		"In the shaded band, within ±%s, differences do not matter.", v.Plan.Baseline, v.confidence(), v.margin())
	drawing := document.Drawing{Name: "Difference from " + v.Plan.Baseline, SVG: chart.Dots(rows, e, label)}
	return document.Figure{ID: "chart-estimates", Caption: caption, Drawings: []document.Drawing{drawing}}
}

// effects returns the scale of differences from the baseline.
func (v view) effects(factor bool) chart.Effects {
	what := "throughput"
	if v.Timed() { // for large operations, too, more is faster
		what = "time"
	}
	return chart.NewEffects(factor, v.of.Result.Config.Margin, what+" against "+v.Plan.Baseline)
}

// pointsOf returns an operation's layouts as points over their number of files. Layouts that are not resolvable are left
// out.
func (v view) pointsOf() []chart.Point {
	var out []chart.Point
	for _, r := range v.Rows {
		m, ok := estimateOf(r, say.Joined(", ", v.Name, r.Name))
		if r.Baseline && r.Judged {
			m.X, ok = 0, true
		}
		if ok && say.Known(m.X) {
			out = append(out, chart.Point{N: v.Scenario.NumberOf(r.Layout), X: m.X, Lo: m.Lo, Hi: m.Hi, Class: m.Class, Tip: m.Tip})
		}
	}
	slices.SortFunc(out, func(a, b chart.Point) int { return cmp.Compare(a.N, b.N) })
	return out
}

// curveHeight is the height of a curve over the number of files.
const curveHeight = 202

// curveFigure returns the curve of a run with one operation and at least three numbers of files. Otherwise it is empty.
func (v view) curveFigure() document.Figure {
	points := v.pointsOf()
	if !v.numbered() || len(points) < 3 {
		return document.Figure{}
	}
	e := v.effects(v.factors())
	for _, p := range points {
		e.Include(p.X, p.Lo, p.Hi)
	}
	what := over(v.Scenario)
	label := "Throughput against " + v.Plan.Baseline + " over the number of " + what + ", with intervals; the table below has the numbers."
	return document.Figure{
		ID: "chart-curve", Caption: "Throughput against the baseline over the number of " + what + ".",
		Drawings: []document.Drawing{{SVG: chart.Curve(points, e, curveHeight, true, "number of "+what, label)}},
	}
}

// over returns the name of the number that a scenario varies.
func over(sc workload.Scenario) string {
	switch {
	case sc.Jobs:
		return "jobs"
	case sc.Stripes:
		return "backup files"
	case sc.Temp:
		return "temporary files"
	}
	return "files"
}

// numbered reports whether each layout has a number of separate files, as the scenario counts them.
func (v view) numbered() bool {
	seen := map[int]bool{}
	for _, l := range v.Plan.Layouts {
		n := v.Scenario.NumberOf(l)
		if n < 1 || seen[n] || l.Discard {
			return false
		}
		seen[n] = true
	}
	return len(seen) > 1
}
