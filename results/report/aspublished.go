package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/results/report/document"
)

// asPublished holds the article's kind of result next to the sound verdict.
type asPublished struct {
	Scale   string      `json:"scale"`
	Words   string      `json:"design"`  // the article's design
	Differs []string    `json:"differs"` // deviations from the article
	Average string      `json:"average"` // how runs are averaged
	Tables  []runsTable `json:"tables"`
	Verdict string      `json:"verdict"`          // what both results have in common
	Weaker  string      `json:"weaker,omitempty"` // why the sound verdict is weaker than usual
}

// runsTable holds the article's kind of table for one operation.
type runsTable struct {
	Operation string    `json:"family,omitempty"`
	Rows      []runsRow `json:"layouts"`
	Note      string    `json:"note"` // where the averages and the sound verdict differ or agree
}

type runsRow struct {
	Layout    string `json:"layout"`
	Runs      string `json:"runs"`
	Average   string `json:"average_time,omitempty"`
	Rate      string `json:"average_throughput,omitempty"` // if a run has a time window instead of fixed work
	Against   string `json:"against_baseline"`
	Best      bool   `json:"best"` // the best layout by the averages
	Sound     string `json:"sound"`
	operation string
}

// besidePublished returns the article's design and its kind of result. Nil means the run has another design.
func (v view) besidePublished() *asPublished {
	a := v.Plan.AsPublished
	if a == nil {
		return nil
	}
	out := &asPublished{Scale: strconv.FormatFloat(a.Scale, 'g', 4, 64), Average: averageWords(*a)}
	if sc := v.Scenario.On(v.Plan.Target.Engine); sc.Design != nil {
		out.Words, out.Differs = sc.Design.Words, sc.DiffersHere(v.Plan.Layouts, a.Scale, v.Plan.Command)
		out.Differs = append(out.Differs, v.grown()...)
	}
	if v.windowed() {
		out.Average += fmt.Sprintf(" Throughput was measured in a window of %s.", say.Human(v.Scenario.Design.Window))
	}
	var differ, open []string
	for _, f := range v.parts {
		if f.hasOverall() { // the articles have no overall operation
			continue
		}
		t, best := f.runs(*a)
		out.Tables = append(out.Tables, t)
		switch r := f.recommended(); {
		case r == nil && best != "":
			open = append(open, f.Name)
		case r != nil && r.Name != best:
			differ = append(differ, f.Name)
		}
	}
	out.Verdict, out.Weaker = compared(*a, differ, open, len(out.Tables)), weakerWords(*a)
	if len(out.Tables) == 1 && out.Weaker != "" {
		out.Verdict += " " + out.Tables[0].Note
	}
	return out
}

// asPublished shows the article's kind of result. A terminal shows all operations in one table.
func (v view) asPublished() []document.Block {
	a := v.besidePublished()
	if a == nil {
		return nil
	}
	intro := append([]string{fmt.Sprintf("Scale %s (1 is the original's size). %s", a.Scale, a.Words)}, a.Differs...)
	said := []document.Block{document.Text(a.Verdict), document.Text(a.Weaker)}
	out := []document.Block{
		onPaper(append(said, document.List(append(intro, a.Average)))...),
		document.OnTerminal(document.Heading("As published, at scale "+a.Scale), document.Text(a.Average)),
	}
	var all []runsRow
	for _, t := range a.Tables {
		caption := say.Sentence(say.Joined(": ", t.Operation, "the article’s kind of table"))
		if t.Note != "" {
			caption += ". " + t.Note
		}
		out = append(out, document.Tabulate(document.Table{Caption: caption}, t.Rows, v.runsColumns()...))
		for _, r := range t.Rows {
			r.operation = t.Operation
			all = append(all, r)
		}
	}
	columns := v.runsColumns()
	if len(a.Tables) > 1 {
		columns = append([]document.Of[runsRow]{document.Words("operation", func(r runsRow) string { return r.operation })}, columns...)
	}
	return append(out, document.OnTerminal(append([]document.Block{document.Tabulate(document.Table{}, all, columns...)}, said...)...))
}

// runsColumns returns the columns of the article's kind of table.
func (v view) runsColumns() []document.Of[runsRow] {
	head := "average time"
	if v.windowed() {
		head = "average throughput"
	}
	return []document.Of[runsRow]{
		document.Name("layout", func(r runsRow) string { return r.Layout }),
		document.Num("runs", func(r runsRow) string { return r.Runs }).Spare(1),
		document.Cells(head, func(r runsRow) document.Cell {
			if r.Best {
				return document.Cell{Text: r.Average + r.Rate + " (best)", Class: "best", Row: true}
			}
			return document.Cell{Text: r.Average + r.Rate}
		}).As("num"),
		document.Words("against the baseline", func(r runsRow) string { return r.Against }).As("nb"),
		document.Words("sound verdict (throughput)", func(r runsRow) string { return r.Sound }).Only(document.Paper),
	}
}

func averageWords(a experiment.AsPublished) string {
	switch {
	case a.Repeats == 1:
		return "Each layout was run once."
	case a.Drop > 0:
		return fmt.Sprintf("Each layout was run %d times; the average is without the %d fastest and the %d slowest runs.", a.Repeats, a.Drop,
			a.Drop)
	}
	return fmt.Sprintf("Each layout was run %d times, and the times are averaged.", a.Repeats)
}

