package report

import (
	"iter"
	"math"
	"slices"
	"strconv"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/probe"
	"filewise/lab/verdict"
	"filewise/lab/verdict/stats"
	"filewise/results/report/document"
)

// reading extracts a number from a measure, or NaN.
type reading func(filewise.Measure) float64

// counterOf returns a reading of a probe's counter.
func counterOf(of, name string) reading {
	return func(m filewise.Measure) float64 {
		if x, ok := probe.Find(m.Deltas, of, name); ok {
			return x
		}
		return nan
	}
}

// sumOf returns a reading that adds up the known deltas of a kind.
func sumOf(kind func(filewise.Delta) bool) reading {
	return func(m filewise.Measure) float64 {
		total := 0.0
		for _, d := range m.Deltas {
			if kind(d) && say.Known(d.Value) {
				total += d.Value
			}
		}
		return total
	}
}

// perWork returns the reading divided by the units of work.
func (r reading) perWork() reading {
	return func(m filewise.Measure) float64 { return r(m) / m.Work }
}

// median returns the median over the measures that have the number.
func (r reading) median(ms []filewise.Measure) float64 {
	var xs []float64
	for _, m := range ms {
		if x := r(m); say.Known(x) {
			xs = append(xs, x)
		}
	}
	return median(xs)
}

// measuresOf returns the measures of a layout's trials in blocks that have a delta of a kind.
func (v view) measuresOf(layout string, has func(filewise.Delta) bool) []filewise.Measure {
	var out []filewise.Measure
	for _, t := range v.Trials {
		if t.Cell.Layout == layout && t.inBlock() && t.Measure.Work > 0 && slices.ContainsFunc(t.Measure.Deltas, has) {
			out = append(out, t.Measure)
		}
	}
	return out
}

// overTrials returns one value for each finished trial of a layout in blocks: the mean over the measures of all
// operations, weighted by their length.
func (v view) overTrials(layout string, of reading) []float64 {
	var xs []float64
	for t := range v.finished() {
		sum, length := 0.0, 0.0
		for _, m := range t.Measures {
			took := (m.Window[1] - m.Window[0]).Seconds()
			if x := of(m); say.Known(x) && took > 0 {
				sum, length = sum+x*took, length+took
			}
		}
		if t.Cell.Layout == layout && length > 0 {
			xs = append(xs, sum/length)
		}
	}
	return xs
}

// finished returns the finished trials in blocks, with the measures of all operations.
func (v view) finished() iter.Seq[filewise.Trial] {
	return func(yield func(filewise.Trial) bool) {
		for _, t := range v.whole.Trials {
			if !t.Cell.Pilot && t.State == filewise.Done && !yield(t) {
				return
			}
		}
	}
}

