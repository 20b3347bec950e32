package report

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// table writes a line for each layout. On narrow terminals the columns that
// tell least are left out.
func (p *page) table(v view) {
	p.grid(p.columns(v), v.Rows)
	p.footnotes(v)
	p.line("")
}

// grid writes columns with a head and a line for each row.
func (p *page) grid(cols []column, rows []row) {
	widths := func() (ws []int, total int) {
		for _, c := range cols {
			w := 0
			for _, cell := range c.cells {
				w = max(w, lipgloss.Width(cell))
			}
			ws, total = append(ws, w), total+w+2
		}
		return ws, total - 2
	}
	ws, total := widths()
	for drop := range 4 { // 0 first
		if total <= p.width {
			break
		}
		if drop == 3 { // names are the user's, of any length
			ws[0] = max(ws[0]-(total-p.width), 6)
			break
		}
		i := slices.IndexFunc(cols, func(c column) bool { return c.keep == drop })
		if i < 0 {
			continue
		}
		cols = append(cols[:i:i], cols[i+1:]...)
		ws, total = widths()
	}
	for n := range len(rows) + 1 {
		var b strings.Builder
		for i, c := range cols {
			text := ansi.Truncate(c.cells[n], ws[i], "…")
			pad := strings.Repeat(" ", max(ws[i]-lipgloss.Width(text), 0))
			switch {
			case n == 0:
				text = p.style(styleFaint, text)
			case c.mark:
				text = p.style(markStyle(rows[n-1]), text)
			}
			if c.right {
				text = pad + text
			} else {
				text += pad
			}
			b.WriteString(text + "  ")
		}
		p.line(b.String())
	}
}

// column is one column of the table; keep says in which order columns are left
// out when there is no room (0 first, from 3 never).
type column struct {
	cells       []string
	right, mark bool
	keep        int
}

func (p *page) columns(v view) []column {
	base := "baseline"
	if v.Base >= 0 {
		base = clean(v.Rows[v.Base].Name)
	}
	heads := []column{
		{cells: []string{"layout"}, keep: 3},
		{cells: []string{"trials"}, right: true, keep: 1},
		{cells: []string{v.UnitRate()}, right: true, keep: 2},
		{cells: []string{v.Rate.Name}, right: true, keep: 0},
		{cells: []string{"against " + base + v.inBrackets()}, keep: 3},
		{cells: []string{"mark"}, mark: true, keep: 3},
	}
	if lipgloss.Width(heads[4].cells[0]) > 26 {
		heads[4].cells[0] = "difference" + v.inBrackets()
	}
	if v.Timed() || v.unrated() { // there are no bytes to rate
		heads[3].keep = -1
	}
	for _, r := range v.Rows {
		for i, s := range []string{clean(r.Name), r.TrialsText(), r.TypicalText(), v.Rate.Of(r.Bytes), r.DifferenceText(), r.MarkText()} {
			heads[i].cells = append(heads[i].cells, s)
		}
	}
	return slices.DeleteFunc(heads, func(c column) bool { return c.keep < 0 })
}

// unrated tells whether layouts were measured, and none with bytes: queries have
// none.
func (v view) unrated() bool {
	measured := false
	for _, r := range v.Rows {
		if known(r.Bytes) {
			return false
		}
		measured = measured || known(r.Typical)
	}
	return measured
}

// inBrackets is the confidence in a column's head; empty when it is not known.
func (v view) inBrackets() string {
	if v.Confidence() == absent {
		return ""
	}
	return " (" + v.Confidence() + ")"
}

func markStyle(r row) lipgloss.Style {
	switch r.MarkClass() {
	case "best":
		return styleBest
	case "good":
		return styleGood
	case "worse":
		return styleWorse
	}
	return lipgloss.NewStyle()
}
