package report

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/cause"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// mostEvents is the most wait events that are listed.
const mostEvents = 12

// waitClasses lists the classes of waits in the order in which bars stack them.
var waitClasses = []filewise.WaitClass{
	filewise.WaitLock, filewise.WaitAllocation, filewise.WaitLatch, filewise.WaitDataRead, filewise.WaitDataWrite, filewise.WaitLog,
	filewise.WaitTemp, filewise.WaitCheckpoint, filewise.WaitMemory, filewise.WaitNetwork, filewise.WaitOther,
}

// waited holds the waits of one operation's connections.
type waited struct {
	Operation string // empty if the run has only one
	Unit      string // name of one unit of work: "row"
	Classes   []filewise.WaitClass
	Layouts   []layoutWaits
	Events    []waitEvent // the largest first
}

// layoutWaits holds medians over a layout's trials. Times are in seconds per unit of work.
type layoutWaits struct {
	Layout string
	Spent  float64   // time of all connections. 0 means not known, or they also rest
	Class  []float64 // time of each class
	Share  float64   // waits divided by the connections' time. NaN means not known
}

func (l layoutWaits) sum() float64 {
	total := 0.0
	for _, x := range l.Class {
		total += x
	}
	return total
}

// waitEvent is one event on all layouts.
type waitEvent struct {
	Class      filewise.WaitClass
	Event      string
	Background bool // of the server's own threads; no connection waits for it
	Cells      []waitCell
	most       float64
	counted    bool // it occurred, although its time is not known
}

// waitCell is an event on one layout.
type waitCell struct {
	Seconds float64 // time per unit of work. NaN means not measured
	Waits   float64 // number per unit of work. NaN means not counted
	Share   float64 // time divided by the connections' time. NaN means not known
}

type eventKey struct {
	probe, name string
	class       filewise.WaitClass
}

// waits returns the connections' waits by operation, or nothing if no wait was read.
func (v view) waits() []document.Block { return v.eachOperation(view.waitBlocks) }

func (v view) waitBlocks() []document.Block {
	w, ok := v.waited()
	if !ok {
		return nil
	}
	of := say.Joined(": ", v.Name, "time per "+w.Unit)
	columns := []document.Of[layoutWaits]{document.Name("layout", func(l layoutWaits) string { return l.Layout })}
	for k, c := range w.Classes {
		columns = append(columns, document.Num(string(c), func(l layoutWaits) string { return perWork(l.Class[k]) }).
			Raw("s", func(l layoutWaits) float64 { return l.Class[k] }))
	}
	columns = append(columns,
		document.Num("connections’ time", func(l layoutWaits) string {
			if l.Spent <= 0 {
				return say.Absent
			}
			return perWork(l.Spent)
		}),
		document.Num("share of waits", func(l layoutWaits) string { return shareOf(l.Share) }))
	var events []layoutLine
	for _, e := range w.Events {
		class := string(e.Class)
		if e.Background {
			class += ", in the background"
		}
		l := layoutLine{names: []string{class, e.Event}}
		for _, c := range e.Cells {
			l.cells = append(l.cells, c.cell())
		}
		events = append(events, l)
	}
	return []document.Block{
		document.Figure{
			Legend: w.legend(), LegendOf: "Classes of waits", Drawings: []document.Drawing{{SVG: w.drawing()}},
			Caption: "Time per " + w.Unit + ", the median over the trials. The frame is all the time of the connections; " +
				"it is filled as far as they waited. What is not filled was work, or waiting that the server does not report.",
		},
		document.Tabulate(document.Table{Caption: "By class: " + of}, w.Layouts, columns...),
		v.byLayout("The largest events: "+of+"; below it their number, and the share of the connections’ time", events, 1, "class", "event"),
	}
}

// waited returns the waits of one operation's connections. ok is false if none was read.
func (v view) waited() (waited, bool) {
	w := waited{Operation: v.Name, Unit: cause.Singular(v.Unit)}
	events := map[eventKey]bool{} // true if the event's time is measured
	measures := make([][]filewise.Measure, len(v.Rows))
	for i, r := range v.Rows {
		measures[i] = v.measuresOf(r.Name, func(d filewise.Delta) bool { return filewise.OfWaits(d.Probe) })
		for _, m := range measures[i] {
			for _, d := range m.Deltas {
				if filewise.OfWaits(d.Probe) && d.Class != "" {
					k := eventKey{d.Probe, d.Name, d.Class}
					events[k] = events[k] || d.Unit == "s"
				}
			}
		}
	}
	for _, c := range waitClasses {
		if slices.ContainsFunc(slices.Collect(maps.Keys(events)), func(k eventKey) bool {
			return events[k] && k.class == c &&
				k.probe == filewise.ProbeWaits
		}) {
			w.Classes = append(w.Classes, c)
		}
	}
	for i, r := range v.Rows {
		if len(measures[i]) > 0 {
			w.Layouts = append(w.Layouts, layoutWaitsOf(r.Name, measures[i], w.Classes))
		}
	}
	for k, timed := range events {
		if e := eventOf(k, timed, measures); e.most > 0 || e.counted {
			w.Events = append(w.Events, e)
		}
	}
	slices.SortFunc(w.Events, func(a, b waitEvent) int {
		return cmp.Or(cmp.Compare(b.most, a.most), cmp.Compare(a.Event, b.Event), cmp.Compare(a.Class, b.Class))
	})
	w.Events = w.Events[:min(mostEvents, len(w.Events))]
	return w, len(w.Layouts) > 0 && len(w.Events) > 0
}

