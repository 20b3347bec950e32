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
	p.results(v)
	p.causes(v)
	p.spread(v)
	p.writes(v)
	p.types(v)
	p.asPublished(v)
	p.time(v)
	p.warnings(v)
	if v.Rejudged {
		p.para(otherRules+v.Shows(), "  ")
	} else {
		p.para("Report: "+v.ShowCommand(), "  ")
	}
	_, err := io.WriteString(w, p.String())
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// otherRules stands before the command that shows what is stored.
const otherRules = "Judged by other rules than the run's own; the stored verdict: "

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

// para writes wrapped text; lines after the first are indented.
func (p *page) para(text, indent string) { p.styled(lipgloss.NewStyle(), text, indent) }

func (p *page) styled(s lipgloss.Style, text, indent string) {
	text = unbroken.Replace(clean(text))
	room := p.width - ansi.StringWidth(indent)
	for i, l := range strings.Split(ansi.Wrap(text, room, ""), "\n") {
		l = broken.Replace(l)
		if i > 0 {
			p.WriteString(indent)
		}
		p.line(p.style(s, strings.TrimSpace(l)))
	}
}

// A number is not parted from its percent sign, nor a flag from its hyphens.
var (
	unbroken = strings.NewReplacer(" %", "\u00a0%", "-", "\u2011")
	broken   = strings.NewReplacer("\u00a0%", " %", "\u2011", "-")
)

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
	for _, s := range []string{v.OneInstance(), v.Stopped(), v.Rules()} {
		if s != "" {
			p.para(s, "")
		}
	}
	p.line("")
}

// mostDetailed is up to how many families a terminal shows one by one.
const mostDetailed = 4

// results are the table of the layouts, or that of all families and theirs.
func (p *page) results(v view) {
	families := v.Families()
	switch {
	case len(families) == 0:
		p.table(v)
		return
	case v.Plan.AsPublished != nil && !v.Judged: // the article's table says all there is
		return
	}
	p.overview(v)
	p.footnotes(v)
	p.line("")
	if len(families) > mostDetailed {
		return
	}
	for _, f := range families {
		p.styled(styleBold, f.Name+": "+f.Headline(), "  ")
		p.table(f)
	}
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
	for _, w := range v.Notices() {
		p.line("")
		p.styled(styleWarn, "Warning: "+w.Message, "  ")
		if w.Remedy != "" {
			p.WriteString("  ")
			p.para("Remedy: "+w.Remedy, "  ")
		}
	}
	if len(v.Judgement.Warnings) > 0 {
		p.line("")
	}
}
