package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"filewise/internal/say"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// answerFigures returns the charts of the answer. They show the layouts' differences, in each operation if there are
// several. If there is one operation, its throughput and latency follow.
func (v view) answerFigures() []document.Block {
	if v.several() {
		return []document.Block{v.operationFigure()}
	}
	return []document.Block{v.estimatesFigure(), v.levelsFigure("chart-answer")}
}

// levels returns throughput and latency of every operation, unless the answer has them.
func (v view) levels() []document.Block {
	if !v.several() {
		return nil
	}
	return v.eachOperation(func(f view) []document.Block {
		if f := f.levelsFigure(""); len(f.Drawings) > 0 {
			return []document.Block{document.OnPages(f)}
		}
		return nil
	})
}

// levelsFigure returns the throughput and latency of one operation. It is empty if nothing was measured.
func (v view) levelsFigure(id string) document.Figure {
	f := document.Figure{ID: id, Grid: true}
	if d := v.throughputChart(); d != "" {
		f.Drawings = append(f.Drawings, document.Drawing{Name: say.Sentence(v.speedName()), SVG: d})
		f.Caption = fmt.Sprintf("Bars: the typical trial. The line across a bar’s end is the %s interval of its difference from %s; "+
			"one without an end goes on.", v.confidence(), v.Plan.Baseline)
	}
	if d := v.latencyChart(); d != "" {
		latency := document.Drawing{Name: "Latency of an operation", LegendOf: say.Joined(" ", "Shapes of the latencies", v.Name), SVG: d}
		for k, name := range latencyNames {
			latency.Legend = append(latency.Legend,
				document.Swatch{Name: name, Icon: chart.Swatch(fmt.Sprintf("l%d", k), fmt.Sprintf("mk%d", k))})
		}
		f.Drawings = append(f.Drawings, latency)
		f.Caption = say.Joined(" ", f.Caption, "Latency: what 50 %, 99 % and 99.9 % of all operations in the measured windows stay within.")
	}
	return f
}

// byTime reports whether a layout's value is the time of one operation, for which lower is better.
func (v view) byTime() bool { return v.Timed() || v.each() }

func (v view) speedName() string {
	if v.byTime() {
		return "time"
	}
	return "throughput"
}

// throughputChart returns bars of the throughput of the layouts' typical trials, starting at zero. It is empty if no
// throughput is known.
func (v view) throughputChart() template.HTML {
	base := nan
	if v.Base >= 0 {
		base = v.levelOf(v.Rows[v.Base].Typical)
	}
	var bars []chart.Bar
	for _, r := range v.Rows {
		level := v.levelOf(r.Typical)
		if !say.Known(level) || level <= 0 {
			continue
		}
		of := ""
		if !r.Baseline && r.Judged && say.Known(r.Estimate.Effect) {
			of = say.Difference(r.Estimate.Effect)
		}
		b := chart.Bar{Name: r.Name, Label: say.Joined(" · ", v.speedText(r), of, r.markText()), Lo: nan, Hi: nan,
			Parts: []chart.Segment{{Length: level, Classes: []string{"c-" + r.markClass()},
				Tip: say.Joined(": ", r.Name, say.Joined(", ", v.speedText(r), r.differenceText()))}}}
		if e := r.Estimate; r.Judged && !r.Baseline && say.Known(e.Lo) && say.Known(e.Hi) && !say.Unresolvable(e.Lo, e.Hi) {
			b.Lo, b.Hi = base*math.Exp(e.Lo), base*math.Exp(e.Hi)
			if v.each() { // the estimate is a speed
				b.Lo, b.Hi = base*math.Exp(-e.Hi), base*math.Exp(-e.Lo)
			}
		}
		bars = append(bars, b)
	}
	if len(bars) == 0 {
		return ""
	}
	axes := chart.Axes{Over: v.speedName() + ", " + v.unitRate(), Number: chart.Brief}
	if v.byTime() {
		axes = chart.Axes{Over: "time of one", Number: seconds}
	}
	return chart.Bars(bars, 16, axes, say.Sentence(v.speedName())+
		" of the layouts’ typical trials, with intervals; the table below has the numbers.")
}

// levelOf returns a speed in the chart's unit: unchanged, or as the time of one operation in seconds.
func (v view) levelOf(speed float64) float64 {
	if v.byTime() {
		return 1 / speed
	}
	return speed
}

