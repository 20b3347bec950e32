// Package report renders one run for people and programs: for the terminal, as Markdown, JSON, or one self-contained
// HTML file. All come from one document. Everything comes from the stored data; the same data gives the same bytes.
// Values that were not measured are shown as absent, never as zero.
package report

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/gate"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// Data holds one run as it is stored, with its judgement.
type Data struct {
	RunID     int64
	Version   string // of the Filewise that measured
	Started   time.Time
	Ended     time.Time // zero means not ended
	State     string    // the run's state, as the store names it
	Plan      experiment.Plan
	Scenario  workload.Scenario
	Trials    []filewise.Trial // in the order in which they ran
	Judgement experiment.Judgement
	Machine   []filewise.Fact
	Server    []filewise.Fact
	Rejudged  bool // judged by other rules than the run's own
	// Limit is a run that threw the same backups away. Nil means there is none.
	Limit *Data
	// Gate holds the outcomes of the conditions of --fail-if. It is empty if there are no conditions.
	Gate []gate.Outcome
}

// TerminalOptions holds the terminal's abilities.
type TerminalOptions = document.TerminalOptions

// Terminal writes the result for a terminal: the verdict, the table, the split of the time, the warnings with their
// remedies, and the command that shows the report.
func Terminal(w io.Writer, d Data, opts TerminalOptions) error {
	return document.WriteTerminal(w, newView(d).document(), opts)
}

// Markdown writes the run for a ticket or a wiki.
func Markdown(w io.Writer, d Data) error { return document.WriteMarkdown(w, newView(d).document()) }

// HTML writes the run as one file that needs no other file and no network.
func HTML(w io.Writer, d Data) error { return document.WriteHTML(w, newView(d).document()) }

// document returns the whole report. One function, in the file of its subject, builds each section. A section without
// content has no blocks, and is left out.
func (v view) document() document.Document {
	decision, _, _ := strings.Cut(v.Headline(), verdict.ToDo)
	d := document.Document{
		Title: fmt.Sprintf("Filewise run %d: %s", v.RunID, document.Headline(decision).Start()), Generator: "Filewise " + v.Version,
		About:  []string{fmt.Sprintf("Run %d", v.RunID), v.Plan.Scenario + " on " + v.Plan.Target.Engine, stamp(v.Started)},
		Footer: []string{"Filewise " + v.Version, fmt.Sprintf("run %d", v.RunID), "started " + stamp(v.Started), "ended " + stamp(v.Ended)},
		Shapes: template.HTML(chart.Shapes), Terms: tips(),
		Sections: []document.Section{
			{ID: "verdict", Name: "Answer", Blocks: append(append(v.verdict(), v.answerPage()...), v.answer())},
			{ID: "differences", Name: "Answer", Title: v.differencesTitle(), Print: v.inDetail(),
				Blocks: v.differences()},
			{ID: "loads", Name: "Answer", Title: "Throughput by load", Blocks: v.loads()},
			{ID: "bottleneck", Name: "Why", Title: "Where the time went, and what is near its limit", Print: true, Blocks: v.account()},
			{ID: "why", Name: "Why", Title: "Why", Blocks: v.why()},
			{ID: "conditions", Name: "Why", Title: "Whether this run answers a question about files", Print: true, Blocks: v.conditions()},
			{ID: "waits", Name: "Why", Title: "What the connections waited for", Blocks: v.waits()},
			{ID: "files", Name: "Why", Title: "How the files share the load", Blocks: v.files()},
			{ID: "written", Name: "Why", Title: "What was written", Blocks: v.written()},
			{ID: "limits", Name: "Why", Title: "How near the limits", Blocks: v.limits()},
			{ID: "machine", Name: "Why", Title: "The machine during the trials", Blocks: v.machine()},
			{ID: "levels", Name: "Latency", Title: "Throughput and latency of each operation", Blocks: v.levels()},
			{ID: "types", Name: "Latency", Title: "Latency by type of operations", Blocks: v.types()},
			{ID: "as-published", Name: "Answer", Title: "As published, and the sound verdict", Blocks: v.asPublished()},
			{ID: "warnings", Name: "Answer", Title: "Warnings", Print: true, Blocks: v.warnings()},
			{ID: "scope", Blocks: v.scopeLine()},
			{ID: "published", Name: "Answer", Title: "Published and measured", Blocks: v.published()},
			{ID: "trials", Name: "Trials", Title: "Every trial" + v.ofWhich(), Blocks: v.everyTrial()},
			{ID: "looks", Name: "Trials", Title: "The interim analyses" + v.ofWhich(), Blocks: v.analyses()},
			{ID: "time", Name: "Trials", Title: "Where the time went", Blocks: v.time()},
			{ID: "method", Name: "Set-up", Title: "How this was measured", Print: true, Blocks: v.method()},
			{ID: "setup", Name: "Set-up", Title: "Set-up", Blocks: v.setup()},
			{ID: "repeat", Name: "Set-up", Title: "To repeat it", Print: true,
				Blocks: append(v.repeat(), v.answerRest())},
			{ID: "words", Name: "Set-up", Title: "What the words mean", Blocks: words()},
		},
	}
	if v.Plan.Name != "" {
		d.About[0] += ", " + v.Plan.Name
	}
	if v.State != "" {
		d.About = append(d.About, v.State)
	}
	d.Sections = slices.DeleteFunc(d.Sections, func(s document.Section) bool { return len(s.Blocks) == 0 })
	return d
}

