package report

import (
	"fmt"

	"filewise"
	"filewise/internal/say"
	"filewise/report/document"
)

// answerPage is what a page has below the verdict, before all that is folded: one chart, why,
// the table, and how far the answer goes.
func (v view) answerPage() []document.Block {
	out := []document.Block{v.answerFigure()}
	if causes := v.causes(); len(causes) > 0 && len(causes) <= mostOpen {
		out = append(append(out, document.Heading("Why")), v.whyOnPaper(causes)...)
	}
	if v.several() {
		out = append(out, v.overview())
	} else {
		out = append(out, document.Tabulate(document.Table{Caption: v.layoutsCaption(), Class: "main"}, v.Rows, v.layoutColumns()...))
	}
	out = append(out, notes(v.footnotes()...)...)
	out = append(out, document.Heading("What this says, and what not"), document.List(v.scope()), document.Note(v.glance()))
	return []document.Block{document.OnPages(out...)}
}

// scope is how far the verdict goes.
func (v view) scope() []string {
	p := v.Plan
	where := "this machine and its storage"
	if p.Target.Mode == filewise.External {
		where = "this server and its storage"
	}
	data := ""
	if len(p.Layouts) > 0 && p.Layouts[0].Data.Bytes > 0 {
		data = ", files of " + say.Size(p.Layouts[0].Data.Bytes) + " in all"
	}
	connections := ""
	if n := p.Params.Connections; n > 0 {
		connections = ", " + say.Count(n, "connection")
	}
	out := []string{
		fmt.Sprintf("It is about %s on %s with durability %s%s%s, on %s: other work, more data or other storage can have another answer.",
			p.Scenario, p.Target.Engine, p.Target.Durability, connections, data, where),
		fmt.Sprintf("Of layouts that were not tested it says nothing; differences within ±%s count as none.", v.margin()),
	}
	if !v.several() && p.P99Limit == 0 && v.latencyChart() != "" {
		out = append(out, "Layouts are judged by throughput; latency is shown, and bars a layout only with --p99-limit.")
	}
	all := Notices(v.Judgement.Warnings)
	for _, w := range all[:min(len(all), mostWarnings)] {
		out = append(out, "Warning: "+w.Message)
	}
	if n := len(all) - mostWarnings; n > 0 {
		out = append(out, say.Count(n, "more warning")+" stand below.")
	}
	return out
}