// weakerWords returns the reason why the sound verdict is weaker than usual for trials in an article's order. It is
// empty if there are too few repeats for a sound verdict.
func weakerWords(a experiment.AsPublished) string {
	if a.Repeats < verdict.FirstAnalysis {
		return ""
	}
	return "The sound verdict takes run k of every layout as one block. It is weaker here than usual: the design is not randomised. " +
		"The layouts ran one after the other, so whatever changed during the run (drift) looks like a difference between layouts, " +
		"and no interval covers that."
}

// compared reports where the article's averages and the sound verdict differ. differ lists the operations with another
// verdict, and open the operations without one.
func compared(a experiment.AsPublished, differ, open []string, operations int) string {
	switch {
	case a.Repeats < verdict.FirstAnalysis:
		return fmt.Sprintf("The averages always name a best layout. No sound verdict is possible from this design: it takes %d runs of each "+
			"layout, better in random order, to distinguish a difference between layouts from one between runs.", verdict.FirstAnalysis)
	case len(differ)+len(open) == 0:
		return "The averages and the sound verdict agree on the layout to use."
	case operations == 1 && len(open) == 1:
		return "The averages name a best layout; the sound verdict from the same trials is undecided."
	case operations == 1:
		return "The averages name another best layout than the sound verdict from the same trials."
	}
	var parts []string
	if len(open) > 0 {
		parts = append(parts, fmt.Sprintf("The averages name a best layout where the sound verdict from the same trials is undecided, for %d "+
			"of %d operations: %s.", len(open), operations, operationNames(open)))
	}
	if len(differ) > 0 {
		parts = append(parts, fmt.Sprintf("They name another one than the sound verdict for %d of %d operations: %s.", len(differ), operations,
			operationNames(differ)))
	}
	return strings.Join(parts, " ")
}

// runs returns the article's table of one operation, and the best layout by the averages. An empty layout means there is
// none.
func (v view) runs(a experiment.AsPublished) (runsTable, string) {
	t := runsTable{Operation: v.Name}
	averages := make([]time.Duration, len(v.Rows))
	best, measured := -1, 0
	for i, r := range v.Rows {
		took := v.took(r.Name)
		averages[i] = average(took, a.Drop)
		if averages[i] > 0 {
			measured++
			if best < 0 || averages[i] < averages[best] {
				best = i
			}
		}
		sound := say.Joined("; ", r.differenceText(), notBaseline(r.markText()))
		t.Rows = append(t.Rows, runsRow{Layout: r.Name, Runs: strconv.Itoa(len(took)), Average: say.Absent, Against: say.Absent, Sound: sound})
	}
	if measured < 2 {
		best = -1 // an interrupted run has no layout to compare with
	}
	for i := range t.Rows {
		if averages[i] <= 0 {
			continue
		}
		t.Rows[i].measured(v, averages[i], averages[max(v.Base, 0)])
		t.Rows[i].Best = i == best
	}
	if best < 0 {
		return t, ""
	}
	sound := "undecided"
	if r := v.recommended(); r != nil {
		sound = r.Name
	}
	if a.Repeats < verdict.FirstAnalysis {
		by := "time"
		if v.windowed() {
			by = "throughput"
		}
		t.Note = fmt.Sprintf("Best by its %s: %s.", by, v.Rows[best].Name)
		return t, v.Rows[best].Name
	}
	t.Note = fmt.Sprintf("Best by the averages: %s. Sound verdict: %s.", v.Rows[best].Name, sound)
	return t, v.Rows[best].Name
}

// measured fills in the average time, and its difference from the baseline's. If the design has a time window, it fills
// in the average rate instead.
func (r *runsRow) measured(v view, took, base time.Duration) {
	percent := 100 * (float64(took)/float64(base) - 1)
	of := " % time"
	if r.Average = say.Human(took); v.windowed() {
		rate := workTimed / took.Seconds()
		r.Average, r.Rate, of = "", say.Sig3(rate)+" "+v.unitRate(), " %"
		percent = 100 * (float64(base)/float64(took) - 1)
	}
	switch {
	case v.Base >= 0 && r.Layout == v.Rows[v.Base].Name:
		r.Against = "baseline"
	case v.Base >= 0 && base > 0:
		r.Against = say.Signed(percent) + of
	}
}

// workTimed is the amount of work whose time is averaged if a design fixes the window.
const workTimed = 1000

// windowed reports whether the design fixes a run's time instead of its work.
func (v view) windowed() bool { return v.Scenario.Design != nil && v.Scenario.Design.Window > 0 }

// took returns the measured times of a layout's finished runs, in order. If the design fixes the time, it returns the
// times of workTimed units of work.
func (v view) took(layout string) []time.Duration {
	var out []time.Duration
	for _, t := range v.Trials {
		d := t.Measure.Window[1] - t.Measure.Window[0]
		if v.windowed() && t.Measure.Work > 0 {
			d = time.Duration(min(float64(d)*workTimed/t.Measure.Work, 1<<62))
		}
		if t.Cell.Layout == layout && t.inBlock() && d > 0 {
			out = append(out, d)
		}
	}
	return out
}

// average returns the average time without the fastest and the slowest runs, drop of each, if enough runs remain. 0
// means there are no runs.
func average(took []time.Duration, drop int) time.Duration {
	took = slices.Clone(took)
	slices.Sort(took)
	if len(took) > 2*drop {
		took = took[drop : len(took)-drop]
	}
	if len(took) == 0 {
		return 0
	}
	sum := time.Duration(0)
	for _, d := range took {
		sum += d
	}
	return sum / time.Duration(len(took))
}
