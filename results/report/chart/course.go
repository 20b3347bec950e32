package chart

import (
	"fmt"
	"html/template"
	"math"
	"slices"
)

// Course holds values over time: single lines or bands, and their median.
type Course struct {
	Unit   string     // of the values
	Step   float64    // seconds between points
	Window [2]float64 // in seconds; the time outside is shaded
	Lines  [][]float64
	Bands  [][4]float64 // used instead of lines: the quantiles 10, 25, 75 and 90 % at each point in time
	Median []float64
}

// SVG draws the course, up to the end of the median.
func (c Course) SVG(label string) template.HTML {
	const top, bottom = 34, 134
	d := Drawing{Height: bottom + 40}
	end, most := max(c.Window[1], float64(len(c.Median))*c.Step), 1e-9
	for _, xs := range append(slices.Clone(c.Lines), c.Median) {
		for _, x := range xs[:min(len(xs), len(c.Median))] {
			most = max(most, x)
		}
	}
	for _, b := range c.Bands {
		most = max(most, b[3])
	}
	x, y := Scale{Lo: 0, Hi: end, From: 13, To: 99}, Scale{Lo: 0, Hi: 1.04 * most, From: bottom, To: top}
	d.Rect("band", x.At(0), top, x.At(c.Window[0])-x.At(0), bottom-top, "")
	if end > c.Window[1] {
		d.Rect("band", x.At(c.Window[1]), top, 99-x.At(c.Window[1]), bottom-top, "")
	}
	d.course(c, x, y)
	d.Levels(y, RoundTicks(0, y.Hi, 3), Brief)
	for _, t := range RoundTicks(0, end, 4) {
		d.Text("axis", x.At(t), bottom+16, sig(t)+" s")
	}
	d.title("start", 11, c.Unit, "")
	d.title("end", bottom+32, "since the warm-up began", "")
	return d.HTML(label)
}

func (d *Drawing) course(c Course, x, y Scale) {
	place := func(i int, v float64) [2]float64 { return [2]float64{x.At((float64(i) + 0.5) * c.Step), y.At(v)} }
	along := func(xs []float64) (out [][2]float64) {
		for i, v := range xs[:min(len(xs), len(c.Median))] {
			out = append(out, place(i, v))
		}
		return out
	}
	for _, l := range c.Lines {
		d.Path("thin", along(l), false)
	}
	for k, class := range []string{"outer", "inner"} {
		var edge, back [][2]float64
		for i, b := range c.Bands {
			edge, back = append(edge, place(i, b[k])), append(back, place(i, b[3-k]))
		}
		slices.Reverse(back)
		d.Path(class, append(edge, back...), true)
	}
	d.Path("strong", along(c.Median), false)
}

// Span holds the values of one thing, which a line joins on a logarithmic scale.
type Span struct {
	Name, Label string
	Values      []float64 // ascending and above 0; each has the shape of its index
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
	padding := math.Pow(max(hi/lo, 1.5), 0.08)
	x := Scale{Lo: lo / padding, Hi: hi * padding, From: 2, To: 98, Log: true}
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