// ofWhich returns the end of a heading that names its operation, if the run has several: " (overall)".
func (v view) ofWhich() string {
	if !v.several() {
		return ""
	}
	return " (" + v.Name + ")"
}

// eachOperation shows blocks for each operation that has any. They are folded away if there are more than two such operations.
func (v view) eachOperation(blocks func(view) []document.Block) []document.Block {
	var all []document.Fold
	for _, f := range v.parts {
		if b := blocks(f); len(b) > 0 {
			all = append(all, document.Fold{Summary: f.Name, Print: true, Blocks: b})
		}
	}
	var out []document.Block
	for _, f := range all {
		switch {
		case len(all) > 2:
			out = append(out, f)
		case f.Summary != "":
			out = append(append(out, document.Heading(f.Summary)), f.Blocks...)
		default:
			out = append(out, f.Blocks...)
		}
	}
	return out
}

// notes returns sentences about the preceding block, one after the other.
func notes(sentences ...string) []document.Block {
	var out []document.Block
	for _, s := range sentences {
		if s != "" {
			out = append(out, document.Note(s))
		}
	}
	return out
}

// onPaper shows blocks only in HTML and Markdown, even if the blocks around them are also shown on a terminal.
func onPaper(blocks ...document.Block) document.Only {
	return document.Only{In: document.Paper, Blocks: blocks}
}

// answerPage returns the part of a page below the verdict and above the folded sections: charts, reasons, the table,
// and the scope of the answer.
func (v view) answerPage() []document.Block {
	out := v.answerFigures()
	if causes := v.causes(); len(causes) > 0 && len(causes) <= mostOpen {
		out = append(append(out, document.Heading("Why")), v.whyOnPaper(causes)...)
	}
	if v.several() {
		out = append(out, v.overview())
	} else {
		out = append(out, document.Tabulate(document.Table{Caption: v.layoutsCaption(), Class: "main"}, v.Rows, v.layoutColumns()...))
	}
	out = append(out, notes(v.footnotes()...)...)
	out = append(out, document.Heading("What this shows, and what not"), document.List(v.scope()), document.Note(v.glance()))
	return []document.Block{document.OnPages(out...)}
}

// scope returns the scope of the verdict.
func (v view) scope() []string {
	p := v.Plan
	where := "this machine and its storage"
	if p.Target.Mode == filewise.External {
		where = "this server and its storage"
	}
	data := ""
	if len(p.Layouts) > 0 && p.Layouts[0].Data.Bytes > 0 {
		data = ", files of " + say.Size(p.Layouts[0].Data.Bytes) + " in all"
		if slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool { return l.Data.Bytes != p.Layouts[0].Data.Bytes }) {
			data = ", files of the sizes that the layouts name"
		}
	}
	connections := ""
	if n := p.Params.Connections; n > 0 {
		connections = ", " + say.Count(n, "connection")
	}
	out := []string{
		fmt.Sprintf("It is about %s on %s with durability %s%s%s, on %s: other work, more data or other storage can have another answer.",
			p.Scenario, p.Target.Engine, p.Target.Durability, connections, data, where),
		fmt.Sprintf("It says nothing about untested layouts; differences within ±%s count as none.", v.margin()),
	}
	if !v.several() && p.P99Limit == 0 && v.latencyChart() != "" {
		out = append(out, "Layouts are judged by throughput; latency is shown, and bars a layout only with --p99-limit.")
	}
	all, notes := v.ranked()
	for _, w := range all[:min(len(all), mostWarnings)] {
		out = append(out, "Warning: "+w.Message)
	}
	if n := len(all) - mostWarnings; n > 0 {
		out = append(out, say.Count(n, "more warning")+" below.")
	}
	for _, w := range notes {
		out = append(out, say.Joined(" ", w.Message, w.Remedy))
	}
	return out
}
