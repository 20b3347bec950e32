package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// Headline returns the verdict of a run in one line, over all operations.
func Headline(d Data) string { return newView(d).Headline() }

// Verdict returns the headline and the latency loss of the layout to use. This text is stored, listed and sent as the
// verdict.
func Verdict(d Data) string { return say.Joined(" ", Headline(d), d.Judgement.LatencyLoss()) }

// Relevance returns the share of the measurement so far that is about files. It is empty if that is not known.
func Relevance(d Data) string { return newView(d).relevance() }

// Chart is a drawing of a report. All texts in its markup are escaped.
type Chart struct {
	Name    string        `json:"name"`
	SVG     template.HTML `json:"svg"`
	Caption string        `json:"caption"`
}

// Charts returns the charts of the first operation of a run in progress, as the run's report will have them. The first
// chart has the shapes that the others refer to.
func Charts(d Data) []Chart {
	v := newView(d).parts[0]
	out := []Chart{{SVG: template.HTML(chart.Shapes)}}
	for _, f := range []document.Figure{v.overTime(), v.levelsFigure(""), v.estimatesFigure()} {
		for i, drawing := range f.Drawings {
			c := Chart{Name: drawing.Name, SVG: drawing.SVG}
			for _, s := range slices.Concat(f.Legend, drawing.Legend) {
				c.SVG += template.HTML("<span>") + s.Icon + template.HTML(" "+template.HTMLEscapeString(s.Name)+"</span> ")
			}
			if i == len(f.Drawings)-1 {
				c.Caption = f.Caption
			}
			out = append(out, c)
		}
	}
	return out
}

// Table returns only the table of the layouts, for a display that shows it during the run.
func Table(d Data, opts TerminalOptions) string { return document.Print(opts, newView(d).live()...) }

// Rate writes a throughput with its unit: "20,100 rows/s".
func Rate(perSecond float64, unit string) string {
	return say.Sig3(perSecond) + " " + unit + "/s"
}

// Measured writes the result of a measure: "20,100 rows/s", "recovery 230 ms".
func Measured(m filewise.Measure) string {
	if m.Unit == filewise.UnitTimes {
		return m.Operation + " " + say.Human(m.Window[1]-m.Window[0])
	}
	return Rate(m.Throughput(), m.Unit)
}

// shown is the number of measures in a trial's line.
const shown = 2

// Outcome writes a trial's result in a line: the mean over all operations if the plan has one, otherwise its measures. If
// there are more than three measures, it writes the first two and their number.
func Outcome(p experiment.Plan, t filewise.Trial) string {
	if m, ok := p.OverallMeasure(t); ok {
		return fmt.Sprintf("%s over all %d operations", Measured(m), len(t.Measures))
	}
	named := len(t.Measures) > 1
	var parts []string
	for i, m := range t.Measures {
		if i == shown && len(t.Measures) > shown+1 {
			parts = append(parts, fmt.Sprintf("… (%d in all)", len(t.Measures)))
			break
		}
		parts = append(parts, measured(m, named))
	}
	return strings.Join(parts, ", ")
}

// measured writes a measure's result, with the operation's name if there are several operations.
func measured(m filewise.Measure, named bool) string {
	switch {
	case !named || m.Unit == filewise.UnitTimes:
		return Measured(m)
	case m.Work == 1: // one whole operation, such as a backup
		return m.Operation + " " + say.Human(m.Window[1]-m.Window[0])
	}
	return m.Operation + " " + Measured(m)
}

// Place returns a cell's place in the plan. An article's own design has runs of a layout, one after the other, instead
// of blocks.
func Place(d Data, c filewise.Cell) string {
	switch a := d.Plan.AsPublished; {
	case a != nil:
		return fmt.Sprintf("run %d of %d", c.Block, a.Repeats)
	case c.Pilot:
		return "pilot"
	}
	return fmt.Sprintf("block %d of at most %d", c.Block, d.Judgement.Schedule.MaxBlocks)
}

// Left returns the progress, and the time that may be left.
func Left(d Data) string {
	out := Finished(d)
	if most := TimeLeft(d); most > 0 {
		out += fmt.Sprintf("; at most about %s left", say.Human(most.Round(time.Second)))
	}
	return out
}

// Finished returns the progress.
func Finished(d Data) string {
	if d.Plan.AsPublished != nil {
		all, done := runsOfDesign(d)
		return fmt.Sprintf("%d of %d runs done", done, all)
	}
	j := d.Judgement
	out := say.Count(j.First().Result.Blocks, "block") + " done"
	if r := j.First().Result; r.Blocks < r.FirstClaim() {
		out += fmt.Sprintf(", intervals from block %d on", r.FirstClaim())
	}
	return out
}

// TimeLeft returns the longest time that the remaining trials may take. 0 means not known.
func TimeLeft(d Data) time.Duration {
	p, j := d.Plan, d.Judgement
	most, trial := time.Duration(0), j.Schedule.TrialTime
	switch {
	case p.AsPublished != nil:
		all, done := runsOfDesign(d)
		return time.Duration(all-done) * trial
	case trial > 0:
		live := 0
		for _, alive := range j.First().Result.Live() {
			if alive {
				live++
			}
		}
		most = time.Duration(max(0, j.Schedule.MaxBlocks-j.First().Result.Blocks)*live) * trial
	}
	if p.Budget > 0 && (most == 0 || most > p.Budget-j.Elapsed) {
		most = max(0, p.Budget-j.Elapsed)
	}
	return most
}

// runsOfDesign counts all runs of an article's design, and the finished ones.
func runsOfDesign(d Data) (all, done int) {
	for _, t := range d.Trials {
		if t.State == filewise.Done {
			done++
		}
	}
	return len(d.Plan.Trials()), done
}

// Recorded returns the line about a finished trial.
func Recorded(d Data, t filewise.Trial) string {
	out := fmt.Sprintf("%s · %s: ", Place(d, t.Cell), t.Cell.Layout)
	if t.State == filewise.Failed {
		return out + "failed: " + t.Reason
	}
	out += Outcome(d.Plan, t)
	if t.Cell.Attempt > 1 {
		out += fmt.Sprintf(" (attempt %d)", t.Cell.Attempt)
	}
	return out
}

// Operations returns the outcomes of all operations, at least one. If there is an overall operation, it comes first.
func Operations(d Data) []OperationDoc { return newView(d).operationDocs() }
