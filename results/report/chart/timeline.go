package chart

import (
	_ "embed" // of shapes
	"fmt"
	"html/template"
	"slices"

	"filewise/lab/verdict/stats"
)

// Mark is a trial in a timeline.
type Mark struct {
	Lane  string
	At    float64 // percent of the drawing's width
	Y     float64 // NaN means no position, unless Kind is Failed
	Kind  string  // its symbol; Failed is drawn at the bottom
	Block int
	Pilot bool
	Tip   string
	Clock string // time of day
}

// Failed is the kind of a trial without a value.
const Failed = "failed"

// Event is one kind of event, with the marks at which it occurred.
type Event struct {
	Name  string
	Ticks []Tick
}

// Tick is one occurrence of an event.
type Tick struct {
	Mark int
	Tip  string
}

// Timeline has a lane for each layout. A movement that all lanes share is drift.
type Timeline struct {
	Lanes  []string
	Marks  []Mark // in the order of the trials
	Lo, Hi float64
	Drift  map[int]float64 // by block: the movement that all lanes share
	// Band describes a part of a lane if there are too many marks to show each. Nil means every mark is shown.
	Band   func(values []float64) string
	End    string // time of day
	Events []Event
}

const (
	laneHead  = 24
	laneTall  = 60
	eventTall = 28
	bins      = 48  // parts of a lane drawn as bands
	mostTicks = 600 // ticks of one kind of event
	mostFails = 100 // failed trials shown above bands
)

// SVG draws the timeline.
func (t Timeline) SVG(label string) template.HTML {
	bottom := float64(len(t.Lanes) * (laneHead + laneTall))
	d := Drawing{Height: bottom + 50 + float64(eventTall*len(t.Events))}
	d.blocks(t, bottom)
	for i, name := range t.Lanes {
		top := float64(i*(laneHead+laneTall)) + laneHead
		d.lane(t, name, Scale{Lo: t.Lo, Hi: t.Hi, From: top + laneTall, To: top})
	}
	d.clock(t, bottom+18)
	d.title("end", 11, "against the layout’s typical trial, %", "")
	d.title("end", bottom+34, "time of day", "")
	for i, e := range t.Events {
		d.event(t, e, bottom+44+float64(eventTall*i))
	}
	return d.HTML(label)
}

// blocks shades every other block, or none if there are very many.
func (d *Drawing) blocks(t Timeline, bottom float64) {
	const most = 60
	from := 0
	for i := 1; i <= len(t.Marks); i++ {
		if i < len(t.Marks) && t.Marks[i].Block == t.Marks[from].Block {
			continue
		}
		to := 91.0
		if i < len(t.Marks) {
			to = t.Marks[i].At
		}
		if b := t.Marks[from].Block; b%2 == 1 && t.Marks[len(t.Marks)-1].Block <= most {
			d.Rect("stripe", t.Marks[from].At-0.4, laneHead-4, to-t.Marks[from].At, bottom-laneHead+8, fmt.Sprintf("block %d", b))
		}
		from = i
	}
}

// lane draws the marks of one layout. A mark beyond the scale is drawn at the scale's edge.
func (d *Drawing) lane(t Timeline, name string, y Scale) {
	d.TextAt("name", "start", 0, y.To-8, name)
	for _, p := range RoundTicks(y.Lo, y.Hi, 6) {
		class := "grid"
		if p == 0 {
			class = "base"
		}
		d.Line(class, 0, y.At(p), 100, y.At(p), "")
		d.TextAt("axis", "end", 100, y.At(p)-3, Signed(p)+" %")
	}
	if t.Band != nil {
		d.bands(t, name, y)
		return
	}
	d.Path("drift", t.drift(y), false)
	for _, m := range t.Marks {
		switch {
		case m.Lane != name:
		case m.Kind == Failed:
			d.Symbol(Failed, m.At, y.From-7, m.Tip)
		case known(m.Y):
			d.Symbol(m.Kind, m.At, y.clamped(m.Y), m.Tip)
		}
	}
}

// clamped returns the position of a number, or of the nearest end of the scale.
func (s Scale) clamped(x float64) float64 { return s.At(min(max(x, s.Lo), s.Hi)) }

// drift returns the points of the line for the movement that all lanes share.
func (t Timeline) drift(y Scale) [][2]float64 {
	places := map[int][]float64{}
	for _, m := range t.Marks {
		if !m.Pilot {
			places[m.Block] = append(places[m.Block], m.At)
		}
	}
	var out [][2]float64
	for b := 1; b <= len(t.Marks); b++ {
		if common, ok := t.Drift[b]; ok {
			sum := 0.0
			for _, at := range places[b] {
				sum += at
			}
			out = append(out, [2]float64{sum / float64(len(places[b])), y.clamped(common)})
		}
	}
	return out
}

// bands draws the quantiles of a lane with many marks, for each part of the width.
func (d *Drawing) bands(t Timeline, name string, y Scale) {
	piles := make([][]float64, bins)
	failed := 0
	for _, m := range t.Marks {
		if m.Lane != name {
			continue
		}
		if m.Kind == Failed && failed < mostFails {
			failed++
			d.Symbol(Failed, m.At, y.From-7, m.Tip)
		}
		if m.Kind != Failed && !m.Pilot && known(m.Y) {
			b := min(int(m.At/100*bins), bins-1)
			piles[b] = append(piles[b], m.Y)
		}
	}
	const wide = 100.0 / bins
	var middle [][2]float64
	for b, xs := range piles {
		if len(xs) == 0 {
			continue
		}
		slices.Sort(xs)
		q := func(p float64) float64 { return y.clamped(stats.Quantile(xs, p)) }
		d.Rect("outer", float64(b)*wide, q(0.9), wide, q(0.1)-q(0.9), t.Band(xs))
		d.Rect("inner", float64(b)*wide, q(0.75), wide, q(0.25)-q(0.75), t.Band(xs))
		middle = append(middle, [2]float64{(float64(b) + 0.5) * wide, q(0.5)})
	}
	d.Path("drift", middle, false)
}

// clock writes the time of day at both ends and in the middle.
func (d *Drawing) clock(t Timeline, y float64) {
	middle := 0
	for t.Marks[middle].At < 50 && middle < len(t.Marks)-1 {
		middle++
	}
	d.TextAt("axis", "start", 0, y, t.Marks[0].Clock)
	if m := t.Marks[middle]; m.At > 35 && m.At < 65 {
		d.TextAt("axis", "middle", m.At, y, m.Clock)
	}
	d.TextAt("axis", "end", 100, y, t.End)
}

// event draws one kind of event as ticks on a line.
func (d *Drawing) event(t Timeline, e Event, y float64) {
	d.TextAt("axis", "start", 0, y+10, e.Name)
	d.Line("grid", 0, y+22, 100, y+22, "")
	for _, tick := range e.Ticks[:min(len(e.Ticks), mostTicks)] {
		at := t.Marks[tick.Mark].At
		d.Line("event", at, y+14, at, y+22, tick.Tip)
	}
}

// Moment is a value at a time. Its look, a colour and a shape, identifies its series.
type Moment struct {
	Look  int
	At, Y float64
	Tip   string
}

// Moments draws values over time, on a vertical axis that begins at 0. Lines join the values of the same look.
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

// Shapes holds the definitions of marks and hatchings that drawings refer to. A page has them once.
//
//go:embed shapes.svg
var Shapes string
