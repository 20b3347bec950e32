package chart

import (
	"fmt"
	"html/template"
	"math"
)

// Span is a line of a chart on a logarithmic scale: values of one thing, joined.
type Span struct {
	Name, Label string
	Values      []float64 // the smallest first, each with the shape of its number; above 0
	Tips        []string
}

// Spans draws spans below each other.
func Spans(rows []Span, axes Axes, label string) template.HTML {
	const bar, axis = 22, 42
	d := Drawing{}
	tops := make([]float64, len(rows))
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, r := range rows {
		tops[i] = d.Height + headHeight(r.Name, r.Label)
		d.Height = tops[i] + bar
		for _, v := range r.Values {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	room := math.Pow(max(hi/lo, 1.5), 0.08)
	x := Scale{Lo: lo / room, Hi: hi * room, From: 2, To: 98, Log: true}
	for _, t := range logTicks(x.Lo, x.Hi, 5) {
		d.Line("grid", x.At(t), 2, x.At(t), d.Height+2, "")
		d.Text("axis", x.At(t), d.Height+18, axes.Number(t))
	}
	for i, r := range rows {
		y := tops[i] + 9
		d.Line("raw", x.At(r.Values[0]), y, x.At(r.Values[len(r.Values)-1]), y, "")
		for k, v := range r.Values {
			d.tag("use", fmt.Sprintf("l%d dot", k), r.Tips[k], fmt.Sprintf(`href="#mk%d" x="%s" y="%s"`, k, portion(x.At(v)), px(y)))
		}
		d.head(tops[i]-4, r.Name, r.Label)
	}
	d.title("end", d.Height+34, axes.Over+", log scale", "")
	d.Height += axis
	return d.HTML(label)
}
