package preview

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/workload"
	"filewise/results/report"
	"filewise/results/report/document"
	"filewise/run"
)

// mostLayouts and mostWarnings are the most layouts and warnings listed on a screen.
const mostLayouts, mostWarnings = 8, 3

// Summary writes what a run would do, on one screen. Text has all details.
func (v Preview) Summary(to io.Writer, opts document.TerminalOptions) error {
	p, said := v.Plan, &lines{}
	said.printf("%s\n", v.trialWords())
	if v.Forecast != nil {
		said.printf("%s\n", v.Forecast.Sentence)
	}
	if len(v.Conditions) > 0 {
		said.printf("%s\n", foreseen(v.Conditions))
		if p.Ladder != nil && p.Ladder.Words() != "" {
			said.printf("%s\n", p.Ladder.Words())
		}
	}
	if v.Meaning != nil {
		said.printf("%s\n", v.Meaning.Sentence(p.AsPublished.Scale))
	}
	said.people(p)
	about := []document.Block{
		document.Headline(fmt.Sprintf("%s on %s (%s), durability %s, seed %d", p.Scenario, p.Target.Engine, p.Target.Mode, p.Target.Durability,
			p.Seed)),
		document.Line{Text: "Nothing is executed; this is what run would do."},
		document.Text("Time: " + timeWords(v)),
	}
	for _, s := range v.Space {
		about = append(about, document.Text("Space: "+spaceLine(s)))
	}
	if slices.ContainsFunc(v.Conditions, func(c filewise.Condition) bool { return c.Name == filewise.CondWrites }) {
		about = append(about, document.Text("Writes: as much as the storage takes while trials work; the pilots measure it"))
	}
	layouts := []document.Block{v.layoutTable()}
	if n := len(v.Layouts) - mostLayouts; n > 0 {
		layouts = append(layouts, document.Note(fmt.Sprintf("… and %s", filewise.Counted(n, "layout"))))
	}
	var blocks []document.Block
	for _, l := range strings.Split(strings.Trim(said.String(), "\n"), "\n") {
		blocks = append(blocks, document.Text(l))
	}
	if v.Unseen != "" {
		blocks = append(blocks, document.Text("The server could not be examined, so rights, space and settings are not checked: "+v.Unseen))
	}
	blocks = append(blocks, v.findingLines()...)
	opts.Short = true
	return document.WriteTerminal(to, screens(about, layouts, blocks, v.warningLines()), opts)
}

// foreseen lists the conditions of meaning in a line. The ones that pilots measure come last.
func foreseen(all []filewise.Condition) string {
	var known, later []string
	for _, c := range all {
		switch {
		case c.Unknown:
			later = append(later, string(c.Name))
		case c.OK:
			known = append(known, fmt.Sprintf("%s %s", c.Name, c.Sign()))
		default:
			known = append(known, fmt.Sprintf("%s %s (%s)", c.Name, c.Sign(), say.Joined("; ", c.Measured, c.Mend)))
		}
	}
	if len(later) > 0 {
		later = []string{"pilots measure " + say.Enumerate(later)}
	}
	return "Conditions: " + strings.Join(append(known, later...), ", ") + "."
}

// screens returns a document for a screen, with a gap between the parts.
func screens(parts ...[]document.Block) document.Document {
	var d document.Document
	for _, blocks := range parts {
		d.Sections = append(d.Sections, document.Section{Blocks: []document.Block{document.OnScreen(blocks...)}})
	}
	return d
}

// warningLines returns the first warnings, and the option that shows the rest.
func (v Preview) warningLines() []document.Block {
	var out []document.Block
	all, scope := report.Ranked(v.Warnings)
	for _, w := range all[:min(len(all), mostWarnings)] {
		out = append(out, document.Notice{Message: w.Message, Remedy: w.Remedy})
	}
	if s := report.ScopeText(scope, false); s != "" {
		out = append(out, document.Brief(s))
	}
	rest := "Files, statements and the order of all trials: --sql."
	if n := len(all) - mostWarnings; n > 0 {
		rest = filewise.Counted(n, "more warning") + ", files, statements and the order of all trials: --sql."
	}
	return append(out, document.Note(rest), document.Code("Start it: "+filewise.CommandLine(v.Plan.Command...)))
}

