package display

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"filewise"
	"filewise/drive"
	"filewise/experiment"
	"filewise/report"
	"filewise/verdict"
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
	below := []string{x.left(), "Ctrl-C ends it; finished trials are kept."}
	if f := x.forecast(); f != "" {
		below = append([]string{f}, below...)
	}
	for _, l := range fit(x.status(now), x.table(width), below, height-1) {
		l = ansi.Truncate(l, width-1, "…")
		x.picture = append(x.picture, ansi.StringWidth(l))
		b.WriteString(l + ansi.EraseLineRight + "\n")
	}
	b.WriteString(ansi.EraseScreenBelow)
	x.printf("%s", b.String())
}

// forecast says that the blocks planned will not resolve the margin, as soon as
// that is foreseen; empty: nothing of the kind.
func (x *Display) forecast() string {
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
		x.printf("%s\n", f)
	}
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

// table is the table of estimates; it is made anew only after a trial.
func (x *Display) table(width int) []string {
	if x.tableOf != len(x.state.trials) || x.tableWidth != width || x.tableLines == nil {
		d := x.data
		d.Trials, d.Judgement = x.state.trials, x.state.judgement
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

// status says what is running, and its throughput now.
func (x *Display) status(now time.Time) string {
	s := x.state
	if s.waiting != "" {
		return s.waiting
	}
	if s.cell.Layout == "" {
		return "starting"
	}
	what := s.stage
	if s.live != nil && s.stage == filewise.StageMeasure {
		if ph := s.live.Phase(); ph != drive.PhaseIdle && ph != drive.PhaseOver {
			what = ph.String()
		}
	}
	out := fmt.Sprintf("%s · %s: %s", x.place(s.cell), s.cell.Layout, what)
	if s.live != nil {
		if tp := s.live.Throughput(now); tp > 0 {
			out += fmt.Sprintf(" · %s now", report.Rate(tp, x.unit()))
		}
	}
	return out
}

// unit is what a trial does; of several phases that differs from one to the next.
func (x *Display) unit() string {
	if len(x.data.Plan.Phases) > 0 {
		return "operations"
	}
	return "rows"
}

// place is where in the plan a cell lies.
func place(c filewise.Cell, j experiment.Judgement) string {
	if c.Pilot {
		return "pilot"
	}
	return fmt.Sprintf("block %d of at most %d", c.Block, j.Schedule.MaxBlocks)
}

// place is where in the plan a cell lies; an article's own design has runs of a
// layout, one after the other, instead of blocks.
func (x *Display) place(c filewise.Cell) string {
	if a := x.data.Plan.AsPublished; a != nil {
		return fmt.Sprintf("run %d of %d", c.Block, a.Repeats)
	}
	return place(c, x.state.judgement)
}

// left says how much is done and how long it may still take.
func (x *Display) left() string {
	p, j := x.data.Plan, x.state.judgement
	if p.AsPublished != nil {
		return x.leftOfDesign()
	}
	out := fmt.Sprintf("%d blocks done", j.Result.Blocks)
	if j.Result.Blocks < verdict.FirstLook {
		out += fmt.Sprintf(", intervals from block %d on", verdict.FirstLook)
	}
	most := time.Duration(0)
	if j.Schedule.TrialTime > 0 {
		live := 0
		for _, alive := range j.Result.Live() {
			if alive {
				live++
			}
		}
		most = time.Duration(max(0, j.Schedule.MaxBlocks-j.Result.Blocks)*live) * j.Schedule.TrialTime
	}
	if p.Budget > 0 && (most == 0 || most > p.Budget-j.Elapsed) {
		most = max(0, p.Budget-j.Elapsed)
	}
	if most > 0 {
		out += fmt.Sprintf("; at most about %v left", most.Round(time.Second))
	}
	return out
}

// leftOfDesign says how much of an article's design is done.
func (x *Display) leftOfDesign() string {
	all, done := len(x.data.Plan.Trials()), 0
	for _, t := range x.state.trials {
		if t.State == filewise.Done {
			done++
		}
	}
	out := fmt.Sprintf("%d of %d runs done", done, all)
	if t := x.state.judgement.Schedule.TrialTime; t > 0 && done < all {
		out += fmt.Sprintf("; about %v left", (time.Duration(all-done) * t).Round(time.Second))
	}
	return out
}

// recorded is the line for a finished trial where there is no live picture.
func (x *Display) recorded(t filewise.Trial) string {
	out := fmt.Sprintf("%s · %s: ", x.place(t.Cell), t.Cell.Layout)
	if t.State == filewise.Failed {
		return out + "failed: " + t.Reason
	}
	out += report.Outcome(x.data.Plan, t)
	if t.Cell.Attempt > 1 {
		out += fmt.Sprintf(" (attempt %d)", t.Cell.Attempt)
	}
	return out
}
