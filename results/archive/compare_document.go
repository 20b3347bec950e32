package archive

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"filewise/internal/say"
	"filewise/results/gate"
	"filewise/results/report"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// Write writes a comparison: as text, Markdown or HTML.
func (c Comparison) Write(w io.Writer, format string, opts document.TerminalOptions) error {
	return document.Write(w, c.document(), format, opts)
}

func (c Comparison) document() document.Document {
	name := c.Name()
	verdict := []document.Block{document.Everywhere(document.Headline(c.Headline())),
		document.Only{In: document.Paper, Blocks: []document.Block{document.Line{Class: "stopped", Text: c.when()}}}}
	var rest []document.Section
	for i, f := range c.Operations {
		for _, s := range []document.Section{c.throughput(fmt.Sprintf("throughput-%d", i+1), f), c.latency(fmt.Sprintf("latency-%d", i+1), f)} {
			if i == 0 { // on a page it is the answer, which is not folded
				verdict = append(verdict, document.OnPages(s.Blocks...))
				s.Blocks = []document.Block{document.Only{In: document.Markdown | document.Terminal, Blocks: s.Blocks}}
			} else {
				s.Blocks = []document.Block{document.Everywhere(s.Blocks...)}
			}
			rest = append(rest, s)
		}
	}
	verdict = append(verdict, document.OnPages(c.otherDifferences()...))
	rest = append(rest, document.Section{ID: "beside", Title: "What else differs", Blocks: []document.Block{
		document.Only{In: document.Markdown | document.Terminal, Blocks: c.otherDifferences()}}})
	tips, words := report.Glossary()
	rest = append(rest,
		document.Section{ID: "runs", Name: "Runs", Title: "The two runs", Blocks: []document.Block{document.OnPages(c.table())}},
		document.Section{ID: "words", Name: "Words", Title: "What the words mean", Blocks: words})
	return document.Document{Title: "Filewise: " + name, Generator: "Filewise", About: []string{name, c.subject()},
		Footer: []string{"Filewise", name}, Terms: tips,
		Sections: append([]document.Section{{ID: "verdict", Blocks: verdict}}, rest...)}
}

// Name returns the subject: "Run 2 (after) against run 1 (before)".
func (c Comparison) Name() string {
	of := func(run int64, name string) string {
		if name == "" {
			return fmt.Sprint(run)
		}
		return fmt.Sprintf("%d (%s)", run, name)
	}
	return "Run " + of(c.After, c.AfterName) + " against run " + of(c.Before, c.BeforeName)
}

// Headline returns the subject, and the result.
func (c Comparison) Headline() string { return say.Joined(" ", c.Name()+": "+c.sum(), c.Few) }

// sum counts the layouts that have changed, in throughput and in p99 if that is known.
func (c Comparison) sum() string {
	var speeds, tails changes
	for _, f := range c.Operations {
		for _, l := range f.Layouts {
			name := c.of(f, l.Layout)
			speeds.add(name, l.change)
			if l.P99Before != nil && l.P99After != nil {
				tails.add(name, l.p99)
			}
		}
	}
	if speeds.all() == 1 {
		l := c.Operations[0].Layouts[0]
		text := fmt.Sprintf("throughput of %s %s", l.Layout, intervalText(l.change))
		if tails.all() > 0 {
			text += ", p99 " + intervalText(l.p99)
		}
		return text + "."
	}
	what := "layouts"
	if len(c.Operations) > 1 {
		what = "results (each layout in each operation),"
	}
	text := fmt.Sprintf("of %d %s %s.", speeds.all(), what, speeds.words("faster", "slower"))
	if tails.all() > 0 {
		text += " p99: " + tails.words("longer", "shorter") + "."
	}
	return text
}

// changes counts layouts by what their intervals prove, and holds the largest proven change in either direction.
type changes struct {
	more, less, open int
	most, least      extreme
}

type extreme struct {
	name   string
	effect float64
}

func (e extreme) String() string { return e.name + ", " + say.Difference(e.effect) }

func (c *changes) add(name string, x gate.Interval) {
	switch {
	case x.Lo > 0:
		c.more++
		if x.Effect > c.most.effect {
			c.most = extreme{name, x.Effect}
		}
	case x.Hi < 0:
		c.less++
		if x.Effect < c.least.effect {
			c.least = extreme{name, x.Effect}
		}
	default:
		c.open++
	}
}

