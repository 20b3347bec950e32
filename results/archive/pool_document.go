package archive

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"filewise/internal/say"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// mostDrawn is the most hosts that a forest plot draws one by one. mostInAnswer is the most that it draws next to the
// answer, so that the plot stays on the first screen.
const mostDrawn, mostInAnswer = 60, 12

func (a Across) document() document.Document {
	d := document.Document{
		Title: "Filewise: " + a.Scenario + " on " + say.Count(len(a.Hosts), "host"), Generator: "Filewise",
		About:    []string{a.Scenario, say.Count(len(a.Hosts), "host"), "against " + a.Baseline},
		Footer:   []string{"Filewise", say.Count(len(a.Hosts), "host")},
		Sections: []document.Section{{ID: "verdict", Blocks: a.verdict()}},
	}
	for i, f := range a.Operations {
		name := f.Operation
		if name == "" {
			name = "Layouts"
		}
		d.Sections = append(d.Sections, document.Section{ID: operationID(i), Name: name,
			Title: say.Sentence(say.Joined(": ", f.Operation, "the layouts against "+a.Baseline)), Blocks: a.operation(i)})
	}
	d.Sections = append(d.Sections, document.Section{ID: "hosts", Name: "Hosts", Title: "The hosts", Blocks: a.hosts()},
		document.Section{ID: "method", Name: "Method", Title: "How this was pooled", Blocks: a.method()})
	return d
}

func operationID(i int) string { return fmt.Sprintf("operation-%d", i+1) }

// verdict returns the first part of a page: the layout that is best on most hosts, and its plot.
func (a Across) verdict() []document.Block {
	var sentences []string
	for _, f := range a.Operations {
		for _, l := range f.Layouts {
			sentences = append(sentences, say.Joined(": ", f.Operation, l.Text))
		}
		if f.Keep > 0 {
			sentences = append(sentences, say.Joined(": ", f.Operation, fmt.Sprintf("%s: to be kept on %d of %s.", a.Baseline, f.Keep,
				say.Count(len(a.Hosts), "host"))))
		}
	}
	out := []document.Block{document.OnPages(document.Line{Class: "kicker", Text: "What " + say.Count(len(a.Hosts),
		"host") + " say together"}),
		document.Everywhere(document.Headline(a.headline()))}
	if f := a.Operations[0]; len(f.Layouts) > 0 {
		out = append(out, document.OnPages(a.forest("chart-answer", f.Layouts[f.leading()], mostInAnswer)))
	}
	out = append(out, document.Everywhere(document.List(sentences)), document.OnPages(a.table(a.Operations[0])))
	for _, left := range a.Left {
		out = append(out, document.Everywhere(document.Notice{Message: left}))
	}
	for _, m := range a.Meant {
		out = append(out, document.Everywhere(document.Notice{Message: "The runs differ, as meant: " + m}))
	}
	return out
}

// headline returns the headline of the first operation. If there is an operation over all operations, it comes first.
func (a Across) headline() string {
	f := a.Operations[0]
	var most AcrossLayout
	if len(f.Layouts) > 0 {
		most = f.Layouts[f.leading()]
	}
	switch {
	case most.Best > f.Keep:
		return fmt.Sprintf("%s is best on %d of %s.", most.Layout, most.Best, say.Count(len(a.Hosts), "host"))
	case f.Keep > 0:
		return fmt.Sprintf("%s is to be kept on %d of %s.", a.Baseline, f.Keep, say.Count(len(a.Hosts), "host"))
	}
	return fmt.Sprintf("No host has a verdict: %s are undecided.", say.Count(len(a.Hosts), "host"))
}

// leading returns the index of the layout that is best on most hosts. If several are, the fastest on average counts.
func (f AcrossOperation) leading() int {
	mean := func(l AcrossLayout) float64 {
		switch {
		case l.Pooled == nil:
			return math.Inf(-1)
		case f.Timed:
			return -l.Pooled.of.Mean
		}
		return l.Pooled.of.Mean
	}
	first := 0
	for i, l := range f.Layouts {
		if cmp.Or(cmp.Compare(l.Best, f.Layouts[first].Best), cmp.Compare(mean(l), mean(f.Layouts[first]))) > 0 {
			first = i
		}
	}
	return first
}

