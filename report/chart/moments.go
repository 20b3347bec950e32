package chart

import (
	_ "embed" // of shapes
	"fmt"
	"html/template"
)

// Moment is a value at a time, of one of several things by its look.
type Moment struct {
	Look  int
	At, Y float64
	Tip   string
}

// Moments draws values over time, from nothing upwards; those of one look are joined.
func Moments(all []Moment, axes Axes, label string) template.HTML {
	const top, bottom = 34, 174
	d := Drawing{Height: bottom + 40}
	end, most := 0.0, 0.0
	for _, m := range all {
		end, most = max(end, m.At), max(most, m.Y)
	}
	x, y := Scale{Lo: 0, Hi: end, From: 10, To: 98}, Scale{Lo: 0, Hi: 1.04 * most, From: bottom, To: top}
	d.Levels(y, RoundTicks(0, y.Hi, 4), axes.Number)
	for _, t := range RoundTicks(0, end, 5) {
		d.Text("axis", x.At(t), bottom+16, sig(t))
	}
	before := map[int]Moment{}
	for _, m := range all {
		if b, ok := before[m.Look]; ok {
			colour, _ := Look(m.Look)
			d.Line(fmt.Sprintf("l%d fit", colour), x.At(b.At), y.At(b.Y), x.At(m.At), y.At(m.Y), "")
		}
		before[m.Look] = m
	}
	for _, m := range all {
		d.Marker(m.Look, "dot", x.At(m.At), y.At(m.Y), m.Tip)
	}
	d.title("start", 11, axes.Up, "")
	d.title("end", bottom+32, axes.Over, "")
	return d.HTML(label)
}

// Shapes are the definitions of marks and hatchings that drawings refer to: a page has them
// once.
//
//go:embed shapes.svg
var Shapes string