// words returns the counts, and the largest change of each kind: "2 faster (most: 8 files, +6.1 %), 3 without a proven
// change".
func (c changes) words(more, less string) string {
	var out []string
	for _, k := range []struct {
		n    int
		what string
		of   extreme
	}{{c.more, more, c.most}, {c.less, less, c.least}} {
		switch {
		case k.n == 1:
			out = append(out, fmt.Sprintf("1 %s (%v)", k.what, k.of))
		case k.n > 1:
			out = append(out, fmt.Sprintf("%d %s (most: %v)", k.n, k.what, k.of))
		}
	}
	if c.open > 0 {
		out = append(out, fmt.Sprintf("%d without a proven change", c.open))
	}
	return strings.Join(out, ", ")
}

func (c changes) all() int { return c.more + c.less + c.open }

// title returns the title of a section about an operation.
func (c Comparison) title(what string, f OperationChanges) string {
	return c.of(f, what+" before and after")
}

// of adds the operation's name to a sentence if there are several operations.
func (c Comparison) of(f OperationChanges, what string) string {
	if len(c.Operations) == 1 {
		return what
	}
	return f.Operation + ": " + what
}

func (c Comparison) level() string { return strconv.FormatFloat(100*c.Confidence, 'f', -1, 64) + " %" }

var layoutColumn = document.Name("layout", func(l Change) string { return l.Layout })

// throughput returns an operation's section on throughput: a chart of the changes, and one of the values before and after.
func (c Comparison) throughput(id string, f OperationChanges) document.Section {
	effects := chart.NewEffects(false, 0, "change of throughput")
	var changes []chart.Estimate
	var bars []chart.Bar
	for _, l := range f.Layouts {
		if x := l.change; !math.IsNaN(x.Effect) {
			text := intervalText(l.change)
			changes = append(changes, chart.Estimate{Name: l.Layout, Class: "c-" + classOf(x), Label: text, Tip: text, X: x.Effect, Lo: x.Lo,
				Hi: x.Hi, Raw: math.NaN()})
			effects.Include(x.Effect, x.Lo, x.Hi)
		}
		if l.Before != nil && l.After != nil {
			bars = append(bars, bar(l.Layout+", before", *l.Before, number(l.Before), "same"),
				bar(l.Layout+", after", *l.After, number(l.After), classOf(l.change)))
		}
	}
	figure := document.Figure{ID: id + "-chart", Grid: true}
	if len(changes) > 0 {
		figure.Drawings = append(figure.Drawings, document.Drawing{Name: "Change",
			SVG: chart.Dots(changes, effects, "Change of throughput by layout, with intervals; the table below has the numbers.")})
	}
	if len(bars) > 0 {
		figure.Drawings = append(figure.Drawings, document.Drawing{Name: "Before and after", SVG: chart.Bars(bars, 14,
			chart.Axes{Over: f.Unit + "/s", Number: chart.Brief}, "Throughput before and after; the table below has the numbers.")})
	}
	title := c.title("Throughput", f)
	figure.Caption = title + ": changes with their intervals; bars show a typical trial."
	blocks := []document.Block{document.OnPages(figure), document.Tabulate(
		document.Table{Caption: c.of(f, "What a typical trial did, and its change"), Class: "main"}, f.Layouts, layoutColumn,
		document.Num(f.Unit+"/s", func(l Change) string { return arrow(number(l.Before), number(l.After)) }),
		document.Num("change ("+c.level()+")", func(l Change) string { return intervalText(l.change) }),
		document.Num("ratio to the baseline", func(l Change) string { return intervalText(l.relative) }).Spare(1))}
	if note := f.partly(); note != "" {
		blocks = append(blocks, document.Note(note))
	}
	if len(c.Operations) > 1 {
		blocks = append([]document.Block{document.OnTerminal(document.Heading(title))}, blocks...)
	}
	return document.Section{ID: id, Name: title, Title: title, Blocks: blocks}
}