// counted returns the names that the function gives to deltas of finished trials. Each name appears once.
func (v view) counted(tell func(filewise.Delta) string) []string {
	var out []string
	for t := range v.finished() {
		for _, m := range t.Measures {
			for _, d := range m.Deltas {
				if name := tell(d); name != "" && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// layoutLine is a line of a table with a column for each layout.
type layoutLine struct {
	names []string // in the columns before the layouts
	cells []document.Cell
}

// line returns a line with a cell for each layout. ok is false if no layout has a value.
func (v view) line(cell func(layout string) (c document.Cell, known bool), names ...string) (l layoutLine, ok bool) {
	l.names = names
	for _, r := range v.Rows {
		c, known := cell(r.Name)
		l.cells, ok = append(l.cells, c), ok || known
	}
	return l, ok
}

// numberCell returns a cell with a number as write formats it. ok is false if the number is not known.
func numberCell(x float64, write func(float64) string) (c document.Cell, ok bool) {
	if !say.Known(x) {
		return document.Cell{Text: say.Absent, Value: x}, false
	}
	return document.Cell{Text: write(x), Value: x}, true
}

// byLayout returns a table with a column for each layout. about is the index of the column, among the columns before
// them, that names a line's subject.
func (v view) byLayout(caption string, lines []layoutLine, about int, heads ...string) document.Table {
	var columns []document.Of[layoutLine]
	for i, head := range heads {
		c := document.Words(head, func(l layoutLine) string { return l.names[i] })
		c.Names = i == about
		columns = append(columns, c)
	}
	for i, r := range v.Rows {
		columns = append(columns, document.Cells(r.Name, func(l layoutLine) document.Cell { return l.cells[i] }).As("num"))
	}
	return document.Tabulate(document.Table{Caption: caption}, lines, columns...)
}

// nan represents an unknown number.
var nan = math.NaN()

// median returns the median of the values, or NaN if there are none.
func median(xs []float64) float64 { return quantile(xs, 0.5) }

// quantile interpolates linearly between the order statistics (Hyndman & Fan, type 7). It returns NaN if there are no
// values.
func quantile(xs []float64, p float64) float64 {
	s := slices.Clone(xs)
	slices.Sort(s)
	return stats.Quantile(s, p)
}

// view holds the content of every format for one operation, computed once from the data. A run's view is the view of its
// leading operation: the overall operation, or the first.
type view struct {
	Data      // with only this operation's measures and published figures
	of        experiment.Operation
	Name      string // of the operation, if the run has several
	Operation string // of the judged measure. Empty means nothing was measured
	Unit      string // of the operation's work: "rows"
	Analysis  verdict.Analysis
	Judged    bool // there is an interim analysis, and Analysis is the last
	Base      int  // index of the baseline in Rows
	Rows      []row
	Trials    []trial
	Rate      say.Rate // unit in which the table gives bytes per second
	parts     []view   // views of all operations, overall first: at least one
	whole     Data     // the run with all its operations
}

// newView returns the view of a run.
func newView(d Data) view {
	operations := operationsOf(d)
	parts := make([]view, len(operations))
	for i, f := range operations {
		if len(operations) == 1 {
			parts[i] = viewOf(ofItsConditions(d), f)
		} else {
			parts[i] = viewOf(ofOperation(d, f), f)
			parts[i].Name = f.Name
		}
		parts[i].whole, parts[i].parts = d, parts[i:i+1]
	}
	v := parts[0]
	v.parts = parts
	v.Plan.Confidence = d.Plan.Confidence
	return v
}

// several reports whether the view is of a run with several operations, not of one of the operations.
func (v view) several() bool { return len(v.parts) > 1 }

func viewOf(d Data, of experiment.Operation) view {
	v := view{Data: d, of: of}
	v.Analysis, v.Judged = of.Result.Last()
	v.Operation, v.Unit = judged(d.Trials)
	v.Base = slices.IndexFunc(d.Plan.Layouts, func(l filewise.Layout) bool { return l.Name == d.Plan.Baseline })
	v.Trials = v.trials()
	fastest := 0.0
	for _, l := range d.Plan.Layouts {
		r := v.row(l)
		v.Rows = append(v.Rows, r)
		if say.Known(r.Bytes) {
			fastest = max(fastest, r.Bytes)
		}
	}
	v.flagDownWeighted()
	v.Rate = say.RateFor(fastest)
	return v
}

// judged returns the operation and unit of the measure that verdicts are about: the first measure of a finished trial.
func judged(trials []filewise.Trial) (operation, unit string) {
	for _, t := range trials {
		if t.State == filewise.Done && len(t.Measures) > 0 {
			return t.Measures[0].Operation, t.Measures[0].Unit
		}
	}
	return "", ""
}

// confidence returns the intervals' confidence: "95 %".
func (v view) confidence() string {
	if v.Plan.Confidence <= 0 {
		return say.Absent
	}
	return say.Confidence(v.Plan.Confidence)
}

// margin returns the difference below which layouts count as equal: "2 %".
func (v view) margin() string {
	if v.Plan.Margin <= 0 {
		return say.Absent
	}
	return strconv.FormatFloat(v.Plan.Margin, 'f', -1, 64) + " %"
}

// unitRate returns the unit of throughput: "rows/s".
func (v view) unitRate() string {
	switch v.Unit {
	case "":
		return "throughput"
	case filewise.UnitTimes:
		return "time"
	}
	return v.Unit + "/s"
}
