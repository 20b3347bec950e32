package report

import (
	"fmt"
	"io"
	"strings"

	"filewise"
)

// Markdown writes the run for a ticket or a wiki: the substance of the HTML
// report, compact, in tables.
func Markdown(w io.Writer, d Data) error {
	v := newView(d)
	m := &md{}
	m.verdict(v)
	if v.whole == nil {
		m.table(v)
	}
	m.families(v)
	m.causes(v)
	m.waits(v)
	m.files(v)
	m.written(v)
	m.machine(v)
	m.types(v)
	m.asPublished(v)
	m.warnings(v)
	m.published(v)
	m.details(v)
	m.trialsTable(v)
	m.setup(v)
	if _, err := io.WriteString(w, m.String()); err != nil {
		return fmt.Errorf("write the result as Markdown: %w", err)
	}
	return nil
}

// md collects Markdown text.
type md struct{ strings.Builder }

func (m *md) para(format string, args ...any) { fmt.Fprintf(&m.Builder, format+"\n\n", args...) }

// rows writes a table; cells are escaped. No rows: no table.
func (m *md) rows(head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	line := func(cells []string) { m.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(escapeAll(head))
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---"
	}
	line(rule)
	for _, r := range rows {
		line(escapeAll(r))
	}
	m.WriteString("\n")
}

var mdEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`",
	"*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, "!", `\!`)

// escape makes a stored text harmless within a line of Markdown.
func escape(s string) string { return mdEscapes.Replace(clean(s)) }

func escapeAll(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = escape(c)
	}
	return out
}

// code writes a command as a block that no content can end.
func (m *md) code(s string) {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	m.para("%s\n%s\n%s", fence, clean(s), fence)
}

func (m *md) verdict(v view) {
	m.para("# %s", escape(v.Headline()))
	for _, s := range v.Further() {
		m.WriteString("- " + escape(s) + "\n")
	}
	if len(v.Further()) > 0 {
		m.WriteString("\n")
	}
	for _, s := range []string{v.Stopped(), v.Rules()} {
		if s != "" {
			m.para("%s", escape(s))
		}
	}
}

// families has a table of all families of operations, and one for each.
func (m *md) families(v view) {
	o := v.Overview()
	if o == nil {
		return
	}
	head := []string{"family"}
	for _, g := range o.Groups {
		head = append(head, joined(": ", g.Name, o.Baseline))
		for _, l := range g.Layouts {
			head = append(head, joined(": ", g.Name, l+" against it"))
		}
	}
	var rows [][]string
	for _, r := range o.Rows {
		line := []string{r.Name}
		for _, g := range r.Groups {
			line = append(line, g.Baseline)
			for _, c := range g.Cells {
				line = append(line, c.DifferenceText()+"; "+c.MarkText())
			}
		}
		rows = append(rows, line)
	}
	m.rows(head, rows)
	for _, f := range v.Families() {
		m.para("## %s: %s", escape(f.Name), escape(f.Headline()))
		m.table(f)
	}
}

func (m *md) table(v view) {
	var rows [][]string
	for _, r := range v.Rows {
		rows = append(rows, []string{
			r.Name, r.TrialsText(), r.TypicalText(), v.Rate.Of(r.Bytes), r.DifferenceText(), r.RawText(),
			r.DownWeightedText(), joined("; ", r.MarkText(), r.DroppedText()),
		})
	}
	m.rows([]string{
		"layout", "trials", v.UnitRate(), v.Rate.Name, "difference to " + v.Plan.Baseline + v.inBrackets(),
		"geometric means", "down-weighted", "mark",
	}, rows)
	if v.Judged {
		m.para("%s", meansNote)
	}
	for _, s := range v.Footnotes() {
		m.para("%s", escape(s))
	}
}

func (m *md) warnings(v view) {
	if len(v.Judgement.Warnings) == 0 {
		return
	}
	m.para("## Warnings")
	for _, w := range v.Notices() {
		m.WriteString("- " + escape(w.Message))
		if w.Remedy != "" {
			m.WriteString("\\\n  Remedy: " + escape(w.Remedy))
		}
		m.WriteString("\n")
	}
	m.WriteString("\n")
}

func (m *md) published(v view) {
	shape := v.Shape()
	if len(shape) == 0 {
		return
	}
	m.para("## Published beside measured")
	if v.Source() != "" {
		m.para("Source: %s.", escape(v.Source()))
	}
	var rows [][]string
	for _, c := range shape {
		rows = append(rows, []string{joined(": ", c.Family, c.Statement), joined(": ", c.Published, c.Words), c.Measured, string(c.Sign), c.Inside})
	}
	m.rows([]string{"", "published", "measured", "direction", "figure"}, rows)
	if s := v.BestText(); s != "" {
		m.para("%s", escape(s))
	}
}

func (m *md) details(v view) {
	var looks, where, tails [][]string
	for _, l := range v.Looks() {
		r := []string{fmt.Sprint(l.Block), fmt.Sprint(l.Trials)}
		for _, c := range l.Cells {
			r = append(r, joined("; ", joined(" ", c.Effect, c.Limits), c.Regret, c.Note))
		}
		looks = append(looks, append(r, l.Outcome))
	}
	if len(looks) > 0 {
		m.para("## The verdict, look by look%s", escape(v.OfWhich()))
		m.rows(append(append([]string{"blocks", "trials"}, v.Arms()...), "outcome"), looks)
	}
	for _, s := range v.Where() {
		where = append(where, []string{s.Name, s.Time(), s.Share()})
	}
	if len(where) > 0 {
		m.para("## Where the time went")
		m.rows([]string{"stage", "time", "share"}, where)
	}
	for _, r := range v.Rows {
		if r.Tail.Known {
			tails = append(tails, []string{r.Name, r.Tail.String(), r.Sync.String(), r.Calls.String()})
		}
	}
	if len(tails) > 0 {
		m.para("## After the window")
		m.rows([]string{"layout", "slowest connection's tail: median (largest)", "until durable: median (largest)", "calls: median, 99 %, longest"}, tails)
	}
}

func (m *md) trialsTable(v view) {
	var rows [][]string
	for _, t := range v.Noted() {
		rows = append(rows, []string{fmt.Sprint(t.Number), t.BlockText(), t.Cell.Layout, t.ThroughputText(), t.DeviationText(), t.NoteText()})
	}
	if len(rows) > 0 {
		m.para("## Trials, in the order in which they ran%s", escape(v.OfWhich()))
		m.rows([]string{"no.", "block", "layout", v.UnitRate(), "against the layout's typical trial", "note"}, rows)
		if s := v.NotedNote(); s != "" {
			m.para("%s", escape(s))
		}
	}
}

func (m *md) setup(v view) {
	for _, part := range []struct {
		title string
		facts []filewise.Fact
	}{{"Machine", v.Machine}, {"Engine and effective settings", v.Server}, {"Plan", v.PlanFacts()}} {
		if len(part.facts) == 0 {
			continue
		}
		m.para("## %s", part.title)
		rows := make([][]string, len(part.facts))
		for i, f := range part.facts {
			rows[i] = []string{f.Name, f.Value}
		}
		m.rows([]string{"", ""}, rows)
	}
	var rows [][]string
	for _, s := range v.Spreads() {
		rows = append(rows, []string{s.Name, s.Files, s.Total, s.Allocation, s.Placement, s.Kind, s.ObservedText()})
	}
	m.para("## Layouts")
	m.rows([]string{"layout", "data files", "total", "allocation", "placement", "kind", "observed after building"}, rows)
	m.para("Run %d, started %s, ended %s, Filewise %s. To repeat it:", v.RunID, v.StartedText(), v.EndedText(), escape(v.Version))
	m.code(v.Command())
	if v.Rejudged {
		m.para("%s", otherRules+"`"+v.Shows()+"`")
	}
}