// table returns the table of an operation's layouts.
func (a Across) table(f AcrossOperation) document.Table {
	level := say.Confidence(a.Confidence)
	of := func(text func(AcrossPooled) string) func(AcrossLayout) string {
		return func(l AcrossLayout) string {
			if l.Pooled == nil {
				return say.Absent
			}
			return text(*l.Pooled)
		}
	}
	return document.Tabulate(document.Table{Caption: say.Joined(": ", f.Operation, "The layouts over all hosts"), Class: "main"}, f.Layouts,
		document.Name("layout", func(l AcrossLayout) string { return l.Layout }),
		document.Num("hosts", func(l AcrossLayout) string { return fmt.Sprint(len(l.Effects)) }).Spare(3),
		document.Num("best on", func(l AcrossLayout) string { return fmt.Sprint(l.Best) }),
		document.Num("worse on", func(l AcrossLayout) string { return fmt.Sprint(len(l.Worse)) }),
		document.Num("mean ("+level+" interval)", of(meanText)), document.Num("next host ("+level+")", of(AcrossPooled.next)),
		document.Num("τ", of(AcrossPooled.tauText)).Spare(1), document.Num("I²", of(AcrossPooled.i2Text)).Spare(2))
}

// operation returns an operation's table and the hosts of each layout. A page leaves out what its answer has already.
func (a Across) operation(at int) []document.Block {
	f, level := a.Operations[at], say.Confidence(a.Confidence)
	in := document.Markdown | document.Terminal
	if at > 0 {
		in |= document.HTML
	}
	out := []document.Block{document.Only{In: in, Blocks: []document.Block{a.table(f)}}}
	for i, l := range f.Layouts {
		if at > 0 || i != f.leading() || len(l.Effects) > mostInAnswer {
			out = append(out, document.OnPages(document.Heading(say.Joined(": ", f.Operation, l.Layout+" against "+a.Baseline)),
				a.forest(fmt.Sprintf("%s-%d", operationID(at), i+1), l, mostDrawn)))
		}
		if len(l.Groups) > 0 {
			out = append(out, document.OnTerminal(document.Heading(say.Joined(": ", f.Operation, l.Layout+" by label"))),
				document.Everywhere(l.groups(f.Operation, level)))
		}
		out = append(out, document.Fold{Summary: l.Layout + " on every host", Print: true, Blocks: []document.Block{l.table(f.Operation)}})
	}
	return out
}

func meanText(p AcrossPooled) string {
	return say.Interval(p.of.Mean, p.of.Confidence.Lo, p.of.Confidence.Hi)
}

func (l AcrossLayout) groups(operation, level string) document.Table {
	return document.Tabulate(document.Table{Caption: say.Joined(": ", operation, l.Layout+" by label")}, l.Groups,
		document.Name("label", func(p AcrossPooled) string { return p.Label }),
		document.Num("hosts", func(p AcrossPooled) string { return fmt.Sprint(p.Hosts) }),
		document.Num("mean ("+level+" interval)", meanText), document.Num("next host ("+level+")", AcrossPooled.next),
		document.Num("τ", AcrossPooled.tauText).Spare(1), document.Num("I²", AcrossPooled.i2Text).Spare(2))
}

func (l AcrossLayout) table(operation string) document.Table {
	return document.Tabulate(document.Table{Caption: say.Joined(": ", operation, l.Layout+" host by host")}, l.Effects,
		document.Name("host", func(e AcrossEffect) string { return e.Host }),
		document.Num("difference", func(e AcrossEffect) string { return e.doc.Text }),
		document.Cells("result", func(e AcrossEffect) document.Cell { return document.Cell{Mark: e.Mark, Class: e.doc.Class()} }),
		document.Words("labels", func(e AcrossEffect) string { return strings.Join(e.tags, ", ") }))
}

// drawn returns a mean as a line of a plot. If the mean is not resolvable, it has no place on the scale.
func (p AcrossPooled) drawn() chart.Estimate {
	name := say.Joined(": ", p.Label, "mean of "+say.Count(p.Hosts, "host"))
	return placed(chart.Estimate{Name: name, Class: "c-best", Label: meanText(p), X: p.of.Mean, Lo: p.of.Confidence.Lo,
		Hi: p.of.Confidence.Hi})
}