var latencyNames = []string{"p50", "p99", "p99.9"}

// latencyChart returns p50, p99 and p99.9 of each layout. It is empty if there were too few operations.
func (v view) latencyChart() template.HTML {
	var rows []chart.Span
	for _, r := range v.Rows {
		if r.Latency == nil {
			continue
		}
		l := *r.Latency
		s := chart.Span{Name: r.Name, Label: say.Joined(" · ", say.Human(l.P50), say.Human(l.P99), say.Human(l.P999))}
		for k, d := range []time.Duration{l.P50, l.P99, l.P999} {
			s.Values = append(s.Values, max(d, time.Microsecond).Seconds())
			s.Tips = append(s.Tips, fmt.Sprintf("%s: %s %s", r.Name, latencyNames[k], say.Human(d)))
		}
		slices.Sort(s.Values)
		rows = append(rows, s)
	}
	if len(rows) == 0 {
		return ""
	}
	return chart.Spans(rows, chart.Axes{Over: "latency", Number: seconds},
		"Latency of operations by layout: p50, p99 and p99.9, on a logarithmic scale; the numbers stand at the lines.")
}

// latencies returns the chart's values as a table, for formats without charts.
func (v view) latencies() document.Block {
	var lines []overviewLine
	for _, f := range v.parts {
		name := f.Name
		for _, r := range f.Rows {
			if r.Latency != nil {
				lines = append(lines, overviewLine{operation: name, row: r})
				name = ""
			}
		}
	}
	columns := []document.Of[overviewLine]{
		document.Name("operation", func(l overviewLine) string { return l.operation }),
		document.Words("layout", func(l overviewLine) string { return l.row.Name }),
	}
	for k, name := range latencyNames {
		columns = append(columns, document.Num(name, func(l overviewLine) string {
			return say.Human([]time.Duration{l.row.Latency.P50, l.row.Latency.P99, l.row.Latency.P999}[k])
		}))
	}
	if !v.several() {
		columns = columns[1:]
	}
	const title = "Latency of an operation"
	if len(lines) == 0 {
		return document.OnTerminal()
	}
	return document.Only{In: document.Markdown | document.Terminal,
		Blocks: []document.Block{document.Heading(title), document.Tabulate(document.Table{Caption: title}, lines, columns...)}}
}

// seconds writes a time on an axis.
func seconds(s float64) string {
	if s == 0 {
		return "0"
	}
	return say.Seconds(s)
}

// overTime returns the values of all trials over the time of the run. It is empty if there are fewer than two.
func (v view) overTime() document.Figure {
	f := document.Figure{ID: "chart-run", Legend: v.layoutLegend(), LegendOf: "Layouts over the time of the run",
		Caption: "What each trial did, over the time of the run, pilots and failed ones left out. What all layouts have in common is " +
			"the machine’s."}
	var all []chart.Moment
	for _, t := range v.Trials {
		i := slices.IndexFunc(v.Rows, func(r row) bool { return r.Name == t.Cell.Layout })
		if i < 0 || !t.inBlock() || !say.Known(t.Throughput) || t.Throughput <= 0 || t.Started.IsZero() {
			continue
		}
		all = append(all, chart.Moment{Look: i, At: t.Started.Sub(v.Started).Seconds(), Y: v.levelOf(t.Throughput),
			Tip: fmt.Sprintf("trial %d, block %s, %s: %s %s", t.Number, t.blockText(), t.Cell.Layout, t.throughputText(), v.unitRate())})
	}
	if len(all) < 2 {
		return document.Figure{}
	}
	all = all[max(0, len(all)-mostDots):]
	unit, name := time.Second, "s"
	switch end := all[len(all)-1].At; {
	case end > (2 * time.Hour).Seconds():
		unit, name = time.Hour, "h"
	case end > (2 * time.Minute).Seconds():
		unit, name = time.Minute, "min"
	}
	for i := range all {
		all[i].At /= unit.Seconds()
	}
	axes := chart.Axes{Up: v.speedName() + ", " + v.unitRate(), Over: name + " since the run began", Number: chart.Brief}
	if v.byTime() {
		axes.Up, axes.Number = "time of one", seconds
	}
	f.Drawings = []document.Drawing{{Name: say.Sentence(v.speedName()) + " over the run", SVG: chart.Moments(all, axes,
		say.Sentence(v.speedName())+" of all trials over the time of the run; the table below has the numbers.")}}
	return f
}
