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

// draw replaces the picture on the screen.
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

// bar shows the passed share of the most time that the run may take, and the time left. Empty means it is not known.
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

// forecast gives the resolution within the budget, or that the blocks planned will not resolve the margin, as soon as
// that is foreseen. Empty means nothing of the kind.
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

// forecastOnce prints a forecast when there is a new one at the end of a block.
func (x *Display) forecastOnce() {
	if f := x.forecast(); f != "" && x.forecasts == "" {
		x.forecasts = f
		x.say(f)
	}
}

// relevanceOnce prints how much of what the pilots measured is about files, before the
// budget is spent on it.
func (x *Display) relevanceOnce() {
	if x.relevance || x.state.cell.Pilot {
		return
	}
	x.relevance = true
	for _, text := range []string{report.Relevance(x.shown()), report.Conditions(x.shown())} {
		if text != "" {
			x.erase()
			x.say(text)
		}
	}
}

// say prints a paragraph, wrapped if there is a terminal, drawn on or not.
func (x *Display) say(text string) {
	text = document.Clean(text)
	if x.opts.Size != nil {
		if width, _ := x.opts.Size(); width > 0 {
			text = ansi.Wrap(text, width, "")
		}
	}
	x.printf("%s\n", text)
}

// whole breaks sentences that are longer than a line, if there is room for all of it.
func whole(sentences []string, width, most int) []string {
	for i, s := range sentences {
		sentences[i] = document.Clean(s)
	}
	if wrapped := strings.Split(ansi.Wrap(strings.Join(sentences, "\n"), width, ""), "\n"); len(wrapped) <= most {
		return wrapped
	}
	return sentences
}

// fit makes a picture of at most so many lines: what scrolls off the screen can
// never be drawn over.
func fit(status string, table, below []string, most int) []string {
	room := most - 1 - len(below)
	switch {
	case room <= 0:
		return append([]string{status}, below...)[:max(1, most)]
	case len(table) > room:
		table = append(table[:room-1:room-1], fmt.Sprintf("… %d lines more", len(table)-room+1))
	}
	return slices.Concat([]string{status}, table, below)
}

// table returns the table of estimates; it is made again only after a trial.
func (x *Display) table(width int) []string {
	if x.tableOf != len(x.state.trials) || x.tableWidth != width || x.tableLines == nil {
		d := x.shown()
		text := report.Table(d, report.TerminalOptions{Color: x.opts.Color, Width: width})
		x.tableOf, x.tableWidth, x.tableLines = len(d.Trials), width, strings.Split(strings.TrimRight(text, "\n"), "\n")
	}
	return x.tableLines
}

// back moves the cursor to the first line of the picture. In a terminal that has
// become narrower its lines take more rows.
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

// status describes the running work, and its throughput now.
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

// unit returns the unit of a trial's work; of several phases that differs from one to the next.
func (x *Display) unit() string {
	if len(x.data.Plan.Phases) > 0 {
		return "operations"
	}
	return "rows"
}

// shown returns the run's data as known now.
func (x *Display) shown() report.Data {
	d := x.data
	d.Trials, d.Judgement = x.state.trials, x.state.judgement
	return d
}