// partly names the layouts whose throughput here differs from the runs' reports: layouts that were dropped, and layouts
// that failed in some blocks.
func (f OperationChanges) partly() string {
	var before, after int
	for _, l := range f.Layouts {
		before, after = max(before, l.TrialsBefore), max(after, l.TrialsAfter)
	}
	var names []string
	for _, l := range f.Layouts {
		if l.TrialsBefore < before || l.TrialsAfter < after {
			names = append(names, l.Layout)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("Not in all blocks: %s. Throughput here is of those that it was in, while a run's report adjusts it to all.",
		say.Enumerate(names))
}

// latency returns an operation's section on latency. The section has no blocks if no latency is known.
func (c Comparison) latency(id string, f OperationChanges) document.Section {
	var bars []chart.Bar
	for _, l := range f.Layouts {
		if l.P99Before != nil && l.P99After != nil {
			bars = append(bars, bar(l.Layout+", before", float64(*l.P99Before), took(l.P99Before), "same"),
				bar(l.Layout+", after", float64(*l.P99After), took(l.P99After), classOf(inverse(l.p99))))
		}
	}
	title, caption := c.title("Latency", f), c.of(f, "Percentiles of latency, and the change of p99")
	if len(bars) == 0 {
		return document.Section{ID: id}
	}
	axes := chart.Axes{Over: "p99", Number: func(ns float64) string { return say.Human(time.Duration(ns)) }}
	return document.Section{ID: id, Name: title, Title: title, Blocks: []document.Block{
		document.OnPages(document.Figure{ID: id + "-chart", Caption: title + ": bars are p99.",
			Drawings: []document.Drawing{{Name: "p99 before and after",
				SVG: chart.Bars(bars, 14, axes,
					"p99 before and after; the table below has the numbers.")}}}),
		document.Tabulate(document.Table{Caption: caption, Class: "main"}, f.Layouts, layoutColumn,
			document.Num("p50", func(l Change) string { return arrow(took(l.P50Before), took(l.P50After)) }),
			document.Num("p99", func(l Change) string { return arrow(took(l.P99Before), took(l.P99After)) }),
			document.Num("p99.9", func(l Change) string { return arrow(took(l.P999Before), took(l.P999After)) }).Spare(1),
			document.Num("change of p99 ("+c.level()+")", func(l Change) string { return intervalText(l.p99) })),
		document.Note("p50, p99 and p99.9 are of all operations; the change of p99 is a typical trial's."),
	}}
}

// classOf returns the colour of a change by what its interval proves. More is better: more throughput, or a higher
// inverse of latency.
func classOf(x gate.Interval) string {
	switch {
	case x.Lo > 0:
		return "good"
	case x.Hi < 0:
		return "worse"
	}
	return "open"
}

func inverse(x gate.Interval) gate.Interval {
	return gate.Interval{Effect: -x.Effect, Lo: -x.Hi, Hi: -x.Lo}
}

func bar(name string, length float64, label, class string) chart.Bar {
	return chart.Bar{Name: name, Label: label, Lo: math.NaN(), Hi: math.NaN(),
		Parts: []chart.Segment{{Length: length, Classes: []string{"c-" + class}, Tip: name + ": " + label}}}
}

// otherDifferences returns the blocks about the runs' other differences, and about the outcomes of conditions.
func (c Comparison) otherDifferences() []document.Block {
	var out []document.Block
	switch n := len(c.Left); {
	case n == 1:
		out = append(out, document.Text(c.Left[0]+" is in one of the runs only."))
	case n > 1:
		out = append(out, document.Text(strings.Join(c.Left[:n-1], ", ")+" and "+c.Left[n-1]+" are in one of the runs only."))
	}
	for _, d := range c.Differences {
		if d.Kind == Warned {
			out = append(out, document.Notice{Message: fmt.Sprintf("The runs also differ in %s: %q, then %q", d.What, d.Before, d.After)})
			continue
		}
		out = append(out, document.Text(fmt.Sprintf("Changed %s: %q, then %q", d.What, d.Before, d.After)))
	}
	out = append(out, document.Note("These changes include whatever else happened to the machine between the runs. Intervals hold over all "+
		"layouts together."))
	for _, o := range c.Gate {
		out = append(out, document.Text(o.Line()))
	}
	return out
}

// arrow returns both values: "18,300 → 19,200". A unit that both have appears once.
func arrow(before, after string) string {
	value, unit, ok := strings.Cut(before, " ")
	if _, same, _ := strings.Cut(after, " "); ok && unit == same {
		before = value
	}
	return before + " → " + after
}

func number(x *float64) string {
	if x == nil {
		return say.Absent
	}
	return say.Sig3(*x)
}

func took(ns *int64) string {
	if ns == nil {
		return say.Absent
	}
	return say.Human(time.Duration(*ns))
}

func intervalText(x gate.Interval) string { return say.Interval(x.Effect, x.Lo, x.Hi) }
