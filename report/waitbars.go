package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"filewise"
)

// Heading says of what the waits are.
func (w waited) Heading() string { return sentence(joined(": ", w.Family, "time per "+w.Unit)) }

// Legend are the classes as the bars show them.
func (w waited) Legend() []swatch {
	var out []swatch
	for _, c := range w.Classes {
		d := drawing{height: 12}
		d.wait(c, 0, 0, 100, 12, "")
		out = append(out, swatch{string(c), template.HTML(`<svg width="18" height="12" aria-hidden="true">` + d.body.String() + "</svg>")})
	}
	return out
}

// wait is a segment of a bar: a colour, and for two thirds of the classes a hatching.
func (d *drawing) wait(class filewise.WaitClass, x, y, width, height float64, tip string) {
	i := max(0, slices.Index(waitClasses, class))
	d.rect(fmt.Sprintf("w%d", i%markers), x, y, width, height, tip)
	if i%3 > 0 {
		d.rect(fmt.Sprintf("hatch%d", i%3), x, y, width, height, tip)
	}
}

// Drawing are the stacked bars: the frame is all the time of the connections per
// unit of work, filled as far as they waited.
func (w waited) Drawing() template.HTML {
	most := 0.0
	for _, l := range w.Layouts {
		most = max(most, l.sum(), l.Spent)
	}
	const pitch, bar = 52, 22
	d := drawing{height: float64(pitch * len(w.Layouts))}
	for i, l := range w.Layouts {
		y := float64(i*pitch) + 18
		d.textAt("name", "start", 0, y-5, l.Layout)
		d.textAt("axis", "end", 100, y-5, l.words())
		if l.Spent > 0 {
			d.rect("frame", 0, y, 100*l.Spent/most, bar, l.Layout+": "+perWork(l.Spent)+" of all connections")
		}
		x := 0.0
		for k, c := range w.Classes {
			if l.Class[k] <= 0 {
				continue
			}
			width := 100 * l.Class[k] / most
			d.wait(c, x, y, width, bar, fmt.Sprintf("%s: %s %s", l.Layout, c, perWork(l.Class[k])))
			x += width
		}
	}
	return d.html("Waits per " + w.Unit + " by layout and class; the table below has the numbers.")
}

// words are a bar in numbers.
func (l layoutWaits) words() string {
	if !known(l.Share) {
		return "waits " + perWork(l.sum())
	}
	return fmt.Sprintf("waits %s, %s of the time", perWork(l.sum()), share(l.Share, 1)) // medians each: their quotient is another
}

// ShareText is the part of the connections' time that is waits.
func (l layoutWaits) ShareText() string { return shareOf(l.Share) }

// SpentText is the time of all connections per unit of work.
func (l layoutWaits) SpentText() string {
	if l.Spent <= 0 {
		return absent
	}
	return perWork(l.Spent)
}

// Texts are the classes' times.
func (l layoutWaits) Texts() []string {
	var out []string
	for _, x := range l.Class {
		out = append(out, perWork(x))
	}
	return out
}

func shareOf(x float64) string {
	if !known(x) {
		return absent
	}
	if x == 0 {
		return "0 %"
	}
	return share(x, 1)
}

// ClassText is the class of an event, and whose it is.
func (e waitEvent) ClassText() string {
	if e.Background {
		return string(e.Class) + ", in the background"
	}
	return string(e.Class)
}

// Time is that of an event per unit of work.
func (c waitCell) Time() string { return perWork(c.Seconds) }

// Rest is the number of an event per unit of work, and its share of the time.
func (c waitCell) Rest() string {
	var parts []string
	if known(c.Waits) && (c.Waits > 0 || c.Seconds == 0) { // a sample tells times alone
		parts = append(parts, sig3(c.Waits)+" waits")
	}
	if known(c.Share) {
		parts = append(parts, shareOf(c.Share))
	}
	return strings.Join(parts, " · ")
}
