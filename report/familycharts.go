package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
)

// cell is one of several small drawings.
type cell struct {
	Name    string
	Drawing template.HTML
}

// figure is drawings with what they show.
type figure struct {
	Caption string
	Cells   []cell
}

// FamilyFigure are the differences of all families: curves over the number of
// files, family by family, or a dot for each family, layout by layout. Nil where
// the run has one family, or no verdict yet.
func (v view) FamilyFigure() *figure {
	families := v.Families()
	if len(families) == 0 {
		return nil
	}
	e := newEffects(slices.ContainsFunc(families, func(f view) bool { return f.factors() || f.wide() }), v.Judgement.Result.Config.Margin)
	drawn := false
	for _, f := range families {
		for _, r := range f.Rows {
			if m, ok := estimateOf(r, ""); ok && !r.Baseline {
				drawn = drawn || known(m.x)
				e.include(m.x, m.lo, m.hi)
			}
		}
	}
	switch {
	case !drawn:
		return nil
	case (v.Scenario.Stripes || v.Scenario.Temp) && v.numbered():
		return v.familyCurves(families, e)
	}
	return v.familyDots(families, e)
}

func (v view) familyCurves(families []view, e effects) *figure {
	f := &figure{Caption: fmt.Sprintf("Throughput against %s over the number of %s, for each family.", v.Plan.Baseline, over(v.Scenario))}
	for _, of := range families {
		if points := of.pointsOf(); len(points) > 1 {
			f.Cells = append(f.Cells, cell{of.Name, fileCurve(points, e, of.Name+": throughput against "+v.Plan.Baseline+" over the number of "+over(v.Scenario)+"; the table below has the numbers.")})
		}
	}
	return f
}

func (v view) familyDots(families []view, e effects) *figure {
	f := &figure{Caption: fmt.Sprintf("Throughput against %s in each family, layout by layout.", v.Plan.Baseline)}
	for i, l := range v.Rows {
		if l.Baseline {
			continue
		}
		var rows []estimated
		for _, of := range families {
			if m, ok := estimateOf(of.Rows[i], of.Name); ok {
				m.raw = nan
				rows = append(rows, m)
			}
		}
		if len(rows) > 0 {
			f.Cells = append(f.Cells, cell{l.Name, dotplot(rows, e, l.Name+" against "+v.Plan.Baseline+" in each family, with intervals; the table below has the numbers.")})
		}
	}
	return f
}

// factors tells whether some effect is too large for percentages.
func (v view) factors() bool {
	return slices.ContainsFunc(v.Rows, func(r row) bool {
		return r.Judged && known(r.Estimate.Effect) && math.Abs(r.Estimate.Effect) >= factorFrom
	})
}

// wide tells whether an interval that is drawn goes beyond three times: on a scale
// of percentages its lower half would be a dot.
func (v view) wide() bool {
	return slices.ContainsFunc(v.Rows, func(r row) bool {
		e := r.Estimate
		return r.Judged && !r.Baseline && known(e.Lo) && known(e.Hi) && !unresolvable(e.Lo, e.Hi) && max(-e.Lo, e.Hi) > math.Log(3)
	})
}
