// Package chart draws static SVG. All charts of a report share one set of scales, axes and marks. Colours are classes
// of the report's style sheet.
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

// Drawing is a static chart. Horizontal positions are percentages of its width, and vertical positions are pixels. So
// one drawing fits a screen, a phone and paper with one font size, and needs no script. Colours are classes of the
// style sheet.
type Drawing struct {
	body   strings.Builder
	Height float64
}

// Looks is the number of shapes and of colours: classes mkN and lN.
const Looks = 8

// Look returns the colour and the shape of layout i. Either one identifies the first eight layouts; later layouts pair
// the two differently.
func Look(i int) (colour, shape int) { return i % Looks, (i + i/Looks) % Looks }

func px(x float64) string      { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }
func portion(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) + "%" }

// tag writes an element. The tip shows when the pointer rests on the element.
func (d *Drawing) tag(name, class, tip, attributes string) {
	fmt.Fprintf(&d.body, `<%s class="%s"%s %s`, name, class, paint(name, class), attributes)
	if tip == "" {
		d.body.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&d.body, "><title>%s</title></%s>\n", template.HTMLEscapeString(tip), name)
}

// Rect draws a bar. If the bar is too narrow to be seen, a hairline is drawn.
func (d *Drawing) Rect(class string, x, y, w, h float64, tip string) {
	d.tag("rect", class, tip, fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s"`, portion(x), px(y), portion(max(w, 0.15)), px(h)))
}

func (d *Drawing) Line(class string, x1, y1, x2, y2 float64, tip string) {
	d.tag("line", class, tip, fmt.Sprintf(`x1="%s" y1="%s" x2="%s" y2="%s"`, portion(x1), px(y1), portion(x2), px(y2)))
}

func (d *Drawing) Circle(class string, x, y, r float64, tip string) {
	d.tag("circle", class, tip, fmt.Sprintf(`cx="%s" cy="%s" r="%s"`, portion(x), px(y), px(r)))
}

// Path joins points, with x in percent and y in pixels. If closed is set, the path is an area. The path is stretched to
// the width, but its stroke is not.
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

// Marker draws the dot of layout i.
func (d *Drawing) Marker(i int, class string, x, y float64, tip string) {
	colour, shape := Look(i)
	d.tag("use", fmt.Sprintf("l%d %s", colour, class), tip, fmt.Sprintf(`href="#mk%d" x="%s" y="%s"`, shape, portion(x), px(y)))
}

// Symbol draws one of the shapes that distinguish kinds of trials and events.
func (d *Drawing) Symbol(id string, x, y float64, tip string) {
	d.tag("use", id, tip, fmt.Sprintf(`href="#%s" x="%s" y="%s"`, id, portion(x), px(y)))
}

// Text writes a text that extends away from the nearest edge.
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

// longestName is the length to which a name is cut. The tip and the table have the whole name.
const longestName = 40

// headLines returns 1 if a name and its label fit on one line of the narrowest drawing, otherwise 2.
func headLines(name, label string) int {
	const letter, smaller = 7.4, 6.4
	if letter*float64(min(utf8.RuneCountInString(name), longestName))+smaller*float64(utf8.RuneCountInString(label))+12 > narrow {
		return 2
	}
	return 1
}

// headHeight returns the height of a name with its label, and of the gap above them.
func headHeight(name, label string) float64 { return 14 + 16*float64(headLines(name, label)) }

// head writes a name at the left and its label at the right, or below. y is the position of the last line.
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

// HTML returns the whole drawing. label is the text for screen readers.
func (d *Drawing) HTML(label string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="fluid" height="%s" role="img" aria-label="%s" width="100%%" overflow="visible" `+
		`fill="%s" font-family="system-ui, sans-serif" font-size="13">`+"\n", px(d.Height), template.HTMLEscapeString(label), "currentColor") +
		d.body.String() + "</svg>")
}

// Scale maps numbers to positions in a drawing.
type Scale struct {
	Lo, Hi   float64 // the numbers at the scale's ends
	From, To float64 // the positions of the ends
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

// RoundTicks returns at most n round numbers from lo to hi.
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
		out = append(out, Round4(i*step)+0) // avoid −0
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

// Levels draws the horizontal lines of a scale. The numbers are above the lines, at the left edge.
func (d *Drawing) Levels(y Scale, values []float64, label func(float64) string) {
	for _, t := range values {
		d.Line("grid", 0, y.At(t), 100, y.At(t), "")
		d.TextAt("axis", "start", 0, y.At(t)-4, label(t))
	}
}

// longestTitle is the length of a title that fits on one line of the narrowest drawing.
const longestTitle = 44

// title writes an axis name with its unit at the left or right edge. brief replaces a name that is too long.
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

// Round4 rounds to four significant digits, which is more than a chart shows.
func Round4(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// counts writes numbers below an axis, and leaves out numbers for which there is no space.
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

// minus replaces hyphens in a formatted number by minus signs.
func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }
