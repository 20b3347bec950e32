package chart

import (
	"fmt"
	"html/template"
	"math"
	"slices"
)

// Point is a dot at a number on the horizontal scale, with its interval.
type Point struct {
	N         int     // number of files, users or blocks
	X, Lo, Hi float64 // Lo and Hi are NaN if there is no interval
	Class     string  // of the dot and its interval
	Tip       string
}

// Curve draws effects over a number. If joined is set, lines join the points and the number doubles in equal steps;
// otherwise it grows by one. over names the number.
func Curve(points []Point, e Effects, height float64, joined bool, over, label string) template.HTML {
	d := Drawing{Height: height + 32}
	bottom := height - 10
	y := e.scale(bottom, 36)
	x := Scale{Lo: float64(points[0].N), Hi: float64(points[len(points)-1].N), From: 18, To: 95, Log: joined}
	d.upright(e, y, 5)
	var counts []int
	for i, p := range points {
		at := x.At(float64(p.N))
		if i > 0 && joined {
			q := points[i-1]
			d.Line("curve l0", x.At(float64(q.N)), y.At(e.of(q.X)), at, y.At(e.of(p.X)), "")
		}
		counts = append(counts, p.N)
	}
	for _, p := range points {
		at := x.At(float64(p.N))
		if known(p.X) && known(p.Lo) && known(p.Hi) {
			d.Line("interval "+p.Class, at, y.At(e.of(p.Lo)), at, y.At(e.of(p.Hi)), p.Tip)
		}
		if known(p.X) {
			d.Circle("estimate "+p.Class, at, y.At(e.of(p.X)), 4.5, p.Tip)
		}
	}
	d.counts(counts, x, bottom+18)
	d.titleOf(e, "start", 11)
	if joined {
		over += ", log scale"
	}
	d.title("end", bottom+34, over, "")
	return d.HTML(label)
}

// Series holds points that a line joins, drawn with a layout's shape and colour.
type Series struct {
	Look   int
	Class  string                  // in addition to the colour's class
	Points []Point                 // in ascending order of their numbers
	Fit    func(n float64) float64 // drawn as a dashed line. Nil means none
}

// Axes holds the names of a chart's scales, with units, and the format of the vertical scale's values.
type Axes struct {
	Up, Over string
	Number   func(float64) string
}

// Lines draws series over a number that doubles in equal steps. The vertical scale begins at zero.
func Lines(all []Series, height float64, axes Axes, label string) template.HTML {
	var counts []int
	most := 0.0
	for _, s := range all {
		for _, p := range s.Points {
			counts = append(counts, p.N)
			most = max(most, p.X)
			if known(p.Hi) { // two trials can make an interval huge
				most = max(most, min(p.Hi, 1.6*p.X))
			}
		}
	}
	slices.Sort(counts)
	counts = slices.Compact(counts)
	d := Drawing{Height: height + 16}
	x := Scale{Lo: float64(counts[0]), Hi: float64(counts[len(counts)-1]), From: 16, To: 92, Log: true}
	y := Scale{Lo: 0, Hi: 1.06 * most, From: height - 34, To: 36}
	d.Levels(y, RoundTicks(0, y.Hi, 5), axes.Number)
	d.counts(counts, x, height-14)
	d.title("start", 11, axes.Up, "")
	d.title("end", height+2, axes.Over+", log scale", "")
	for i, s := range all {
		d.series(s, x, y, 1.2*(float64(i)-float64(len(all)-1)/2))
	}
	return d.HTML(label)
}

// series draws one series. side shifts the points, so that intervals at one number are next to each other. If several
// points have the same number, the line continues from the first.
func (d *Drawing) series(s Series, x, y Scale, side float64) {
	colour, _ := Look(s.Look)
	class, dashed := fmt.Sprintf("l%d", colour), ""
	if s.Class != "" {
		dashed = " " + s.Class
	}
	at := func(p Point) float64 { return x.At(float64(p.N)) + side }
	last := s.Points[0]
	for _, p := range s.Points {
		if p.N > last.N {
			d.Line(class+dashed+" curve", at(last), y.At(last.X), at(p), y.At(p.X), "")
			last = p
		}
		if known(p.Lo) && known(p.Hi) {
			d.Line(class+" whisker", at(p), y.At(max(p.Lo, y.Lo)), at(p), y.At(min(p.Hi, y.Hi)), "")
		}
	}
	if s.Fit != nil {
		d.fit(class+" fit", s.Fit, float64(s.Points[0].N), float64(last.N), x, y)
	}
	for _, p := range s.Points {
		d.Marker(s.Look, "dot", at(p), y.At(p.X), p.Tip)
	}
}

// fit draws the part of a function that lies within the drawing, as a dashed line.
func (d *Drawing) fit(class string, of func(float64) float64, from, to float64, x, y Scale) {
	const steps = 32
	place := func(i int) float64 { return from * math.Pow(to/from, float64(i)/steps) }
	for i := 0; i < steps; i += 2 {
		a, b := place(i), place(i+1)
		if min(of(a), of(b)) >= y.Lo && max(of(a), of(b)) <= y.Hi {
			d.Line(class, x.At(a), y.At(of(a)), x.At(b), y.At(of(b)), "")
		}
	}
}

// Estimate is one line of a dot plot, for a layout or a operation.
type Estimate struct {
	Name, Class, Label, Tip string
	X, Lo, Hi, Raw          float64 // effects. NaN means none
}

// Dots draws a line for each row: the interval, the estimate, and the plain estimate if it differs. Names and numbers
// are above the bars, so that the plot also fits a phone.
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
