package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"filewise"
	"filewise/cause"
)

// mostEvents is how many single events of waits are listed.
const mostEvents = 12

// waitClasses in the order in which bars stack them.
var waitClasses = []filewise.WaitClass{
	filewise.WaitLock, filewise.WaitAllocation, filewise.WaitLatch, filewise.WaitDataRead, filewise.WaitDataWrite, filewise.WaitLog,
	filewise.WaitTemp, filewise.WaitCheckpoint, filewise.WaitMemory, filewise.WaitNetwork, filewise.WaitOther,
}

// waited is what one family's connections waited for.
type waited struct {
	Family  string // empty: the run has one
	Unit    string // of one piece of work: "row"
	Classes []filewise.WaitClass
	Layouts []layoutWaits
	Events  []waitEvent // the largest first
}

// layoutWaits are medians over a layout's trials; times are in s per unit of work.
type layoutWaits struct {
	Layout string
	Spent  float64   // the time of all connections; 0: not known, or they also rest
	Class  []float64 // of each class
	Share  float64   // of waits in the connections' time; NaN: not known
}

func (l layoutWaits) sum() float64 {
	total := 0.0
	for _, x := range l.Class {
		total += x
	}
	return total
}

// waitEvent is one event by layout.
type waitEvent struct {
	Class      filewise.WaitClass
	Event      string
	Background bool // of the server's own threads, for which no connection waits
	Cells      []waitCell
	most       float64
	counted    bool // there were some, although their time is not known
}

// waitCell is an event on one layout.
type waitCell struct {
	Seconds float64 // per unit of work; NaN: not measured
	Waits   float64 // the same; NaN: not counted
	Share   float64 // of the connections' time; NaN: not known
}

type eventKey struct {
	probe, name string
	class       filewise.WaitClass
}

// Waits of all families; none where no wait was read.
func (v view) Waits() []waited {
	families := v.Families()
	if len(families) == 0 {
		families = []view{v}
	}
	var out []waited
	for _, f := range families {
		if w, ok := f.waits(); ok {
			out = append(out, w)
		}
	}
	return out
}

// waits of one family.
func (v view) waits() (waited, bool) {
	w := waited{Family: v.Name, Unit: cause.Singular(v.Unit)}
	events := map[eventKey]bool{} // whether their time is measured
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
		if slices.ContainsFunc(slices.Collect(maps.Keys(events)), func(k eventKey) bool { return events[k] && k.class == c && k.probe == filewise.ProbeWaits }) {
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

// measuresOf are those of a layout's trials in blocks that have a delta of a kind.
func (v view) measuresOf(layout string, has func(filewise.Delta) bool) []filewise.Measure {
	var out []filewise.Measure
	for _, t := range v.Trials {
		if t.Cell.Layout == layout && !t.Cell.Pilot && t.State == filewise.Done && t.Measure.Work > 0 && slices.ContainsFunc(t.Measure.Deltas, has) {
			out = append(out, t.Measure)
		}
	}
	return out
}

// connectionTime is the time of a measure's connections, in s; 0: not known, or not all work.
func connectionTime(m filewise.Measure) float64 {
	if m.Paced {
		return 0
	}
	return float64(m.Connections) * (m.Window[1] - m.Window[0]).Seconds()
}

func layoutWaitsOf(layout string, ms []filewise.Measure, classes []filewise.WaitClass) layoutWaits {
	l := layoutWaits{Layout: layout}
	over := func(of func(filewise.Measure) float64) float64 {
		var xs []float64
		for _, m := range ms {
			xs = append(xs, of(m))
		}
		return median(xs)
	}
	seconds := func(m filewise.Measure, class filewise.WaitClass) float64 {
		return summed(m, func(d filewise.Delta) bool {
			return d.Probe == filewise.ProbeWaits && d.Unit == "s" && (class == "" || d.Class == class)
		})
	}
	l.Spent = over(func(m filewise.Measure) float64 { return connectionTime(m) / m.Work })
	for _, c := range classes {
		l.Class = append(l.Class, over(func(m filewise.Measure) float64 { return seconds(m, c) / m.Work }))
	}
	l.Share = over(func(m filewise.Measure) float64 { return seconds(m, "") / connectionTime(m) })
	return l
}

// summed adds up the known deltas of a kind.
func summed(m filewise.Measure, of func(filewise.Delta) bool) float64 {
	total := 0.0
	for _, d := range m.Deltas {
		if of(d) && known(d.Value) {
			total += d.Value
		}
	}
	return total
}

// eventOf is an event on all layouts; one that a reading does not have was not
// waited for.
func eventOf(k eventKey, timed bool, measures [][]filewise.Measure) waitEvent {
	is := func(unit string) func(filewise.Delta) bool {
		return func(d filewise.Delta) bool {
			return d.Probe == k.probe && d.Name == k.name && d.Class == k.class && d.Unit == unit
		}
	}
	numbered := slices.ContainsFunc(slices.Concat(measures...), func(m filewise.Measure) bool { return slices.ContainsFunc(m.Deltas, is("waits")) })
	e := waitEvent{Class: k.class, Event: k.name, Background: k.probe == filewise.ProbeBackground}
	for _, ms := range measures {
		var seconds, waits, shares []float64
		for _, m := range ms {
			s := summed(m, is("s"))
			seconds, shares = append(seconds, s/m.Work), append(shares, s/connectionTime(m))
			if numbered && (s == 0 || slices.ContainsFunc(m.Deltas, is("waits"))) {
				waits = append(waits, summed(m, is("waits"))/m.Work)
			}
		}
		c := waitCell{median(seconds), median(waits), median(shares)}
		if !timed {
			c.Seconds, c.Share = math.NaN(), math.NaN()
			e.counted = e.counted || c.Waits > 0
		}
		e.Cells = append(e.Cells, c)
		if known(c.Seconds) {
			e.most = max(e.most, c.Seconds)
		}
	}
	return e
}

// perWork writes a time in s per unit of work.
func perWork(s float64) string {
	switch {
	case !known(s):
		return absent
	case s == 0:
		return "0"
	case s < 1e-6:
		return sig3(s*1e9) + " ns"
	case s < 1e-3:
		return sig3(s*1e6) + " µs"
	case s < 1:
		return sig3(s*1e3) + " ms"
	case s < 60:
		return sig3(s) + " s"
	}
	return human(time.Duration(s * float64(time.Second)))
}

// waits writes the classes by layout, and the largest events.
func (m *md) waits(v view) {
	all := v.Waits()
	if len(all) == 0 {
		return
	}
	m.para("## What the connections waited for")
	for _, w := range all {
		head := []string{joined(": ", w.Family, "layout")}
		for _, c := range w.Classes {
			head = append(head, string(c))
		}
		var rows [][]string
		for _, l := range w.Layouts {
			rows = append(rows, slices.Concat([]string{l.Layout}, l.Texts(), []string{l.ShareText()}))
		}
		m.rows(append(head, "share of the connections' time"), rows)
		head, rows = []string{"class", "event"}, nil
		for _, l := range v.Rows {
			head = append(head, l.Name)
		}
		for _, e := range w.Events {
			line := []string{e.ClassText(), e.Event}
			for _, c := range e.Cells {
				line = append(line, joined(" · ", c.Time(), c.Rest()))
			}
			rows = append(rows, line)
		}
		m.rows(head, rows)
		m.para("Time per %s: medians over the trials; of events also their number per %s, and the share of the connections' time.", escape(w.Unit), escape(w.Unit))
	}
}