func placed(e chart.Estimate) chart.Estimate {
	e.Tip, e.Raw = e.Label, math.NaN()
	if say.Unresolvable(e.Lo, e.Hi) {
		e.Label = "not resolvable"
		e.X, e.Lo, e.Hi = math.NaN(), math.NaN(), math.NaN()
	}
	return e
}

// forest draws the difference on each host, unless there are more hosts than most. It also draws the mean, and the
// expected range of the next host.
func (a Across) forest(id string, l AcrossLayout, most int) document.Figure {
	var rows []chart.Estimate
	if len(l.Effects) <= most {
		for _, e := range l.Effects {
			if m, ok := e.doc.Drawn(e.Host); ok {
				rows = append(rows, m)
			}
		}
	}
	pools := slices.Clone(l.Groups)
	if l.Pooled != nil {
		pools = append(pools, *l.Pooled)
	}
	for _, p := range pools {
		rows = append(rows, p.drawn())
	}
	if p := l.Pooled; p != nil && p.next() != say.Absent {
		rows = append(rows, placed(chart.Estimate{Name: "the next host", Class: "c-same", Label: p.next(), X: math.NaN(), Lo: p.of.Next.Lo,
			Hi: p.of.Next.Hi}))
	}
	limits := limitsOf(rows)
	if len(limits) == 0 {
		return document.Figure{}
	}
	wide := max(-slices.Min(limits), slices.Max(limits)) > math.Log(3) // on a scale of percentages the lower half would be a dot
	e := chart.NewEffects(wide, a.Hosts[0].margin, "difference from "+a.Baseline)
	e.Include(limits...)
	label := fmt.Sprintf("%s against %s on every host, with intervals; the table below has the numbers.", l.Layout, a.Baseline)
	caption := fmt.Sprintf("%s against %s: each host's difference with the interval of its verdict, and the random-effects mean.",
		l.Layout, a.Baseline)
	if p := l.Pooled; p != nil && p.next() != say.Absent {
		caption += " The next host's interval is where to expect one more host's difference."
	}
	if len(l.Effects) > most {
		caption += fmt.Sprintf(" %d hosts are too many to be drawn here: they stand below.", len(l.Effects))
	}
	return document.Figure{ID: id, Caption: caption, Drawings: []document.Drawing{{SVG: chart.Dots(rows, e, label)}}}
}

// limitsOf returns the positions on the scale that the lines of a plot take.
func limitsOf(rows []chart.Estimate) []float64 {
	var out []float64
	for _, r := range rows {
		out = append(out, r.X, r.Lo, r.Hi)
	}
	return slices.DeleteFunc(out, func(x float64) bool { return !say.Known(x) })
}

func (a Across) hosts() []document.Block {
	return []document.Block{document.Tabulate(document.Table{Caption: "The hosts and their runs"}, a.Hosts,
		document.Name("host", func(h AcrossHost) string { return h.Name }),
		document.Words("labels", func(h AcrossHost) string { return strings.Join(h.Tags, ", ") }),
		document.Words("run", func(h AcrossHost) string { return h.Run }),
		document.Words("Filewise", func(h AcrossHost) string { return h.version }),
		document.Words("its verdict", func(h AcrossHost) string { return h.Verdict }))}
}

func (a Across) method() []document.Block {
	level := say.Confidence(a.Confidence)
	return []document.Block{document.List([]string{
		"A host counts once, however many trials it has: its effect comes from its verdict, with its standard error, on the logarithm. " +
			"“Best” and “worse” come from its verdict.",
		"The mean comes from a random-effects model: hosts differ from each other by a normal distribution whose standard deviation τ is " +
			"estimated by restricted maximum likelihood (REML). Its " + level + " interval is by Hartung and Knapp, never narrower than the " +
			"plain one.",
		"I² is the share of the estimates' variance that is difference between hosts, and not error of measurement.",
		"The " + level + " prediction interval is where the effect of one further host of the same kind is expected. It is averaged " +
			"over what τ may be (confidence distribution), because few hosts hardly determine it; of two hosts there is none.",
		fmt.Sprintf("Labels are pooled by themselves where at least two of a key have %d hosts or more. They were not assigned at random: "+
			"what else differs between these hosts is in the difference.", leastOfGroup),
	})}
}
