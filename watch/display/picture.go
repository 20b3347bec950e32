package display

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"filewise/internal/progress"
	"filewise/internal/say"
	"filewise/lab/verdict"
	"filewise/results/report"
	"filewise/results/report/document"
)

func (x *Display) headline() string {
	p := x.data.Plan
	return fmt.Sprintf("Run %d: %s on %s, durability %s, %d layouts, seed %d", x.data.RunID, p.Scenario, p.Target.Engine,
		p.Target.Durability, len(p.Layouts), p.Seed)
}

// draw replaces the picture on the screen by a new one.
func (x *Display) draw(now time.Time) {
	width, height := x.opts.size()
	var b strings.Builder
	b.WriteString(x.back(width))
	x.picture = x.picture[:0]
	below := []string{report.Left(x.shown()), "Ctrl-C ends it; finished trials are kept."}
	if bar := x.bar(now, width); bar != "" {
		below = []string{bar, below[1] + " " + report.Finished(x.shown()) + "."}
	}
	if f := x.forecast(); f != "" {
		below = append([]string{f}, below...)
	}
	for _, l := range fit(document.Clean(x.status(now)), x.table(width), whole(below, width-1, height-2-len(x.table(width))), height-1) {
		l = ansi.Truncate(l, width-1, "…")
		x.picture = append(x.picture, ansi.StringWidth(l))
		b.WriteString(l + ansi.EraseLineRight + "\n")
	}
	b.WriteString(ansi.EraseScreenBelow)
	x.printf("%s", b.String())
}

// bar shows the elapsed share of the longest time that the run may take, and the time left. It is empty if that is not
// known.
func (x *Display) bar(now time.Time, width int) string {
	left, over := report.TimeLeft(x.shown()), x.state.judgement.Elapsed
	if left <= 0 {
		return ""
	}
	if x.state.waiting == "" {
		spent := min(now.Sub(x.state.since), left)
		left, over = left-spent, over+spent
	}
	cells := min(width-36, 40)
	if cells < 10 {
		return ""
	}
	done := float64(over) / float64(over+left)
	return fmt.Sprintf("%s %3.0f %%, at most %s left", progress.Bar(done, cells), 100*done,
		say.Human(left.Round(time.Second)))
}

// forecast returns the forecast of the resolution within the budget, or the warning that the planned blocks will not
// resolve the margin. It is empty until either is known.
func (x *Display) forecast() string {
	if f := x.state.judgement.Forecast; f != nil {
		return f.Sentence
	}
	for _, w := range x.state.judgement.Warnings {
		if w.Code == verdict.WarnBudget {
			return w.Message
		}
	}
	return ""
}

// forecastOnce prints the forecast if it has changed at the end of a block.
func (x *Display) forecastOnce() {
	if f := x.forecast(); f != "" && x.forecasts == "" {
		x.forecasts = f
		x.say(f)
	}
}

// relevanceOnce prints the share of the pilots' measurement that is about files, before the budget is spent.
func (x *Display) relevanceOnce() {
	if x.relevance || x.state.cell.Pilot {
		return
	}
	x.relevance = true
	for _, text := range []string{report.Relevance(x.shown()), report.Conditions(x.shown()), report.WritesAhead(x.shown())} {
		if text != "" {
			x.erase()
			x.say(text)
		}
	}
}

// say prints a paragraph. It wraps the text if the width of the terminal is known, whether or not pictures are drawn.
func (x *Display) say(text string) {
	text = document.Clean(text)
	if x.opts.Size != nil {
		if width, _ := x.opts.Size(); width > 0 {
			text = ansi.Wrap(text, width, "")
		}
	}
	x.printf("%s\n", text)
}

// whole wraps sentences that are longer than a line, unless that takes more than most lines.
func whole(sentences []string, width, most int) []string {
	for i, s := range sentences {
		sentences[i] = document.Clean(s)
	}
	if wrapped := strings.Split(ansi.Wrap(strings.Join(sentences, "\n"), width, ""), "\n"); len(wrapped) <= most {
		return wrapped
	}
	return sentences
}

// fit returns a picture of at most most lines. Lines that scroll off the screen could not be replaced any more.
func fit(status string, table, below []string, most int) []string {
	space := most - 1 - len(below)
	switch {
	case space <= 0:
		return append([]string{status}, below...)[:max(1, most)]
	case len(table) > space:
		table = append(table[:space-1:space-1], fmt.Sprintf("… %d lines more", len(table)-space+1))
	}
	return slices.Concat([]string{status}, table, below)
}

// table returns the table of estimates. It is made again only after a trial.
func (x *Display) table(width int) []string {
	if x.tableOf != len(x.state.trials) || x.tableWidth != width || x.tableLines == nil {
		d := x.shown()
		text := report.Table(d, report.TerminalOptions{Color: x.opts.Color, Width: width})
		x.tableOf, x.tableWidth, x.tableLines = len(d.Trials), width, strings.Split(strings.TrimRight(text, "\n"), "\n")
	}
	return x.tableLines
}

// back returns the codes that move the cursor to the picture's first line. If the terminal has become narrower, the
// picture's lines take more rows.
func (x *Display) back(width int) string {
	rows := 0
	for _, w := range x.picture {
		rows += max(1, (w+width-1)/width)
	}
	if rows == 0 {
		return ""
	}
	return ansi.CursorUp(rows) + "\r"
}

func (x *Display) erase() {
	if len(x.picture) > 0 {
		width, _ := x.opts.size()
		x.printf("%s%s", x.back(width), ansi.EraseScreenBelow)
		x.picture = nil
	}
}

// status returns what the run is doing, and the throughput now.
func (x *Display) status(now time.Time) string {
	s := x.state
	if s.waiting != "" {
		return s.waiting
	}
	out := "starting"
	if s.cell.Layout != "" {
		out = fmt.Sprintf("%s · %s: %s", report.Place(x.shown(), s.cell), s.cell.Layout, s.live.Stage(s.stage))
	}
	if s.live != nil {
		if tp := s.live.Throughput(now); tp > 0 {
			out += fmt.Sprintf(" · %s now", report.Rate(tp, x.unit()))
		}
	}
	if step := x.opts.Board.Text(now); step != "" {
		out += " · " + step
	}
	return out
}

// unit returns the unit of a trial's work. If a trial has several phases, the unit may change between them.
func (x *Display) unit() string {
	if len(x.data.Plan.Phases) > 0 {
		return "operations"
	}
	return "rows"
}

// shown returns the run's data with the state known now.
func (x *Display) shown() report.Data {
	d := x.data
	d.Trials, d.Judgement = x.state.trials, x.state.judgement
	return d
}
