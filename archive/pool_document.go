package archive

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"filewise/internal/say"
	"filewise/report"
	"filewise/report/chart"
	"filewise/report/document"
	"filewise/verdict/stats"
)

// mostDrawn is up to how many hosts a forest plot draws one by one.
const mostDrawn = 60

func (a Across) document() document.Document {
	d := document.Document{
		Title: "Filewise: " + a.Scenario + " on " + say.Count(len(a.Hosts), "host"), Generator: "Filewise",
		About:    []string{a.Scenario, say.Count(len(a.Hosts), "host"), "against " + a.Baseline},
		Footer:   []string{"Filewise", say.Count(len(a.Hosts), "host")},
		Sections: []document.Section{{ID: "verdict", Blocks: a.verdict()}},
	}
	for i, f := range a.Families {
		name := f.Family
		if name == "" {
			name = "Layouts"
		}
		d.Sections = append(d.Sections, document.Section{ID: fmt.Sprintf("family-%d", i+1), Name: name,
			Title: say.Sentence(say.Joined(": ", f.Family, "the layouts against "+a.Baseline)), Blocks: a.family(i, f)})
	}
	d.Sections = append(d.Sections, document.Section{ID: "hosts", Name: "Hosts", Title: "The hosts", Blocks: a.hosts()},
		document.Section{ID: "method", Name: "Method", Title: "How this was pooled", Blocks: a.method()})
	return d
}

// verdict is what a reader sees first: the layout that is best on most hosts.
func (a Across) verdict() []document.Block {
	var sentences []string
	for _, f := range a.Families {
		for _, l := range f.Layouts {
			sentences = append(sentences, say.Joined(": ", f.Family, l.Text))
		}
		if f.Keep > 0 {
			sentences = append(sentences, say.Joined(": ", f.Family, fmt.Sprintf("%s: to be kept on %d of %s.", a.Baseline, f.Keep,
				say.Count(len(a.Hosts), "host"))))
		}
	}
	out := []document.Block{document.OnPages(document.Line{Class: "kicker", Text: "What " + say.Count(len(a.Hosts),
		"host") + " say together"}),
		document.Everywhere(document.Headline(a.headline()), document.List(sentences))}
	if i, _ := a.foremost(); i < len(a.Families[0].Layouts) {
		out = append(out, document.OnPages(a.forest(0, i)))
	}
	for _, left := range a.Left {
		out = append(out, document.Everywhere(document.Notice{Message: left}))
	}
	for _, m := range a.Meant {
		out = append(out, document.Everywhere(document.Notice{Message: "The runs differ, as meant: " + m}))
	}
	return out
}

// headline is of the first family, which is that over all where there is one.
func (a Across) headline() string {
	f := a.Families[0]
	best, most := a.foremost()
	switch {
	case most > f.Keep:
		return fmt.Sprintf("%s is best on %d of %s.", f.Layouts[best].Layout, most, say.Count(len(a.Hosts), "host"))
	case f.Keep > 0:
		return fmt.Sprintf("%s is to be kept on %d of %s.", a.Baseline, f.Keep, say.Count(len(a.Hosts), "host"))
	}
	return fmt.Sprintf("No host has a verdict: %s are undecided.", say.Count(len(a.Hosts), "host"))
}

// foremost is the first family's layout that is best on most hosts, and on how many.
func (a Across) foremost() (at, best int) {
	for i, l := range a.Families[0].Layouts {
		if l.Best > best {
			at, best = i, l.Best
		}
	}
	return at, best
}

// family is the table of its layouts, and each layout's hosts.
func (a Across) family(number int, f AcrossFamily) []document.Block {
	level := say.Confidence(a.Confidence)
	of := func(text func(AcrossPooled) string) func(AcrossLayout) string {
		return func(l AcrossLayout) string {
			if l.Pooled == nil {
				return say.Absent
			}
			return text(*l.Pooled)
		}
	}
	caption := "The layouts over all hosts"
	out := []document.Block{document.Everywhere(document.Tabulate(document.Table{Caption: say.Joined(": ", f.Family, caption), Class: "main"},
		f.Layouts,
		document.Name("layout", func(l AcrossLayout) string { return l.Layout }),
		document.Num("hosts", func(l AcrossLayout) string { return fmt.Sprint(len(l.Effects)) }).Spare(3),
		document.Num("best on", func(l AcrossLayout) string { return fmt.Sprint(l.Best) }),
		document.Num("worse on", func(l AcrossLayout) string { return fmt.Sprint(len(l.Worse)) }),
		document.Num("mean ("+level+" interval)", of(meanText)), document.Num("next host ("+level+")", of(AcrossPooled.next)),
		document.Num("τ", of(AcrossPooled.tauText)).Spare(1), document.Num("I²", of(AcrossPooled.i2Text)).Spare(2)))}
	for i, l := range f.Layouts {
		out = append(out, document.Heading(say.Joined(": ", f.Family, l.Layout+" against "+a.Baseline)))
		if at, _ := a.foremost(); number > 0 || i != at { // that one is with the verdict
			out = append(out, a.forest(number, i))
		}
		if len(l.Groups) > 0 {
			out = append(out, document.OnTerminal(document.Heading(say.Joined(": ", f.Family, l.Layout+" by label"))),
				document.Everywhere(l.groups(f.Family, level)))
		}
		out = append(out, document.Fold{Summary: l.Layout + " on every host", Print: true, Blocks: []document.Block{l.table(f.Family)}})
		if len(l.Unknown) > 0 {
			out = append(out, document.Note("No estimate of "+l.Layout+" has "+say.Enumerate(l.Unknown)+"."))
		}
	}
	return out
}

