package report

import (
	"fmt"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// TerminalOptions say what the terminal can do.
type TerminalOptions struct {
	Color bool
	Width int // columns; 0: unknown, 80 are assumed
}

// Terminal writes the result for a terminal: the verdict, the table, where the
// time went, the warnings with their remedies, and what shows the report.
func Terminal(w io.Writer, d Data, opts TerminalOptions) error {
	if opts.Width <= 0 {
		opts.Width = 80
	}
	v := newView(d)
	p := &page{width: max(opts.Width, 30), color: opts.Color}
	p.verdict(v)
	p.table(v)
	p.time(v)
	p.warnings(v)
	p.para("Report: "+v.ShowCommand(), "  ")
	_, err := io.WriteString(w, p.String())
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// page collects lines.
type page struct {
	strings.Builder
	width int
	color bool
}

var (
	styleBold  = lipgloss.NewStyle().Bold(true)
	styleFaint = lipgloss.NewStyle().Faint(true)
	styleBest  = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Green)
	styleGood  = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	styleWorse = lipgloss.NewStyle().Foreground(lipgloss.Red)
	styleWarn  = lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Yellow)
)

func (p *page) style(s lipgloss.Style, text string) string {
	if !p.color || text == "" {
		return text
	}
	return s.Render(text)
}

func (p *page) line(s string) { p.WriteString(strings.TrimRight(s, " ") + "\n") }

// para writes wrapped text; lines after the first are indented. A number is not
// parted from its percent sign.
func (p *page) para(text, indent string) { p.styled(lipgloss.NewStyle(), text, indent) }

func (p *page) styled(s lipgloss.Style, text, indent string) {
	text = strings.ReplaceAll(clean(text), " %", "\u00a0%")
	room := p.width - ansi.StringWidth(indent)
	for i, l := range strings.Split(ansi.Wrap(text, room, ""), "\n") {
		l = strings.ReplaceAll(l, "\u00a0%", " %")
		if i > 0 {
			p.WriteString(indent)
		}
		p.line(p.style(s, strings.TrimSpace(l)))
	}
}

// clean takes control characters out of a stored text, which could otherwise
// steer the terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, s)
}

func (p *page) verdict(v view) {
	p.styled(styleBold, v.Headline(), "")
	if s := v.Gain(); s != "" {
		p.para(s, "")
	}
	if s := v.Stopped(); s != "" {
		p.para(s, "")
	}
	p.line("")
}

// table writes a line for each layout. On narrow terminals the columns that
// tell least are left out.
func (p *page) table(v view) {
	cols := p.columns(v)
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
	for drop := range 4 {
		if total <= p.width {
			break
		}
		if drop == 3 { // names are the user's, of any length
			ws[0] = max(ws[0]-(total-p.width), 6)
			break
		}
		i := len(cols) - 1
		for cols[i].keep != drop {
			i--
		}
		cols = append(cols[:i:i], cols[i+1:]...)
		ws, total = widths()
	}
	for n := range len(v.Rows) + 1 {
		var b strings.Builder
		for i, c := range cols {
			text := ansi.Truncate(c.cells[n], ws[i], "…")
			pad := strings.Repeat(" ", max(ws[i]-lipgloss.Width(text), 0))
			switch {
			case n == 0:
				text = p.style(styleFaint, text)
			case c.mark:
				text = p.style(markStyle(v.Rows[n-1]), text)
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
	p.footnotes(v)
	p.line("")
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
	for _, r := range v.Rows {
		for i, s := range []string{clean(r.Name), r.TrialsText(), r.TypicalText(), v.Rate.Of(r.Bytes), r.DifferenceText(), r.MarkText()} {
			heads[i].cells = append(heads[i].cells, s)
		}
	}
	return heads
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

func (p *page) footnotes(v view) {
	for _, s := range v.Footnotes() {
		p.styled(styleFaint, s, "")
	}
	if n := v.failures(); n > 0 {
		p.styled(styleFaint, count(n, "trial")+" failed; the report lists the reasons.", "")
	}
}

func (p *page) time(v view) {
	where := v.Where()
	if len(where) == 0 {
		return
	}
	parts := make([]string, 0, len(where))
	for _, s := range where[1:] {
		parts = append(parts, s.Name+" "+s.Share())
	}
	text := fmt.Sprintf("Time: %s of trials, %s of it measuring", human(where[0].Whole), where[0].Share())
	if len(parts) > 0 {
		text += "; " + strings.Join(parts, ", ")
	}
	p.para(text+".", "  ")
}

func (p *page) warnings(v view) {
	for _, w := range v.Judgement.Warnings {
		p.line("")
		p.styled(styleWarn, "Warning: "+sentence(w.Message), "  ")
		if w.Remedy != "" {
			p.WriteString("  ")
			p.para("Remedy: "+sentence(w.Remedy), "  ")
		}
	}
	if len(v.Judgement.Warnings) > 0 {
		p.line("")
	}
}
