package report

import (
	"fmt"
	"html/template"
)

// estimated is one line of a dot plot: a layout, or a family of operations.
type estimated struct {
	Name, Class, Label, Tip string
	x, lo, hi, raw          float64 // effects; NaN: none
}

// dotplot draws a line for each of rows: an interval, its estimate, and where it
// differs the plain one. Names and numbers stand above the bars, so that it is
// as good on a phone.
func dotplot(rows []estimated, e effects, label string) template.HTML {
	const bar, axis = 22, 26
	d := drawing{}
	tops := make([]float64, len(rows))
	for i, r := range rows {
		tops[i] = d.height + headHeight(r.Name, r.Label)
		d.height = tops[i] + bar
	}
	x := e.scale(2, 98)
	ticks := e.ticks(x, 5)
	d.ground(e, x, ticks, 2, d.height+2)
	for i, r := range rows {
		d.estimate(r, e, x, tops[i]+9)
		d.head(tops[i]-4, r.Name, r.Label)
	}
	for _, t := range ticks {
		d.text("axis", x.at(t), d.height+18, e.label(t))
	}
	d.height += axis
	return d.html(label)
}

func (d *drawing) estimate(r estimated, e effects, x scale, y float64) {
	if known(r.lo) && known(r.hi) {
		d.line("interval c-"+r.Class, x.at(e.of(r.lo)), y, x.at(e.of(r.hi)), y, r.Tip)
	}
	if known(r.raw) {
		d.line("raw", x.at(e.of(r.raw)), y-7, x.at(e.of(r.raw)), y+7, "")
	}
	if known(r.x) {
		d.circle("estimate c-"+r.Class, x.at(e.of(r.x)), y, 5, r.Tip)
	}
}

// estimateOf is a layout's line; ok is false where nothing is known of it. What is
// not resolvable has no place on the scale: it says so in words.
func estimateOf(r row, name string) (m estimated, ok bool) {
	if !r.Judged || !known(r.Estimate.Effect) {
		return estimated{}, false
	}
	e := r.Estimate
	m = estimated{
		Name: name, Class: r.MarkClass(), Label: joined(" · ", difference(e.Effect), r.MarkText(), r.DroppedText()),
		x: e.Effect, lo: e.Lo, hi: e.Hi, raw: e.RawEffect,
	}
	m.Tip = joined(": ", name, joined(", ", r.DifferenceText(), r.MarkText()))
	switch {
	case r.Baseline:
		m.Label = joined(" · ", "baseline", notBaseline(r.MarkText()))
		m.lo, m.hi, m.raw = nan, nan, nan
	case unresolvable(e.Lo, e.Hi):
		m.Label = "not resolvable"
		m.x, m.lo, m.hi, m.raw = nan, nan, nan, nan
	}
	return m, true
}

func notBaseline(mark string) string {
	if mark == "baseline" {
		return ""
	}
	return mark
}

// Estimates is the dot plot of the layouts; empty where nothing differs from the
// baseline by what has a place on a scale.
func (v view) Estimates() template.HTML {
	e := newEffects(v.factors(), v.Judgement.Result.Config.Margin)
	var rows []estimated
	drawn := false
	for _, r := range v.Rows {
		if m, ok := estimateOf(r, r.Name); ok {
			drawn = drawn || known(m.x) && !r.Baseline
			rows = append(rows, m)
			e.include(m.x, m.lo, m.hi, m.raw)
		}
	}
	if !drawn {
		return ""
	}
	return dotplot(rows, e, fmt.Sprintf("Differences of the layouts to %s with their %s intervals; the table below has the numbers.", v.Plan.Baseline, v.Confidence()))
}