func meanText(p AcrossPooled) string {
	return say.Interval(p.of.Mean, p.of.Confidence.Lo, p.of.Confidence.Hi)
}

func (l AcrossLayout) groups(family, level string) document.Table {
	return document.Tabulate(document.Table{Caption: say.Joined(": ", family, l.Layout+" by label")}, l.Groups,
		document.Name("label", func(p AcrossPooled) string { return p.Label }),
		document.Num("hosts", func(p AcrossPooled) string { return fmt.Sprint(p.Hosts) }),
		document.Num("mean ("+level+" interval)", meanText), document.Num("next host ("+level+")", AcrossPooled.next),
		document.Num("τ", AcrossPooled.tauText).Spare(1), document.Num("I²", AcrossPooled.i2Text).Spare(2))
}

func (l AcrossLayout) table(family string) document.Table {
	return document.Tabulate(document.Table{Caption: say.Joined(": ", family, l.Layout+" host by host")}, l.Effects,
		document.Name("host", func(e AcrossEffect) string { return e.Host }),
		document.Num("difference", func(e AcrossEffect) string { return e.doc.Text }),
		document.Cells("mark", func(e AcrossEffect) document.Cell { return document.Cell{Mark: e.Mark, Class: e.doc.Class()} }),
		document.Words("labels", func(e AcrossEffect) string { return strings.Join(e.tags, ", ") }))
}

// forest draws each host's difference, the mean, and where the next host's is expected.
func (a Across) forest(family, layout int) document.Figure {
	l := a.Families[family].Layouts[layout]
	var rows []chart.Estimate
	if len(l.Effects) <= mostDrawn {
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
		name := "mean of " + say.Count(p.Hosts, "host")
		if p.Label != "" {
			name = p.Label + ": " + name
		}
		rows = append(rows, pooledRow(name, "c-best", meanText(p), p.of.Mean, p.of.Confidence))
	}
	if p := l.Pooled; p != nil && p.NextLow != nil {
		rows = append(rows, pooledRow("the next host", "c-same", p.next(), math.NaN(), p.of.Next))
	}
	if len(rows) == 0 {
		return document.Figure{}
	}
	e := chart.NewEffects(l.Pooled != nil && l.Pooled.of.Mean >= say.FactorFrom, marginOf(a.Hosts[0].Data), "difference from "+a.Baseline)
	for _, r := range rows {
		e.Include(r.X, r.Lo, r.Hi)
	}
	label := fmt.Sprintf("%s against %s on every host, with intervals; the table below has the numbers.", l.Layout, a.Baseline)
	caption := fmt.Sprintf("%s against %s: of each host the difference with the interval of its own verdict; the random-effects mean; and "+
		"where the difference of the next host is to be expected.", l.Layout, a.Baseline)
	if len(l.Effects) > mostDrawn {
		caption += fmt.Sprintf(" %d hosts are too many to be drawn: the table below has them.", len(l.Effects))
	}
	return document.Figure{ID: fmt.Sprintf("family-%d-%d", family+1, layout+1), Caption: caption, Drawings: []document.Drawing{{SVG: chart.Dots(rows, e, label)}}}
}

// pooledRow is named but not drawn where its interval says nothing: it would widen the scale for all.
func pooledRow(name, class, text string, x float64, within stats.Interval) chart.Estimate {
	e := chart.Estimate{Name: name, Class: class, Label: text, Tip: text, X: x, Lo: within.Lo, Hi: within.Hi, Raw: math.NaN()}
	if say.Unresolvable(within.Lo, within.Hi) {
		e.X, e.Lo, e.Hi = e.Raw, e.Raw, e.Raw
	}
	return e
}

func marginOf(d report.Data) float64 {
	if len(d.Judgement.Families) == 0 {
		return 0
	}
	return d.Judgement.Families[0].Result.Config.Margin
}

func (a Across) hosts() []document.Block {
	return []document.Block{document.Tabulate(document.Table{Caption: "The hosts and their runs"}, a.Hosts,
		document.Name("host", func(h AcrossHost) string { return h.Name }),
		document.Words("labels", func(h AcrossHost) string { return strings.Join(h.Tags, ", ") }),
		document.Words("run", func(h AcrossHost) string { return h.Run }),
		document.Words("its verdict", func(h AcrossHost) string { return h.Verdict }))}
}

func (a Across) method() []document.Block {
	level := say.Confidence(a.Confidence)
	return []document.Block{document.List([]string{
		"A host counts once, however many trials it has: its effect is that of its own verdict, with its standard error, on the logarithm. " +
			"“Best” and “worse” are what its own verdict says.",
		"The mean is that of a random-effects model: hosts differ from each other by a normal distribution whose standard deviation τ is " +
			"estimated by restricted maximum likelihood (REML). Its " + level + " interval is by Hartung and Knapp, never narrower than the " +
			"plain one.",
		"I² is the share of the estimates' variance that is difference between hosts, and not error of measurement.",
		"The " + level + " prediction interval says where the effect of one further host of the same kind is to be expected. It is averaged " +
			"over what τ may be (confidence distribution), because few hosts hardly tell it.",
		fmt.Sprintf("Labels are pooled by themselves where at least two of a key have %d hosts or more. They were not assigned at random: "+
			"what else differs between these hosts is in the difference.", leastOfGroup),
	})}
}