// layoutTable returns the files of every layout, by role. The server's own files, and roles with the same number of
// files in every layout, are left out; --sql shows them.
func (v Preview) layoutTable() document.Block {
	differs := map[filewise.Role]bool{filewise.RoleData: true}
	for _, l := range v.Layouts {
		for _, f := range l.Files {
			if f.Role != filewise.RoleSystem && count(l, f.Role) != count(v.Layouts[0], f.Role) {
				differs[f.Role] = true
			}
		}
	}
	return document.Tabulate(document.Table{Caption: "Layouts"}, v.Layouts[:min(len(v.Layouts), mostLayouts)],
		document.Name("layout", func(l LayoutScript) string { return l.Layout.Name }),
		document.Words("files", func(l LayoutScript) string { return l.files(differs) }).Wrapped())
}

// count returns the number of a layout's files with this role.
func count(l LayoutScript, role filewise.Role) int {
	n := 0
	for _, f := range l.Files {
		if f.Role == role {
			n++
		}
	}
	return n
}

// files returns a layout's files in a line: "data 4 × 16 MiB; log 4.9 MiB", "data 4 files of 26 MiB … 48 MiB". Growing
// data files that begin small are shown with their planned size.
func (l LayoutScript) files(roles map[filewise.Role]bool) string {
	var order []filewise.Role
	sizes := map[filewise.Role][]int64{}
	for _, f := range l.Files {
		if sizes[f.Role] == nil && roles[f.Role] {
			order = append(order, f.Role)
		}
		sizes[f.Role] = append(sizes[f.Role], f.Bytes)
	}
	var out []string
	for _, role := range order {
		of := sizes[role]
		growing := role == filewise.RoleData && l.Layout.Data.Allocation == filewise.Growing
		planned := l.Layout.Data.Bytes / int64(len(of))
		if growing = growing && slices.Max(of) < planned/2; growing {
			of = slices.Repeat([]int64{planned}, len(of))
		}
		least, most := humanize.IBytes(uint64(slices.Min(of))), humanize.IBytes(uint64(slices.Max(of)))
		text := fmt.Sprintf("%s %d × %s", role, len(of), most)
		switch {
		case least != most:
			text = fmt.Sprintf("%s %d files of %s … %s", role, len(of), least, most)
		case len(of) == 1:
			text = fmt.Sprintf("%s %s", role, most)
		}
		switch {
		case growing:
			text += " planned, growing"
		case role == filewise.RoleData && l.Layout.Data.Allocation == filewise.Growing:
			text += ", growing"
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// trialWords describes the order of trials. For an article's design, it adds how the layouts differ from the article's.
func (v Preview) trialWords() string {
	out := orderWords(v.Plan) + "."
	if sc, err := workload.Lookup(v.Plan.Scenario); err == nil && v.Plan.AsPublished != nil {
		for _, differs := range sc.On(v.Plan.Target.Engine).LayoutsDiffer(v.Plan.Layouts) {
			out += " " + differs
		}
	}
	return out
}

// findingLines returns the failures and warnings about an existing server, and the number of checks that passed.
func (v Preview) findingLines() []document.Block {
	if len(v.Findings) == 0 {
		return nil
	}
	fine, out := 0, []document.Block{document.Text("")}
	for _, f := range v.Findings {
		switch f.Status {
		case filewise.StatusFailed:
			out = append(out, document.Text(fmt.Sprintf("Failed: %s: %s → %s", f.Check, f.Detail, f.Remedy)))
		case filewise.StatusWarning:
			out = append(out, document.Notice{Message: f.Check + ": " + f.Detail, Remedy: f.Remedy})
		default:
			if fine++; f.Check == run.BackupCost {
				out = append(out, document.Text("Time and bytes: "+f.Detail+"."))
				if f.Remedy != "" {
					out = append(out, document.Text("→ "+f.Remedy))
				}
			}
		}
	}
	out[0] = document.Text(fmt.Sprintf("Server %s: %d of %s passed.", v.Plan.Target.Address, fine, filewise.Counted(len(v.Findings), "check")))
	return out
}

// lines is a text in preparation.
type lines struct{ strings.Builder }

func (w *lines) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// Findings lists findings with their remedies.
func Findings(findings []filewise.Finding) string {
	w := &lines{}
	for _, f := range findings {
		w.printf("  %-8s %s: %s\n", f.Status, f.Check, Indent(f.Detail, 11))
		if f.Remedy != "" {
			w.printf("           → %s\n", Indent(f.Remedy, 13))
		}
	}
	return w.String()
}

// Indent indents all lines of a text after the first.
func Indent(text string, by int) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+strings.Repeat(" ", by))
}
