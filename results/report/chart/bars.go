package chart

import (
	"html/template"
	"math"
)

// Segment is a part of a bar. Its classes are drawn over each other: first a colour, then a hatching.
type Segment struct {
	Length  float64
	Classes []string
	Tip     string
}

// Bar holds parts that are drawn side by side, over the whole that they could reach.
type Bar struct {
	Name, Label string
	Whole       Segment // none if it has no class
	Parts       []Segment
	Lo, Hi      float64 // interval of the bar's end; none if NaN or both 0
	Limit       float64 // vertical line; none if 0
	LimitTip    string
}

// Bars draws bars of one height below each other. Names and labels are above the bars; the scale, named axes.Over, is
// below.
func Bars(bars []Bar, tall float64, axes Axes, label string) template.HTML {
	most := 0.0
	for _, b := range bars {
		sum := 0.0
		for _, p := range b.Parts {
			sum += p.Length
		}
		most = max(most, b.Whole.Length, sum)
		if known(b.Hi) { // few trials can make an interval huge
			most = max(most, min(b.Hi, 1.6*sum))
		}
	}
	pitch := tall + 28
	d := Drawing{Height: pitch*float64(len(bars)) + 40}
	across := Scale{Lo: 0, Hi: most, From: 0, To: 100}
	for _, t := range RoundTicks(0, most, 4) {
		d.Line("grid", across.At(t), 18, across.At(t), d.Height-44, "")
		d.Text("axis", across.At(t), d.Height-28, axes.Number(t))
	}
	d.title("end", d.Height-12, axes.Over, "")
	for i, b := range bars {
		x, y := 0.0, float64(i)*pitch+18
		d.TextAt("name", "start", 0, y-5, b.Name)
		d.TextAt("axis", "end", 100, y-5, b.Label)
		d.segment(b.Whole, 0, y, 100/most, tall)
		for _, p := range b.Parts {
			d.segment(p, x, y, 100/most, tall)
			x += 100 * p.Length / most
		}
		if known(b.Lo) && known(b.Hi) && b.Hi > 0 {
			d.Line("raw", across.clamped(b.Lo), y+tall/2, across.clamped(b.Hi), y+tall/2, "")
			for _, end := range []float64{b.Lo, b.Hi} {
				if end <= most {
					d.Line("raw", across.At(end), y+2, across.At(end), y+tall-2, "")
				}
			}
		}
		if b.Limit > 0 {
			d.Line("limit", 100*b.Limit/most, y-2, 100*b.Limit/most, y+tall+2, b.LimitTip)
		}
	}
	return d.HTML(label)
}

func (d *Drawing) segment(s Segment, x, y, unit, tall float64) {
	if s.Length <= 0 {
		return
	}
	for _, class := range s.Classes {
		d.Rect(class, x, y, unit*s.Length, tall, s.Tip)
	}
}

// Icon returns a segment as a small picture next to its name.
func Icon(s Segment) template.HTML {
	d := Drawing{Height: 12}
	s.Length = 100
	d.segment(s, 0, 0, 1, 12)
	return template.HTML(`<svg width="18" height="12" aria-hidden="true">` + d.body.String() + "</svg>")
}

// Column is a small vertical bar.
type Column struct {
	Length float64
	Pale   bool // not part of the mean
	Tip    string
}

// Columns holds columns that are drawn side by side, with a line at their mean.
type Columns struct {
	Name, Label, MeanTip string
	All                  []Column
}

// Rows draws rows of columns below each other.
func Rows(rows []Columns, label string) template.HTML {
	const pitch, tall = 66, 40
	d := Drawing{Height: float64(pitch * len(rows))}
	for i, r := range rows {
		y := float64(i*pitch) + 18
		d.TextAt("axis", "start", 0, y-6, r.Name)
		d.TextAt("axis", "end", 100, y-6, r.Label)
		d.columns(r, y, tall)
	}
	return d.HTML(label)
}

func (d *Drawing) columns(r Columns, y, tall float64) {
	d.Line("base", 0, y+tall, 100, y+tall, "")
	most, sum, n := 0.0, 0.0, 0.0
	for _, c := range r.All {
		most = max(most, c.Length)
		if !c.Pale {
			sum, n = sum+c.Length, n+1
		}
	}
	if most == 0 {
		return
	}
	pitch := math.Min(100/float64(len(r.All)), 25)
	for i, c := range r.All {
		class, high := "column", tall*c.Length/most
		if c.Pale {
			class = "column other"
		}
		d.Rect(class, float64(i)*pitch+pitch*0.08, y+tall-high, pitch*0.84, high, c.Tip)
	}
	if n > 1 {
		at := y + tall*(1-sum/n/most)
		d.Line("mean", 0, at, pitch*float64(len(r.All)), at, r.MeanTip)
	}
}
