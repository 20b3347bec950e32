// Package chart draws static SVG: one set of scales, axes and marks for all charts of a
// report. Colours are classes of its style sheet.
package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// Drawing is a static chart whose horizontal places are percentages of its width
// and whose vertical ones are pixels: one drawing fits a screen, a phone and
// paper, with letters of one size, and needs no script. Colours are classes of
// the style sheet.
type Drawing struct {
	body   strings.Builder
	Height float64
}

// Looks is the number of shapes and colours: marker mkN and class lN.
const Looks = 8

// Look returns a layout's look: by colour and by shape, so that either does. Layouts beyond the eighth pair them
// differently.
func Look(i int) (colour, shape int) { return i % Looks, (i + i/Looks) % Looks }

func px(x float64) string      { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
func portion(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) + "%" }

// tag writes an element, with a text that shows when a pointer rests on it.
func (d *Drawing) tag(name, class, tip, attributes string) {
	fmt.Fprintf(&d.body, `<%s class="%s"%s %s`, name, class, paint(name, class), attributes)
	if tip == "" {
		d.body.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&d.body, "><title>%s</title></%s>\n", template.HTMLEscapeString(tip), name)
}

// Rect is a bar. One too narrow to be seen is a hair line.
func (d *Drawing) Rect(class string, x, y, w, h float64, tip string) {
	d.tag("rect", class, tip, fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s"`, portion(x), px(y), portion(max(w, 0.15)), px(h)))
}

func (d *Drawing) Line(class string, x1, y1, x2, y2 float64, tip string) {
	d.tag("line", class, tip, fmt.Sprintf(`x1="%s" y1="%s" x2="%s" y2="%s"`, portion(x1), px(y1), portion(x2), px(y2)))
}

func (d *Drawing) Circle(class string, x, y, r float64, tip string) {
	d.tag("circle", class, tip, fmt.Sprintf(`cx="%s" cy="%s" r="%s"`, portion(x), px(y), px(r)))
}

// Path joins points of x in percent and y in pixels; closed, it is an area. It is
// stretched to the width, its stroke is not.
func (d *Drawing) Path(class string, points [][2]float64, closed bool) {
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(&d.body, `<svg width="100%%" height="%s" viewBox="0 0 1000 %[1]s" preserveAspectRatio="none"><path class="%s"%s `+
		`stroke-linejoin="round" vector-effect="non-scaling-stroke" d="M`, px(d.Height), class, paint("path", class))
	for i, p := range points {
		if i > 0 {
			d.body.WriteByte(' ')
		}
		d.body.WriteString(px(p[0]*10) + "," + px(p[1]))
	}
	if closed {
		d.body.WriteByte('Z')
	}
	d.body.WriteString(`"/></svg>` + "\n")
}

// Marker is the dot of the i-th layout.
func (d *Drawing) Marker(i int, class string, x, y float64, tip string) {
	colour, shape := Look(i)
	d.tag("use", fmt.Sprintf("l%d %s", colour, class), tip, fmt.Sprintf(`href="#mk%d" x="%s" y="%s"`, shape, portion(x), px(y)))
}

// Symbol is one of the shapes that distinguish kinds of trials and events.
func (d *Drawing) Symbol(id string, x, y float64, tip string) {
	d.tag("use", id, tip, fmt.Sprintf(`href="#%s" x="%s" y="%s"`, id, portion(x), px(y)))
}

// Text grows away from the edge that it is near.
func (d *Drawing) Text(class string, x, y float64, s string) {
	anchor := "middle"
	switch {
	case x < 8:
		anchor = "start"
	case x > 92:
		anchor = "end"
	}
	d.TextAt(class, anchor, x, y, s)
}

func (d *Drawing) TextAt(class, anchor string, x, y float64, s string) {
	fmt.Fprintf(&d.body, `<text class="%s"%s x="%s" y="%s" text-anchor="%s">%s</text>`+"\n", class, paint("text", class), portion(x), px(y),
		anchor, template.HTMLEscapeString(s))
}

// narrow is the width of the narrowest drawing, in pixels.
const narrow = 280

// longestName is the length at which a name is cut; its tip and the table have it all.
const longestName = 40

// headLines is 1 if a name and its label fit on a line of the narrowest drawing, else 2.
func headLines(name, label string) int {
	const letter, smaller = 7.4, 6.4
	if letter*float64(min(utf8.RuneCountInString(name), longestName))+smaller*float64(utf8.RuneCountInString(label))+12 > narrow {
		return 2
	}
	return 1
}

// headHeight returns the height of a head, with the gap above it.
func headHeight(name, label string) float64 { return 14 + 16*float64(headLines(name, label)) }

// head writes a name at the left and its label at the right, or below; y is the height of its last line.
func (d *Drawing) head(y float64, name, label string) {
	if r := []rune(name); len(r) > longestName {
		name = string(r[:longestName-1]) + "…"
	}
	if headLines(name, label) == 2 {
		d.TextAt("name", "start", 0, y-16, name)
		d.TextAt("said", "start", 0, y, label)
		return
	}
	d.TextAt("name", "start", 0, y, name)
	d.TextAt("said", "end", 100, y, label)
}

// HTML returns the whole drawing; label is its text for screen readers.
func (d *Drawing) HTML(label string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="fluid" height="%s" role="img" aria-label="%s" width="100%%" overflow="visible" `+
		`fill="%s" font-family="system-ui, sans-serif" font-size="13">`+"\n", px(d.Height), template.HTMLEscapeString(label), "currentColor") +
		d.body.String() + "</svg>")
}

// Scale maps numbers to places of a drawing.
type Scale struct {
	Lo, Hi   float64 // the numbers at its ends
	From, To float64 // and their places
	Log      bool
}

func (s Scale) At(x float64) float64 {
	lo, hi := s.Lo, s.Hi
	if s.Log {
		x, lo, hi = math.Log(x), math.Log(lo), math.Log(hi)
	}
	if !(hi > lo) {
		return (s.From + s.To) / 2
	}
	return s.From + (s.To-s.From)*(x-lo)/(hi-lo)
}

// RoundTicks are at most n round numbers from lo to hi.
func RoundTicks(lo, hi float64, n int) []float64 {
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
		out = append(out, Round4(i*step)+0) // no −0
	}
	return out
}

func sig(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func Signed(x float64) string {
	s := minus(sig(Round4(x)))
	if x > 0 {
		return "+" + s
	}
	return s
}

// Levels draws the horizontal lines of a scale with their numbers above them, at
// the left edge.
func (d *Drawing) Levels(y Scale, values []float64, label func(float64) string) {
	for _, t := range values {
		d.Line("grid", 0, y.At(t), 100, y.At(t), "")
		d.TextAt("axis", "start", 0, y.At(t)-4, label(t))
	}
}

// longestTitle is the length that fits on one line of the narrowest drawing.
const longestTitle = 44

// title names an axis and its unit, at the left or right edge; brief is for a long one.
func (d *Drawing) title(anchor string, y float64, name, brief string) {
	if utf8.RuneCountInString(name) > longestTitle {
		name = brief
	}
	d.TextAt("axis", anchor, map[string]float64{"end": 100}[anchor], y, name)
}

// Brief writes a number for an axis: 1,200; 35 k; 1.2 M.
func Brief(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1e9:
		return minus(sig(x/1e9)) + " G"
	case a >= 1e6:
		return minus(sig(x/1e6)) + " M"
	case a >= 1e4:
		return minus(sig(x/1e3)) + " k"
	case a >= 1e3:
		return minus(humanize.Commaf(x))
	}
	return minus(sig(x))
}

// Round4 keeps four significant digits, which is more than a chart shows.
func Round4(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// counts writes numbers below an axis, as far as there is room.
func (d *Drawing) counts(ns []int, x Scale, y float64) {
	last := math.Inf(-1)
	for _, n := range ns {
		if at := x.At(float64(n)); at-last >= 9 {
			d.TextAt("axis", "middle", at, y, humanize.Comma(int64(n)))
			last = at
		}
	}
}

func known(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// minus replaces the hyphen of a formatted number by a minus sign.
func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }
