package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// drawing is a static chart whose horizontal places are percentages of its width
// and whose vertical ones are pixels: one drawing fits a screen, a phone and
// paper, with letters of one size, and needs no script. Colours are classes of
// the style sheet.
type drawing struct {
	body   strings.Builder
	height float64
}

// markers is how many shapes and colours there are: marker mkN and class lN.
const markers = 8

// look is how a layout is drawn: by colour and by shape, so that either does.
// Those beyond the eighth pair them differently.
func look(i int) (colour, shape int) { return i % markers, (i + i/markers) % markers }

func px(x float64) string      { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
func portion(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) + "%" }

// tag writes an element, with a text that shows where a pointer rests on it.
func (d *drawing) tag(name, class, tip, attributes string) {
	fmt.Fprintf(&d.body, `<%s class="%s" %s`, name, class, attributes)
	if tip == "" {
		d.body.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&d.body, "><title>%s</title></%s>\n", template.HTMLEscapeString(tip), name)
}

// rect is a bar. One too narrow to be seen is a hair line.
func (d *drawing) rect(class string, x, y, w, h float64, tip string) {
	d.tag("rect", class, tip, fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s"`, portion(x), px(y), portion(max(w, 0.15)), px(h)))
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64, tip string) {
	d.tag("line", class, tip, fmt.Sprintf(`x1="%s" y1="%s" x2="%s" y2="%s"`, portion(x1), px(y1), portion(x2), px(y2)))
}

// marker is the dot of the i-th layout.
func (d *drawing) marker(i int, class string, x, y float64, tip string) {
	colour, shape := look(i)
	d.tag("use", fmt.Sprintf("l%d %s", colour, class), tip, fmt.Sprintf(`href="#mk%d" x="%s" y="%s"`, shape, portion(x), px(y)))
}

// symbol is one of the shapes that tell kinds of trials and events.
func (d *drawing) symbol(id string, x, y float64, tip string) {
	d.tag("use", id, tip, fmt.Sprintf(`href="#%s" x="%s" y="%s"`, id, portion(x), px(y)))
}

// text grows away from the edge that it is near.
func (d *drawing) text(class string, x, y float64, s string) {
	anchor := "middle"
	switch {
	case x < 15:
		anchor = "start"
	case x > 85:
		anchor = "end"
	}
	d.textAt(class, anchor, x, y, s)
}

func (d *drawing) textAt(class, anchor string, x, y float64, s string) {
	fmt.Fprintf(&d.body, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`+"\n", class, portion(x), px(y), anchor, template.HTMLEscapeString(s))
}

// html is the whole drawing; label is what a screen reader says for it.
func (d *drawing) html(label string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="fluid" height="%s" role="img" aria-label="%s">`+"\n", px(d.height), template.HTMLEscapeString(label)) + d.body.String() + "</svg>")
}

// scale maps numbers to places of a drawing.
type scale struct {
	lo, hi, from, to float64
	log              bool
}

func (s scale) at(x float64) float64 {
	lo, hi := s.lo, s.hi
	if s.log {
		x, lo, hi = math.Log(x), math.Log(lo), math.Log(hi)
	}
	if !(hi > lo) {
		return (s.from + s.to) / 2
	}
	return s.from + (s.to-s.from)*(x-lo)/(hi-lo)
}

// roundTicks are at most n round numbers from lo to hi.
func roundTicks(lo, hi float64, n int) []float64 {
	if !(hi > lo) || !known(hi-lo) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(hi-lo))-1)
	for _, m := range []float64{1, 2, 5, 10, 20, 50, 100} {
		if (hi-lo)/(m*step) <= float64(n) {
			step *= m
			break
		}
	}
	var out []float64
	for i := math.Ceil(lo / step); i*step <= hi+step*1e-9; i++ {
		out = append(out, round4(i*step))
	}
	return out
}

// levels draws the horizontal lines of a scale with their numbers above them, at
// the left edge.
func (d *drawing) levels(y scale, values []float64, label func(float64) string) {
	for _, t := range values {
		d.line("grid", 0, y.at(t), 100, y.at(t), "")
		d.textAt("axis", "start", 0, y.at(t)-4, label(t))
	}
}

// brief writes a number for an axis: 1,200; 35 k; 1.2 M.
func brief(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1e9:
		return minus(sig(x/1e9)) + " G"
	case a >= 1e6:
		return minus(sig(x/1e6)) + " M"
	case a >= 1e4:
		return minus(sig(x/1e3)) + " k"
	case a >= 1e3:
		return minus(grouped(strconv.FormatFloat(x, 'f', -1, 64)))
	}
	return minus(sig(x))
}

// swatch is one entry of a legend.
type swatch struct {
	Name string
	Icon template.HTML
}

// LayoutLegend says by which shape and colour each layout is drawn.
func (v view) LayoutLegend() []swatch {
	var out []swatch
	for i, r := range v.Rows {
		colour, shape := look(i)
		out = append(out, swatch{r.Name, template.HTML(fmt.Sprintf(`<svg viewBox="-7 -7 14 14" aria-hidden="true"><use class="l%d" href="#mk%d"/></svg>`, colour, shape))})
	}
	return out
}
