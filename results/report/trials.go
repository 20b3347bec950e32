package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// everyTrial returns all trials in the order in which they ran, as a drawing and as a list, and the figures from within
// and after their windows.
func (v view) everyTrial() []document.Block {
	if len(v.Trials) == 0 {
		return []document.Block{document.OnPages(document.Text("No trial is stored yet."))}
	}
	out := []document.Block{v.overTime(), v.timelineFigure(), v.runParts()}
	if noted := v.noted(); len(noted) > 0 {
		list := document.Tabulate(document.Table{Caption: v.notedNote(), Class: "long"}, noted, v.trialColumns()...)
		out = append(out, document.Fold{Summary: "The trials in numbers", Print: true, Blocks: []document.Block{list}})
	}
	out = append(append(out, v.within()...), v.afterwards()...)
	return append(out, v.counterTable()...)
}

// trialColumns returns the columns of the list of trials.
func (v view) trialColumns() []document.Of[trial] {
	return []document.Of[trial]{
		document.Name("no.", func(t trial) string { return fmt.Sprint(t.Number) }).As("num"),
		document.Words("block", trial.blockText).As("nb"),
		document.Words("layout", func(t trial) string { return t.Cell.Layout }).As("nb"),
		document.Num(v.unitRate(), trial.throughputText).Raw("", func(t trial) float64 { return t.Throughput }),
		document.Num("against the layout’s typical trial", trial.deviationText),
		document.Words("started", trial.startedText).As("nb"),
		document.Num("took", trial.tookText),
		document.Words("note", trial.noteText).As("words"),
	}
}

func (v view) timelineFigure() document.Figure {
	drawn := v.timeline()
	if drawn == "" {
		return document.Figure{}
	}
	f := document.Figure{ID: "chart-trials", LegendOf: "Shapes of the trials", Caption: v.timelineNote(),
		Drawings: []document.Drawing{{SVG: drawn}}}
	for _, s := range []struct {
		of   kind
		name string
	}{{kindDone, "trial"}, {kindDownWeighted, "down-weighted"}, {kindPilot, "pilot, no part of the verdict"}, {kindFailed, "failed"}} {
		if !v.bulky() || s.of == kindFailed {
			f.Legend = append(f.Legend, document.Swatch{Name: s.name, Icon: chart.Swatch(string(s.of), string(s.of))})
		}
	}
	return f
}

// afterwards returns the times after the windows, and the times of single calls. It returns nothing if no trial is
// finished.
func (v view) afterwards() []document.Block {
	measured := false
	for _, r := range v.Rows {
		measured = measured || r.Tail.Known
	}
	if !measured {
		return nil
	}
	columns := []document.Of[row]{document.Name("layout", func(r row) string { return r.Name })}
	if slices.ContainsFunc(v.Rows, func(r row) bool { return say.Known(r.Window) }) {
		columns = append(columns, document.Num("rate within the window", v.windowText))
	}
	columns = append(columns,
		document.Words("tail of the slowest connection", func(r row) string { return r.Tail.String() }).As("nb"),
		document.Words("from then until durable", func(r row) string { return r.Sync.String() }).As("nb"),
		document.Num("p50 of calls", func(r row) string { return r.Calls.text(50) }),
		document.Num("p99 of calls", func(r row) string { return r.Calls.text(99) }),
		document.Num("longest call", func(r row) string { return r.Calls.text(100) }))
	table := document.Tabulate(document.Table{Caption: "Median over the trials (largest in brackets)"}, v.Rows, columns...)
	return []document.Block{document.Heading("After the window, and single calls"), table}
}

// windowText returns the rate within the windows. It is empty if the verdict judges by that rate.
func (v view) windowText(r row) string {
	if !say.Known(r.Window) {
		return ""
	}
	return Rate(r.Window, v.Unit)
}

const (
	mostDots  = 600 // most trials drawn and listed one by one
	mostNoted = 100 // most peculiar trials listed if there are more
)

// bulky reports whether there are too many trials to show each one.
func (v view) bulky() bool { return len(v.Trials) > mostDots }

