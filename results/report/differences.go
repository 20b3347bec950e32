package report

import (
	"slices"
	"strings"

	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/results/report/document"
)

func (v view) differencesTitle() string {
	if v.several() {
		return "How much the layouts differ, operation by operation"
	}
	return "How much the layouts differ"
}

// differences returns the layouts' differences from the baseline, with the table of a terminal's answer. It returns
// nothing if nothing was measured.
func (v view) differences() []document.Block {
	if v.failures() == 0 && !slices.ContainsFunc(v.parts, view.measured) {
		return nil
	}
	return append(v.compared(), v.answerTable())
}

// compared returns the table of all operations and each operation's table, or the table of the only operation.
func (v view) compared() []document.Block {
	if !v.several() {
		out := []document.Block{v.curveFigure()}
		out = append(append(out, v.stripes()...),
			document.Only{In: document.Markdown | document.Terminal, Blocks: v.layouts(v.layoutsCaption(), "main")}, v.latencies())
		out = append(out, document.OnPages(v.moreTable()...), v.failedNote())
		if f := v.further(); len(f) > 0 {
			out = append(out, document.OnPages(document.Fold{Summary: "In words, layout by layout", Print: true,
				Blocks: []document.Block{document.List(f)}}))
		}
		return out
	}
	out := v.stripes()
	// If an article's design allows no verdict, its own table is the whole result.
	told := v.Plan.AsPublished == nil || v.Judged
	if told {
		out = append(out, document.OnTerminal(v.overviewLines()))
	}
	out = append(out, document.Only{In: document.Markdown, Blocks: []document.Block{v.overview()}}, v.latencies())
	out = append(out, document.Only{In: document.Markdown | document.Terminal, Blocks: notes(v.footnotes()...)}, v.failedNote())
	out = append(out, document.OnPages(document.Note("Each operation is judged by itself, at a confidence at which all statements hold "+
		"together. "+
		"If times are judged, a positive difference means longer.")))
	for _, f := range v.parts {
		blocks := f.layouts("The layouts for "+f.Name+", against "+v.Plan.Baseline, "")
		if s := f.further(); len(s) > 0 {
			blocks = append(blocks, document.OnPages(document.List(s)))
		}
		fold := document.Fold{Summary: f.Name + ": " + f.Headline(), Print: v.inDetail(), Blocks: blocks}
		if told && v.inDetail() {
			out = append(out, document.Everywhere(fold))
		} else {
			out = append(out, document.Only{In: document.Paper, Blocks: []document.Block{fold}})
		}
	}
	return out
}

// mostDetailed is the most operations that a terminal and paper show one by one.
const mostDetailed = 4

func (v view) inDetail() bool { return len(v.parts) <= mostDetailed }

// concurrently begins the names of operations that repeat other operations with several connections.
const concurrently = "concurrent "

// paired reports whether every operation is one of a pair.
func paired(operations []view) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(operations, func(f view) bool { return f.Name == name })
	}
	return !slices.ContainsFunc(operations, func(f view) bool {
		base, second := strings.CutPrefix(f.Name, concurrently)
		return second && !has(base) || !second && !has(concurrently+f.Name)
	})
}

// overviewRow holds an operation, or an operation and its concurrent twin.
type overviewRow struct {
	name  string
	views []view
}

// overview returns the table of all operations, with a line for each operation and a column for each layout. The results of
// one process and of concurrent connections are side by side.
func (v view) overview() document.Table {
	groups := []string{""}
	pairs := paired(v.parts)
	if pairs {
		groups = []string{"one process", "concurrent connections"}
	}
	var rows []overviewRow
	for _, f := range v.parts {
		switch twin := slices.IndexFunc(v.parts, func(t view) bool { return t.Name == concurrently+f.Name }); {
		case !pairs:
			rows = append(rows, overviewRow{f.Name, []view{f}})
		case twin >= 0:
			rows = append(rows, overviewRow{f.Name, []view{f, v.parts[twin]}})
		}
	}
	columns := []document.Of[overviewRow]{document.Name("operation", func(r overviewRow) string { return r.name })}
	for g, group := range groups {
		for i, l := range v.Rows {
			c := document.Cells("against "+v.Plan.Baseline+": "+l.Name, func(r overviewRow) document.Cell {
				row := r.views[g].Rows[i]
				return document.Cell{Text: row.differenceText(), Mark: row.markText(), Class: row.markClass(), Small: row.p99Small()}
			})
			if l.Baseline {
				c = document.Cells(l.Name, func(r overviewRow) document.Cell {
					return document.Cell{Text: r.views[g].baselineText(), Small: r.views[g].Rows[i].p99Small()}
				}).As("num")
			}
			c.Group = group
			columns = append(columns, c)
		}
	}
	t := document.Table{Caption: "Every operation: what " + v.Plan.Baseline + " does, and how the other layouts differ from it",
		Class: "matrix"}
	return document.Tabulate(t, rows, columns...)
}

// overviewLine holds the results of a layout in an operation.
type overviewLine struct {
	operation, base string // empty if the same as in the line above
	row             row
}

// overviewLines returns the same table for a terminal, which is too narrow for a matrix. It has a line for each operation
// and layout.
func (v view) overviewLines() document.Table {
	var lines []overviewLine
	for _, f := range v.parts {
		name, base := f.Name, f.baselineText()
		for _, r := range f.Rows {
			if !r.Baseline {
				lines = append(lines, overviewLine{name, base, r})
				name, base = "", ""
			}
		}
	}
	columns := []document.Of[overviewLine]{
		document.Name("operation", func(l overviewLine) string { return l.operation }),
		document.Num(v.Plan.Baseline, func(l overviewLine) string { return l.base }).Spare(2),
		document.Words("layout", func(l overviewLine) string { return l.row.Name }),
		document.Num("p99", func(l overviewLine) string { return l.row.p99Text() }).Spare(1),
		document.Words("against "+v.Plan.Baseline, func(l overviewLine) string { return l.row.differenceText() }),
		document.Cells("result", func(l overviewLine) document.Cell {
			return document.Cell{Mark: l.row.markText(), Class: l.row.markClass()}
		}),
	}
	if !slices.ContainsFunc(lines, func(l overviewLine) bool { return l.row.Latency != nil }) {
		columns = slices.DeleteFunc(columns, func(c document.Of[overviewLine]) bool { return c.Head == "p99" })
	}
	return document.Tabulate(document.Table{}, lines, columns...)
}

// baselineText describes the baseline's typical trial.
func (v view) baselineText() string {
	if v.Base < 0 {
		return say.Absent
	}
	return v.speedText(v.Rows[v.Base])
}

// live returns only the table, for a display that shows it during the run.
func (v view) live() []document.Block {
	if v.several() {
		return []document.Block{document.Everywhere(v.overviewLines())}
	}
	return append(v.layouts(v.layoutsCaption(), "main"), v.failedNote())
}

// hasOverall reports whether the run has an operation over all of its operations.
func (v view) hasOverall() bool { return v.Name == experiment.OperationOverall }
