package chart

import "html/template"

// Estimate is one line of a dot plot: a layout, or a family of operations.
type Estimate struct {
	Name, Class, Label, Tip string
	X, Lo, Hi, Raw          float64 // effects; NaN: none
}

// Dots draws a line for each of rows: an interval, its estimate, and where it
// differs the plain one. Names and numbers stand above the bars, so that it is
// as good on a phone.
func Dots(rows []Estimate, e Effects, label string) template.HTML {
	const bar, axis = 22, 42
	d := Drawing{}
	tops := make([]float64, len(rows))
	for i, r := range rows {
		tops[i] = d.Height + headHeight(r.Name, r.Label)
		d.Height = tops[i] + bar
	}
	x := e.scale(2, 98)
	ticks := e.ticks(x, 5)
	d.ground(e, x, ticks, 2, d.Height+2)
	for i, r := range rows {
		d.estimate(r, e, x, tops[i]+9)
		d.head(tops[i]-4, r.Name, r.Label)
	}
	for _, t := range ticks {
		d.Text("axis", x.At(t), d.Height+18, e.label(t))
	}
	d.titleOf(e, "end", d.Height+34)
	d.Height += axis
	return d.HTML(label)
}

func (d *Drawing) estimate(r Estimate, e Effects, x Scale, y float64) {
	if known(r.Lo) && known(r.Hi) {
		d.Line("interval "+r.Class, x.At(e.of(r.Lo)), y, x.At(e.of(r.Hi)), y, r.Tip)
	}
	if known(r.Raw) {
		d.Line("raw", x.At(e.of(r.Raw)), y-7, x.At(e.of(r.Raw)), y+7, "")
	}
	if known(r.X) {
		d.Circle("estimate "+r.Class, x.At(e.of(r.X)), y, 5, r.Tip)
	}
}
