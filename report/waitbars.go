package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/report/chart"
	"filewise/report/document"
)

// legend are the classes as the bars show them.
func (w waited) legend() []document.Swatch {
	var out []document.Swatch
	for _, c := range w.Classes {
		out = append(out, document.Swatch{Name: string(c), Icon: chart.Icon(waitSegment(c, 0, ""))})
	}
	return out
}

// waitSegment has a colour, and for two thirds of the classes a hatching.
func waitSegment(class filewise.WaitClass, length float64, tip string) chart.Segment {
	i := max(0, slices.Index(waitClasses, class))
	s := chart.Segment{Length: length, Classes: []string{fmt.Sprintf("l%d", i%chart.Looks)}, Tip: tip}
	if i%3 > 0 {
		s.Classes = append(s.Classes, fmt.Sprintf("hatch%d", i%3))
	}
	return s
}

// drawing are the stacked bars: the frame is all the time of the connections per
// unit of work, filled as far as they waited.
func (w waited) drawing() template.HTML {
	var bars []chart.Bar
	for _, l := range w.Layouts {
		b := chart.Bar{Name: l.Layout, Label: l.words(), Whole: chart.Segment{
			Length: l.Spent, Classes: []string{"frame"}, Tip: l.Layout + ": " + perWork(l.Spent) + " of all connections"}}
		for k, c := range w.Classes {
			b.Parts = append(b.Parts, waitSegment(c, l.Class[k], fmt.Sprintf("%s: %s %s", l.Layout, c, perWork(l.Class[k]))))
		}
		bars = append(bars, b)
	}
	return chart.Bars(bars, 22, chart.Axes{Over: "time per " + w.Unit, Number: perWork},
		"Waits per "+w.Unit+" by layout and class; the table below has the numbers.")
}

// words are a bar in numbers.
func (l layoutWaits) words() string {
	if !say.Known(l.Share) {
		return "waits " + perWork(l.sum())
	}
	return fmt.Sprintf("waits %s, %s of the time", perWork(l.sum()), say.Share(l.Share, 1)) // medians each: their quotient is another
}

func shareOf(x float64) string {
	if !say.Known(x) {
		return say.Absent
	}
	if x == 0 {
		return "0 %"
	}
	return say.Share(x, 1)
}

// cell is an event's time per unit of work, its number, and its share of the time.
func (c waitCell) cell() document.Cell {
	var rest []string
	if say.Known(c.Waits) && (c.Waits > 0 || c.Seconds == 0) { // a sample tells times alone
		rest = append(rest, say.Sig3(c.Waits)+" waits")
	}
	if say.Known(c.Share) {
		rest = append(rest, shareOf(c.Share))
	}
	return document.Cell{Text: perWork(c.Seconds), Small: []string{strings.Join(rest, " · ")}, Value: c.Seconds}
}
