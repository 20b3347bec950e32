package report

import (
	"fmt"
	"math"
	"slices"

	"filewise/workload"
)

// familyCharts are the differences of all families: a dot for each family, layout
// by layout, or curves over the number of files.
type familyCharts struct {
	Curve   bool         `json:"curve"` // over the number of files, family by family
	Over    string       `json:"over"`  // of what: "backup files"
	Order   []string     `json:"order"` // of the families
	Layouts []string     `json:"layouts"`
	Factor  bool         `json:"factor"`
	Margin  [2]float64   `json:"margin"`
	Domain  [2]float64   `json:"domain"`
	Ticks   []float64    `json:"ticks,omitempty"`
	Marks   []familyMark `json:"marks"`
}

type familyMark struct {
	Family string   `json:"family"`
	Layout string   `json:"layout"`
	Files  int      `json:"files"`
	Class  string   `json:"class"`
	X      float64  `json:"x"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	Label  string   `json:"label"`
	Tip    string   `json:"tip"`
}

// over names what a scenario varies the number of.
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

// familyCharts of the run; nil where it has one family, or no verdict yet.
func (v view) familyCharts() *familyCharts {
	families := v.Families()
	if len(families) == 0 {
		return nil
	}
	c := charts{Factor: slices.ContainsFunc(families, func(f view) bool { return f.factors() || f.wide() })}
	out := &familyCharts{Curve: (v.Scenario.Stripes || v.Scenario.Temp) && v.numbered(), Over: over(v.Scenario), Factor: c.Factor}
	margin := v.Judgement.Result.Config.Margin
	c.Margin = [2]float64{c.scale(-margin), c.scale(margin)}
	out.Margin = c.Margin
	for _, f := range families {
		out.Order = append(out.Order, f.Name)
		for _, r := range f.Rows {
			if m, ok := c.familyMark(f, r, out.Curve); ok {
				out.Marks = append(out.Marks, m)
				c.Estimates = append(c.Estimates, mark{X: m.X, Lo: m.Lo, Hi: m.Hi})
			}
		}
	}
	for _, r := range others(families[0]) {
		out.Layouts = append(out.Layouts, r.Name)
	}
	if len(out.Marks) == 0 {
		return nil
	}
	if out.Domain = c.domain(); c.Factor {
		out.Ticks = factorTicks(out.Domain)
	}
	return out
}

// wide tells whether an interval that is drawn goes beyond three times: on a scale
// of percentages its lower half would be a dot.
func (v view) wide() bool {
	return slices.ContainsFunc(v.Rows, func(r row) bool {
		e := r.Estimate
		return r.Judged && !r.Baseline && known(e.Lo) && known(e.Hi) && !unresolvable(e.Lo, e.Hi) && max(-e.Lo, e.Hi) > math.Log(3)
	})
}

// familyMark is one layout in one family. The baseline is a point of curves only.
// What is not resolvable has no place on the scale: its mark stands at no
// difference, without an interval, and says so.
func (c *charts) familyMark(f view, r row, curve bool) (familyMark, bool) {
	e := r.Estimate
	if !r.Judged || r.Baseline && !curve || !r.Baseline && !known(e.Effect) {
		return familyMark{}, false
	}
	m := familyMark{
		Family: f.Name, Layout: r.Name, Files: f.Scenario.NumberOf(r.Layout), Class: r.MarkClass(), X: c.scale(0),
		Label: "baseline", Tip: f.Name + ", " + r.Name + ": " + r.DifferenceText() + ", " + r.MarkText(),
	}
	switch {
	case r.Baseline:
	case unresolvable(e.Lo, e.Hi):
		m.Label = notResolvable
	default:
		m.X, m.Lo, m.Hi = c.scale(e.Effect), c.scaled(e.Lo), c.scaled(e.Hi)
		m.Label = difference(e.Effect) + " · " + r.MarkText()
	}
	return m, true
}

// numbered tells whether the layouts differ in their number of files alone, as far
// as the scenario counts them.
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

// FamilyFigure says what the chart of all families shows; empty: there is none.
func (v view) FamilyFigure() string {
	c := v.familyCharts()
	switch {
	case c == nil:
		return ""
	case c.Curve:
		return fmt.Sprintf("Throughput against %s over the number of %s, for each family.", v.Plan.Baseline, c.Over)
	}
	return fmt.Sprintf("Throughput against %s in each family, layout by layout.", v.Plan.Baseline)
}
