package report

import (
	"fmt"
	"math"
	"slices"

	"filewise/internal/say"
	"filewise/report/chart"
	"filewise/report/document"
)

// familyFigure are the differences of all families: curves over the number of
// files, family by family, or a dot for each family, layout by layout. It is empty
// where there is no verdict yet.
func (v view) familyFigure() document.Figure {
	large := slices.ContainsFunc(v.parts, func(f view) bool { return f.factors() || f.wide() })
	e := v.effects(large)
	drawn := false
	for _, f := range v.parts {
		for _, r := range f.Rows {
			if m, ok := estimateOf(r, ""); ok && !r.Baseline {
				drawn = drawn || say.Known(m.X)
				e.Include(m.X, m.Lo, m.Hi)
			}
		}
	}
	f := document.Figure{ID: "chart-families", Grid: true}
	note := fmt.Sprintf(" Bars are intervals that hold together over all families, layouts and interim "+
		"analyses; in the shaded band, within ±%s, "+
		"differences do not matter.",
		v.margin())
	switch {
	case !drawn:
	case (v.Scenario.Stripes || v.Scenario.Temp) && v.numbered():
		f.Drawings = v.familyCurves(e)
		f.Caption = fmt.Sprintf("Throughput against %s over the number of %s, for each family.", v.Plan.Baseline, over(v.Scenario)) + note
	default:
		f.Drawings = v.familyDots(e)
		f.Caption = fmt.Sprintf("Throughput against %s in each family, layout by layout.", v.Plan.Baseline) + note
	}
	return f
}

func (v view) familyCurves(e chart.Effects) (out []document.Drawing) {
	for _, f := range v.parts {
		if points := f.pointsOf(); len(points) > 1 {
			label := f.Name + ": throughput against " + v.Plan.Baseline + " over the number of " + over(v.Scenario) +
				"; the table below has the numbers."
			out = append(out, document.Drawing{Name: f.Name, SVG: chart.Curve(points, e, curveHeight, true, "number of "+over(v.Scenario), label)})
		}
	}
	return out
}

func (v view) familyDots(e chart.Effects) (out []document.Drawing) {
	for i, l := range v.Rows {
		if l.Baseline {
			continue
		}
		var rows []chart.Estimate
		for _, f := range v.parts {
			if m, ok := estimateOf(f.Rows[i], f.Name); ok {
				m.Raw = nan
				rows = append(rows, m)
			}
		}
		if len(rows) > 0 {
			label := l.Name + " against " + v.Plan.Baseline + " in each family, with intervals; the table below has the numbers."
			out = append(out, document.Drawing{Name: l.Name, SVG: chart.Dots(rows, e, label)})
		}
	}
	return out
}

// factors tells whether some effect is too large for percentages.
func (v view) factors() bool {
	return slices.ContainsFunc(v.Rows, func(r row) bool {
		return r.Judged && say.Known(r.Estimate.Effect) && math.Abs(r.Estimate.Effect) >= say.FactorFrom
	})
}

// wide tells whether an interval that is drawn goes beyond three times: on a scale
// of percentages its lower half would be a dot.
func (v view) wide() bool {
	return slices.ContainsFunc(v.Rows, func(r row) bool {
		e := r.Estimate
		return r.Judged && !r.Baseline && say.Known(e.Lo) && say.Known(e.Hi) && !say.Unresolvable(e.Lo, e.Hi) && max(-e.Lo, e.Hi) > math.Log(3)
	})
}
