package report

import (
	"slices"
	"strings"
)

// overview is the table of all families: a line for each, a column for each
// layout.
type overview struct {
	Baseline string
	Groups   []overviewGroup
	Rows     []overviewRow
	Columns  int // of a group, the baseline's included
}

type overviewGroup struct {
	Name    string // empty: there is only one
	Layouts []string
}

type overviewRow struct {
	Name   string
	Groups []overviewCells // one for each group
}

// overviewCells are what a line says under one group; Absent: nothing.
type overviewCells struct {
	Baseline string // the baseline's typical trial
	Cells    []row  // of the other layouts
}

// concurrently begins the names of families that repeat others with several
// connections.
const concurrently = "concurrent "

// Overview is the table of all families; nil where there is one. What one process
// and what concurrent connections do stands side by side.
func (v view) Overview() *overview {
	families := v.Families()
	if len(families) == 0 {
		return nil
	}
	o := &overview{Baseline: v.Plan.Baseline}
	var layouts []string
	for _, r := range others(families[0]) {
		layouts = append(layouts, r.Name)
	}
	o.Columns = len(layouts) + 1
	pairs := paired(families)
	if pairs {
		o.Groups = []overviewGroup{{"one process", layouts}, {"concurrent connections", layouts}}
	} else {
		o.Groups = []overviewGroup{{"", layouts}}
	}
	for _, f := range families {
		base, second := strings.CutPrefix(f.Name, concurrently)
		i := slices.IndexFunc(o.Rows, func(r overviewRow) bool { return pairs && r.Name == base })
		if i < 0 {
			o.Rows = append(o.Rows, overviewRow{Name: f.Name, Groups: make([]overviewCells, len(o.Groups))})
			i = len(o.Rows) - 1
		}
		at := 0
		if pairs && second {
			at = 1
		}
		o.Rows[i].Groups[at] = overviewCells{Baseline: f.baselineText(), Cells: others(f)}
	}
	return o
}

// paired tells whether every family is one of a pair.
func paired(families []view) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(families, func(f view) bool { return f.Name == name })
	}
	return !slices.ContainsFunc(families, func(f view) bool {
		base, second := strings.CutPrefix(f.Name, concurrently)
		return second && !has(base) || !second && !has(concurrently+f.Name)
	})
}

// others are the rows of all layouts but the baseline.
func others(v view) []row {
	return slices.DeleteFunc(slices.Clone(v.Rows), func(r row) bool { return r.Baseline })
}

// baselineText is what the baseline's typical trial did.
func (v view) baselineText() string {
	if v.Base < 0 {
		return absent
	}
	return v.speedText(v.Rows[v.Base])
}

// overview writes a line for each family and layout.
func (p *page) overview(v view) {
	var cols = []column{
		{cells: []string{"family"}, keep: 3},
		{cells: []string{clean(v.Plan.Baseline)}, right: true, keep: 1},
		{cells: []string{"layout"}, keep: 3},
		{cells: []string{"against it"}, keep: 3},
		{cells: []string{"mark"}, mark: true, keep: 3},
	}
	var rows []row
	for _, f := range v.Families() {
		for i, r := range others(f) {
			name, base := clean(f.Name), f.baselineText()
			if i > 0 {
				name, base = "", ""
			}
			for k, s := range []string{name, base, clean(r.Name), r.DifferenceText(), r.MarkText()} {
				cols[k].cells = append(cols[k].cells, s)
			}
			rows = append(rows, r)
		}
	}
	p.grid(cols, rows)
}
