package report

import (
	"fmt"
	"slices"

	"filewise/experiment"
)

// typeRow is what the operations of one type took on one layout.
type typeRow struct {
	Family, Layout, Type            string
	PerMinute                       string
	P50, P90, P99, P999, Max, Fails string
}

// typeHead are its columns.
var typeHead = []string{"family", "layout", "type", "a minute", "50 %", "90 %", "99 %", "99.9 %", "longest", "failures"}

func (r typeRow) cells() []string {
	return []string{r.Family, r.Layout, r.Type, r.PerMinute, r.P50, r.P90, r.P99, r.P999, r.Max, r.Fails}
}

// Types are the latencies by type of operations; none where there is one type.
func (v view) Types() []typeRow {
	var rows []typeRow
	for _, l := range v.Judgement.Latencies {
		if l.Type == "" {
			continue
		}
		r := typeRow{Family: l.Family, Layout: l.Layout, Type: l.Type, PerMinute: sig3(l.PerMinute),
			P50: absent, P90: absent, P99: absent, P999: absent, Max: absent, Fails: Failures(l.Errors)}
		if l.Count > 0 {
			r.P50, r.P90, r.P99, r.P999, r.Max = human(l.P50), human(l.P90), human(l.P99), human(l.P999), human(l.Max)
		}
		rows = append(rows, r)
	}
	return rows
}

// TypesNote says what the latencies are.
func (v view) TypesNote() string {
	s := "Latencies of all trials in blocks together, from the first try to the commit; of few operations, high percentiles are the longest."
	if v.Plan.P99Limit > 0 {
		s += fmt.Sprintf(" A layout whose 99 %% of any type take longer than %s is not recommended.", human(v.Plan.P99Limit))
	}
	return s
}

// sweepTable are the curves over load levels.
type sweepTable struct {
	Layouts []string
	Rows    []sweepRow
	Note    string
}

type sweepRow struct {
	Users string
	Cells []string // throughput and its interval, by layout
}

// Sweep is the table of load levels; nil where there is one, or no trial yet.
func (v view) Sweep() *sweepTable {
	s := v.Judgement.Sweep
	if s == nil {
		return nil
	}
	t := &sweepTable{Note: fmt.Sprintf("Throughput (%s) with Student's interval (%s) for each figure by itself; the verdicts on differences are those of the families, which hold together.",
		v.UnitRate(), v.Confidence())}
	var users []int
	for _, c := range s.Curves {
		t.Layouts = append(t.Layouts, c.Layout)
		for _, p := range c.Points {
			if !slices.Contains(users, p.Users) {
				users = append(users, p.Users)
			}
		}
	}
	if len(users) == 0 {
		return nil
	}
	slices.Sort(users)
	for _, n := range users {
		row := sweepRow{Users: count(n, "user")}
		for _, c := range s.Curves {
			row.Cells = append(row.Cells, pointText(c, n))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func pointText(c experiment.Curve, users int) string {
	i := slices.IndexFunc(c.Points, func(p experiment.Point) bool { return p.Users == users })
	if i < 0 {
		return absent
	}
	p := c.Points[i]
	if p.Lo == nil || p.Hi == nil {
		return sig3(p.Throughput)
	}
	return sig3(p.Throughput) + " (" + sig3(*p.Lo) + " … " + sig3(*p.Hi) + ")"
}

// types writes the tables of load levels and of types of operations.
func (m *md) types(v view) {
	if s := v.Sweep(); s != nil {
		m.para("## Throughput by load")
		var rows [][]string
		for _, r := range s.Rows {
			rows = append(rows, append([]string{r.Users}, r.Cells...))
		}
		m.rows(append([]string{"load"}, s.Layouts...), rows)
		m.para("%s", escape(s.Note))
	}
	types := v.Types()
	if len(types) == 0 {
		return
	}
	m.para("## Latency by type of operations")
	var rows [][]string
	for _, r := range types {
		rows = append(rows, r.cells())
	}
	m.rows(typeHead, rows)
	m.para("%s", escape(v.TypesNote()))
}

// types writes, for a workload of one family, what 99 % of the operations of each
// type take; of several families, the table of load levels.
func (p *page) types(v view) {
	if s := v.Sweep(); s != nil {
		cols := []column{{cells: []string{"load"}, keep: 3}}
		for _, l := range s.Layouts {
			cols = append(cols, column{cells: []string{clean(l)}, keep: 3})
		}
		for _, r := range s.Rows {
			cols[0].cells = append(cols[0].cells, r.Users)
			for i, c := range r.Cells {
				cols[i+1].cells = append(cols[i+1].cells, c)
			}
		}
		p.grid(cols, make([]row, len(s.Rows)))
		p.line("")
		return
	}
	types := v.Types()
	if len(types) == 0 {
		return
	}
	cols := []column{{cells: []string{"layout"}, keep: 3}, {cells: []string{"type"}, keep: 3}, {cells: []string{"a minute"}, right: true, keep: 1},
		{cells: []string{"50 %"}, right: true, keep: 2}, {cells: []string{"99 %"}, right: true, keep: 3}, {cells: []string{"99.9 %"}, right: true, keep: 0}}
	for _, r := range types {
		for i, s := range []string{clean(r.Layout), clean(r.Type), r.PerMinute, r.P50, r.P99, r.P999} {
			cols[i].cells = append(cols[i].cells, s)
		}
	}
	p.grid(cols, make([]row, len(types)))
	p.line("")
}