// connectionTime returns the total time of a measure's connections, in seconds. 0 means not known, or that the work is
// paced and connections also rest.
func connectionTime(m filewise.Measure) float64 {
	if m.Paced {
		return 0
	}
	return float64(m.Connections) * (m.Window[1] - m.Window[0]).Seconds()
}

func layoutWaitsOf(layout string, ms []filewise.Measure, classes []filewise.WaitClass) layoutWaits {
	seconds := func(class filewise.WaitClass) reading {
		return sumOf(func(d filewise.Delta) bool {
			return d.Probe == filewise.ProbeWaits && d.Unit == "s" && (class == "" || d.Class == class)
		})
	}
	l := layoutWaits{Layout: layout, Spent: reading(connectionTime).perWork().median(ms), Share: seconds("").ofTime().median(ms)}
	for _, c := range classes {
		l.Class = append(l.Class, seconds(c).perWork().median(ms))
	}
	return l
}

// ofTime returns the time that was read, divided by the connections' time.
func (r reading) ofTime() reading {
	return func(m filewise.Measure) float64 { return r(m) / connectionTime(m) }
}

// eventOf returns an event on all layouts. If a reading lacks the event, nothing waited for it.
func eventOf(k eventKey, timed bool, measures [][]filewise.Measure) waitEvent {
	is := func(unit string) func(filewise.Delta) bool {
		return func(d filewise.Delta) bool {
			return d.Probe == k.probe && d.Name == k.name && d.Class == k.class && d.Unit == unit
		}
	}
	has := func(m filewise.Measure) bool { return slices.ContainsFunc(m.Deltas, is("waits")) }
	numbered := slices.ContainsFunc(slices.Concat(measures...), has)
	seconds := sumOf(is("s"))
	waits := func(m filewise.Measure) float64 {
		if !numbered || seconds(m) != 0 && !has(m) {
			return nan
		}
		return sumOf(is("waits"))(m)
	}
	e := waitEvent{Class: k.class, Event: k.name, Background: k.probe == filewise.ProbeBackground}
	for _, ms := range measures {
		c := waitCell{seconds.perWork().median(ms), reading(waits).perWork().median(ms), seconds.ofTime().median(ms)}
		if !timed {
			c.Seconds, c.Share = nan, nan
			e.counted = e.counted || c.Waits > 0
		}
		e.Cells = append(e.Cells, c)
		if say.Known(c.Seconds) {
			e.most = max(e.most, c.Seconds)
		}
	}
	return e
}

// perWork writes a time, given in seconds, per unit of work.
func perWork(s float64) string {
	switch {
	case !say.Known(s):
		return say.Absent
	case s == 0:
		return "0"
	case s < 1e-6:
		return say.Sig3(s*1e9) + " ns"
	case s < 1e-3:
		return say.Sig3(s*1e6) + " µs"
	case s < 1:
		return say.Sig3(s*1e3) + " ms"
	case s < 60:
		return say.Sig3(s) + " s"
	}
	return say.Seconds(s)
}

// legend returns the classes with the look that they have in the bars.
func (w waited) legend() []document.Swatch {
	var out []document.Swatch
	for _, c := range w.Classes {
		out = append(out, document.Swatch{Name: string(c), Icon: chart.Icon(waitSegment(c, 0, ""))})
	}
	return out
}

// waitSegment returns a segment with a colour and, for two thirds of the classes, a hatching.
func waitSegment(class filewise.WaitClass, length float64, tip string) chart.Segment {
	i := max(0, slices.Index(waitClasses, class))
	s := chart.Segment{Length: length, Classes: []string{fmt.Sprintf("l%d", i%chart.Looks)}, Tip: tip}
	if i%3 > 0 {
		s.Classes = append(s.Classes, fmt.Sprintf("hatch%d", i%3))
	}
	return s
}

// drawing returns the stacked bars. The frame of a bar is the time of all connections per unit of work; the waits fill
// their share of it.
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

// words describes a bar in numbers.
func (l layoutWaits) words() string {
	if !say.Known(l.Share) {
		return "waits " + perWork(l.sum())
	}
	return fmt.Sprintf("waits %s, %s of the time", perWork(l.sum()), say.Share(l.Share, 1)) // medians: the quotient differs
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

// cell returns an event's time per unit of work, its number, and its share of the time.
func (c waitCell) cell() document.Cell {
	var rest []string
	if say.Known(c.Waits) && (c.Waits > 0 || c.Seconds == 0) { // a sampled event has only times
		rest = append(rest, say.Sig3(c.Waits)+" waits")
	}
	if say.Known(c.Share) {
		rest = append(rest, shareOf(c.Share))
	}
	return document.Cell{Text: perWork(c.Seconds), Small: []string{strings.Join(rest, " · ")}, Value: c.Seconds}
}