// noted returns the trials to list: all, or only the peculiar ones if there are many.
func (v view) noted() []trial {
	if !v.bulky() {
		return v.Trials
	}
	var out []trial
	for _, t := range v.Trials {
		if t.Kind == kindFailed || t.Kind == kindDownWeighted || len(t.Warnings) > 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b trial) int { return cmp.Compare(rankOf(a.Kind), rankOf(b.Kind)) })
	out = out[:min(mostNoted, len(out))]
	slices.SortFunc(out, func(a, b trial) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// rankOf returns a low rank for trials that a reader must see.
func rankOf(k kind) int {
	switch k {
	case kindFailed:
		return 0
	case kindDownWeighted:
		return 1
	}
	return 2
}

// notedNote explains which trials are listed, and which are left out.
func (v view) notedNote() string {
	if !v.bulky() {
		return "All trials in the order in which they ran"
	}
	return fmt.Sprintf("Of %s, the list has the failed, the down-weighted and those with warnings, %d at most; filewise export %d has "+
		"them all",
		say.Count(len(v.Trials), "trial"), mostNoted, v.RunID)
}

// part holds the results of one layout's trials in one part of a long run.
type part struct {
	blocks, layout string
	speeds         []float64
}

// runParts returns the results in the tenths of a long run. It is empty for a short run.
func (v view) runParts() document.Table {
	if !v.bulky() {
		return document.Table{}
	}
	last := 0
	for _, t := range v.Trials {
		last = max(last, t.Cell.Block)
	}
	step := (last + 9) / 10
	var out []part
	for from := 1; from <= last; from += step {
		for _, r := range v.Rows {
			p := part{blocks: fmt.Sprintf("%d–%d", from, min(from+step-1, last)), layout: r.Name}
			for _, t := range v.Trials {
				if t.Cell.Layout == r.Name && t.Cell.Block >= from && t.Cell.Block < from+step && say.Known(t.Throughput) {
					p.speeds = append(p.speeds, t.Throughput)
				}
			}
			if len(p.speeds) > 0 {
				out = append(out, p)
			}
		}
	}
	at := func(head string, q float64) document.Of[part] {
		return document.Num(head, func(p part) string { return say.Sig3(quantile(p.speeds, q)) })
	}
	return document.Tabulate(document.Table{Caption: "The run in parts: " + v.unitRate(), Class: "long"}, out,
		document.Name("blocks", func(p part) string { return p.blocks }).As("nb"),
		document.Words("layout", func(p part) string { return p.layout }),
		document.Num("trials", func(p part) string { return fmt.Sprint(len(p.speeds)) }),
		at("10 %", 0.1), at("median", 0.5), at("90 %", 0.9), at("slowest", 0))
}

// types returns the latencies by type of operation. It returns nothing if there is only one type. A terminal shows them
// if there is one load level.
func (v view) types() []document.Block {
	all := slices.DeleteFunc(slices.Clone(v.Judgement.Latencies), func(l experiment.Latency) bool { return l.Type == "" })
	if len(all) == 0 {
		return nil
	}
	took := func(head string, of func(experiment.Latency) time.Duration) document.Of[experiment.Latency] {
		return document.Num(head, func(l experiment.Latency) string {
			if l.Count == 0 {
				return say.Absent
			}
			return say.Human(of(l))
		})
	}
	table := document.Tabulate(document.Table{Caption: "Latencies by layout and type"}, all,
		document.Words("operation", func(l experiment.Latency) string { return l.Operation }).Only(document.Paper).As("nb"),
		document.Name("layout", func(l experiment.Latency) string { return l.Layout }),
		document.Words("type", func(l experiment.Latency) string { return l.Type }).As("nb"),
		document.Num("a minute", func(l experiment.Latency) string { return say.Sig3(l.PerMinute) }).Spare(2),
		took("p50", func(l experiment.Latency) time.Duration { return l.P50 }).Spare(1),
		took("p90", func(l experiment.Latency) time.Duration { return l.P90 }).Only(document.Paper),
		took("p99", func(l experiment.Latency) time.Duration { return l.P99 }),
		took("p99.9", func(l experiment.Latency) time.Duration { return l.P999 }).Spare(3),
		took("longest", func(l experiment.Latency) time.Duration { return l.Max }).Only(document.Paper),
		document.Words("failures", func(l experiment.Latency) string { return Failures(l.Errors) }).Only(document.Paper))
	note := "Latencies of all trials in blocks together, from the first try to the commit; of few operations, high percentiles are the " +
		"longest."
	if v.Plan.P99Limit > 0 {
		note += fmt.Sprintf(" A layout whose p99 of any type is above %s is not recommended.", say.Human(v.Plan.P99Limit))
	}
	if v.loads() == nil {
		return []document.Block{document.Everywhere(table), document.Note(note)}
	}
	return []document.Block{table, document.Note(note)}
}
