package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"filewise/internal/say"
	"filewise/results/report/document"
)

// layoutColumns returns the columns of the table of layouts, for all formats and for the JSON report. Add new columns
// here.
func (v view) layoutColumns() []document.Of[row] {
	name := document.Name("layout", func(r row) string { return r.Name })
	trials := document.Num("trials", row.trialsText).Raw("", func(r row) float64 { return float64(r.Done) }).Spare(2).
		Only(document.Paper | document.Terminal)
	typical := document.Num(v.unitRate(), row.typicalText).Raw("", func(r row) float64 { return r.Typical }).Spare(1)
	bytes := document.Num(v.Rate.Name, func(r row) string { return v.Rate.Of(r.Bytes) }).Raw("B/s",
		func(r row) float64 { return r.Bytes }).Spare(3).Only(document.Paper | document.Terminal)
	mark := document.Cells("result", row.mark).As("nb")
	means := document.Num("geometric means", row.rawText).Only(document.Markdown)
	pulled := document.Num("down-weighted", row.downWeightedText).Only(document.Markdown)
	slowest := document.Num("slowest trial", row.slowestText).Only(document.Markdown)
	loss := document.Num("worst-case loss", row.worstLossText).Only(document.Paper)
	against := document.Words(v.against(), row.differenceText).As("nb")
	p99 := latencyColumn().Spare(2)
	columns := []document.Of[row]{name, trials, typical, bytes, p99, against, mark, means, pulled, slowest, loss}
	unknown := !slices.ContainsFunc(v.Rows, func(r row) bool { return r.Latency != nil })
	return slices.DeleteFunc(columns, func(c document.Of[row]) bool {
		// For one operation of several, the differences suffice: worst-case loss is left out.
		return unknown && c.Head == p99.Head || c.Head == bytes.Head && (v.Timed() || v.unrated()) || c.Head == loss.Head && v.Name != ""
	})
}

// moreTable returns the columns that do not fit into the page's first table.
func (v view) moreTable() []document.Block {
	table := document.Tabulate(document.Table{Caption: "More about the layouts", Class: "more"}, v.Rows,
		document.Name("layout", func(r row) string { return r.Name }), document.Num("trials", row.trialsText),
		document.Num("geometric means", row.rawText), document.Num("down-weighted", row.downWeightedText),
		document.Num("slowest trial", row.slowestText))
	return []document.Block{table, document.Note("Geometric means: the difference of these over the blocks that both layouts have in " +
		"common, " +
		"with no trial weighted less. Down-weighted: outliers, which count less in the robust fit. Slowest trial: " +
		"against the layout’s typical one.")}
}

func (v view) layoutsCaption() string { return "The layouts, against " + v.Plan.Baseline }

// latencyColumn returns the column with p99, the time within which 99 % of a layout's operations end. Pages have the
// median below it.
func latencyColumn() document.Of[row] {
	return document.Cells("p99", func(r row) document.Cell {
		if r.Latency == nil {
			return document.Cell{Text: r.p99Text(), Value: nan}
		}
		return document.Cell{Text: r.p99Text(), Value: r.Latency.P99.Seconds(),
			Small: []string{"p50 " + say.Human(r.Latency.P50)}}
	}).As("num")
}

// against returns the head of the column of differences: "against 1 file (95 %)".
func (v view) against() string {
	confidence := ""
	if c := v.confidence(); c != say.Absent {
		confidence = say.InBrackets(c)
	}
	if head := "against " + v.Plan.Baseline + confidence; utf8.RuneCountInString(head) <= 26 {
		return head
	}
	return "difference" + confidence
}

// unrated reports whether layouts were measured but none has a rate in bytes, as with queries.
func (v view) unrated() bool {
	measured := false
	for _, r := range v.Rows {
		if say.Known(r.Bytes) {
			return false
		}
		measured = measured || say.Known(r.Typical)
	}
	return measured
}

// mark returns a layout's verdict, and below it the block after which the layout was dropped. A terminal has the latter
// below the table.
func (r row) mark() document.Cell {
	return document.Cell{Mark: r.markText(), Class: r.markClass(), Row: true, Small: []string{r.droppedText()}}
}

// layouts returns the table of the layouts and its footnotes.
func (v view) layouts(caption, class string) []document.Block {
	table := document.Tabulate(document.Table{Caption: caption, Class: class}, v.Rows, v.layoutColumns()...)
	out := []document.Block{document.Everywhere(table)}
	out = append(out, document.Everywhere(notes(v.footnotes()...)...))
	if v.Name == "" {
		out = append(out, onPaper(document.Note("Throughput: the typical trial's. Worst-case loss: no tested layout is faster than the "+
			"one in the row "+
			"by more than this ("+v.confidence()+"); not known of dropped layouts.")))
	}
	if v.Judged {
		out = append(out, onPaper(document.Note("Geometric means: the difference of these over the blocks that both layouts have in common, "+
			"with no trial pulled in.")))
	}
	return out
}

// failedNote returns the number of failed trials, for the terminal, which does not list the trials.
func (v view) failedNote() document.Block {
	if n := v.failures(); n > 0 {
		return document.OnTerminal(notes(say.Count(n, "trial") + " failed; the report lists the reasons.")...)
	}
	return document.OnTerminal()
}

// footnotes returns explanations of unusual numbers in the table. If the run has several operations, most footnotes
// belong to an operation.
func (v view) footnotes() []string {
	if v.several() {
		return []string{v.retriedText()}
	}
	var out []string
	for _, r := range v.Rows {
		if r.Median && say.Known(r.Typical) {
			out = append(out, map[bool]string{true: "Time", false: "Throughput"}[v.Timed()]+
				" is the median of the trials, since there is no verdict.")
			break
		}
	}
	out = append(out, v.dropped(), v.retriedText())
	if n := v.outside(); n > 0 && v.Judged {
		out = append(out, say.Count(n, "trial")+" of a block that is not complete "+isAre(n)+" not in the verdict.")
	}
	return out
}

// outside counts the finished trials that the verdict does not use yet, because their block is incomplete or no interim
// analysis followed. The verdict itself warns of trials in complete blocks after the decision.
func (v view) outside() int {
	n := 0
	for _, t := range v.Trials {
		if t.inBlock() && (!v.Judged || t.Cell.Block > max(v.Analysis.Block, v.of.Result.Blocks)) {
			n++
		}
	}
	return n
}

// dropped lists the layouts that are no longer measured. It is empty if there are none.
func (v view) dropped() string {
	var parts []string
	for _, r := range v.Rows {
		if at := r.Estimate.DroppedAt; at > 0 {
			parts = append(parts, fmt.Sprintf("%s after block %d", r.Name, at))
		}
	}
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return "Dropped because another layout was better: " + parts[0] + ". Its figures are from then."
	}
	return "Dropped because another layout was better: " + strings.Join(parts, ", ") + ". Their figures are from then."
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
