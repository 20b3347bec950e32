package document

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// TerminalOptions holds the terminal's abilities.
type TerminalOptions struct {
	Color bool
	Width int  // in columns. 0 means unknown, and 80 is assumed
	Short bool // show only what fits on a screen
}

// screenLines is the number of lines of a screen, without the prompt that follows.
const screenLines = 23

// WriteTerminal writes the parts of a document that a terminal shows, with an empty line between sections. On a screen,
// brief texts and warnings have two lines, or one if that is too much.
func WriteTerminal(w io.Writer, d Document, opts TerminalOptions) error {
	var p *page
	for clip := 2; clip > 0; clip-- {
		p = newPage(opts)
		p.clip = clip
		for _, s := range d.Sections {
			p.gap = true
			p.blocks(s.Blocks, false)
		}
		if !opts.Short || strings.Count(p.String(), "\n") <= screenLines {
			break
		}
	}
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// Print returns blocks as a terminal shows them, including blocks limited by Everywhere or OnTerminal.
func Print(opts TerminalOptions, blocks ...Block) string {
	p := newPage(opts)
	p.blocks(blocks, false)
	return p.String()
}

// page collects lines.
type page struct {
	strings.Builder
	width int
	color bool
	gap   bool // write an empty line before the next text
	of    Formats
	clip  int // most lines of a brief text or warning on a screen
}

func newPage(opts TerminalOptions) *page {
	if opts.Width <= 0 {
		opts.Width = 80
	}
	of := Terminal
	if opts.Short {
		of = Screen
	}
	return &page{width: max(opts.Width, 30), color: opts.Color, of: of}
}

var (
	stylePlain = ansi.NewStyle()
	styleBold  = stylePlain.Bold()
	styleFaint = stylePlain.Faint()
	styleWarn  = stylePlain.Bold().ForegroundColor(ansi.Yellow)
	styleMarks = map[string]ansi.Style{
		"best":  stylePlain.Bold().ForegroundColor(ansi.Green),
		"good":  stylePlain.ForegroundColor(ansi.Cyan),
		"worse": stylePlain.ForegroundColor(ansi.Red),
	}
)

// blocks writes the blocks that a terminal shows, including blocks limited to it by Only.
func (p *page) blocks(blocks []Block, shown bool) {
	for _, b := range blocks {
		switch b := b.(type) {
		case Only:
			if b.In&p.of != 0 {
				p.blocks(b.Blocks, true)
			}
		case Group:
			p.blocks(b, shown)
		case Fold:
			if shown {
				p.gap = true
				p.wrap(styleBold, b.Summary, "  ")
			}
			p.blocks(b.Blocks, shown)
		default:
			if shown {
				p.block(b)
			}
		}
	}
}

func (p *page) block(b Block) {
	switch b := b.(type) {
	case Headline:
		p.wrap(styleBold, string(b), "")
	case Heading:
		p.gap = true
		p.wrap(styleBold, string(b), "  ")
	case Brief:
		p.clipped(stylePlain, string(b), "  ")
	case Text:
		p.wrap(stylePlain, string(b), "  ")
	case Note:
		p.wrap(styleFaint, string(b), "")
	case Line:
		p.wrap(stylePlain, b.Text, "")
	case List:
		for _, s := range b {
			p.wrap(stylePlain, s, "  ")
		}
	case Notice:
		if p.of == Screen {
			p.clipped(styleWarn, "Warning: "+b.Message, "  ")
			break
		}
		p.gap = true
		p.wrap(styleWarn, "Warning: "+b.Message, "  ")
		if b.Remedy != "" {
			p.WriteString("  ")
			p.wrap(stylePlain, "Remedy: "+b.Remedy, "  ")
		}
	case Code:
		p.line(Clean(string(b)))
	case Table:
		p.table(b.within(p.of))
	}
}

func (p *page) style(s ansi.Style, text string) string {
	if !p.color || text == "" {
		return text
	}
	return s.Styled(text)
}

func (p *page) line(s string) {
	if p.gap && p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.gap = false
	p.WriteString(strings.TrimRight(s, " ") + "\n")
}

// clipped writes the first lines of a text. It cuts at the end of a clause in the second half of these lines, or
// otherwise at the end of a word.
func (p *page) clipped(s ansi.Style, text, indent string) {
	columns := p.width - ansi.StringWidth(indent)
	lines := strings.Split(ansi.Wrap(unbroken.Replace(Clean(text)), columns, ""), "\n")
	if len(lines) > p.clip {
		lines = append(lines[:p.clip-1], ansi.Truncate(strings.Join(lines[p.clip-1:], " "), columns-len(" …"), ""))
		text = strings.Join(lines, " ")
		end := max(strings.LastIndex(text, "; "), strings.LastIndex(text, ": "), strings.LastIndex(text, ", "))
		if end < len(text)/2 {
			end = strings.LastIndex(text, " ")
		}
		lines = []string{strings.TrimRight(text[:max(end, 0)], ";:, ") + " …"}
	}
	p.wrap(s, broken.Replace(strings.Join(lines, " ")), indent)
}

// wrap writes a wrapped text, and indents all lines after the first.
func (p *page) wrap(s ansi.Style, text, indent string) {
	if text == "" {
		return
	}
	text = unbroken.Replace(Clean(text))
	columns := p.width - ansi.StringWidth(indent)
	for i, l := range strings.Split(ansi.Wrap(text, columns, ""), "\n") {
		l = p.style(s, strings.TrimSpace(broken.Replace(l)))
		if i > 0 {
			l = indent + l
		}
		p.line(l)
	}
}

// A line break must not separate a number from its percent sign, or a flag at its hyphens.
var (
	unbroken = strings.NewReplacer(" %", "\u00a0%", "-", "\u2011")
	broken   = strings.NewReplacer("\u00a0%", " %", "\u2011", "-")
)

// Clean removes control characters from a stored text, since they could control the terminal.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if Steers(r) {
			return -1
		}
		return r
	}, s)
}

// Steers reports whether a character controls the terminal instead of being shown: control characters, and characters
// that change the direction of a line.
func Steers(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200e && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// table writes a head and a line for each row. If the terminal is too narrow, table first wraps the longest columns
// that may be wrapped. Then it drops the least informative columns, then cuts names, and at last wraps every column.
func (p *page) table(t Table) {
	if len(t.Rows) == 0 {
		return
	}
	cols := textColumns(t)
	for total(cols) > p.width {
		longest := slices.MaxFunc(cols, func(a, b textColumn) int { return a.spare() - b.spare() })
		sparest := slices.MaxFunc(cols, func(a, b textColumn) int { return a.Sparer - b.Sparer })
		if longest.spare() > 0 {
			cols[slices.IndexFunc(cols, func(c textColumn) bool { return c.spare() == longest.spare() })].width--
			continue
		}
		if sparest.Sparer == 0 {
			cut(cols, p.width, shortName)
			if widest := widestAfterFirst(cols); total(cols) > p.width && cols[widest].width > narrowest {
				cols[widest].Wraps = true
				continue
			}
			cut(cols, p.width, shortestName)
			break
		}
		cols = slices.DeleteFunc(cols, func(c textColumn) bool { return c.Sparer == sparest.Sparer })
	}
	for n := range len(t.Rows) + 1 {
		for i, more := 0, true; more; i++ {
			more = p.row(cols, n, i)
		}
	}
}

// row writes line i of a row, and reports whether more lines follow.
func (p *page) row(cols []textColumn, n, i int) (more bool) {
	var b strings.Builder
	for _, c := range cols {
		text, rest := c.broken(n, i)
		more = more || rest
		pad := strings.Repeat(" ", max(c.width-ansi.StringWidth(text), 0))
		switch {
		case n == 0:
			text = p.style(styleFaint, text)
		case c.marks[n] != "":
			text = p.style(styleMarks[c.marks[n]], text)
		}
		if c.Class == "num" {
			text = pad + text
		} else {
			text += pad
		}
		b.WriteString(text + "  ")
	}
	p.line(b.String())
	return more
}

// textColumn is a column as it is printed. Its first line is the head.
type textColumn struct {
	Column
	lines []string
	marks []string // class of the mark. Empty means no mark
	width int
}

// narrowest is the smallest width to which a column is wrapped. shortName is the length to which a row's name is cut
// while other columns can be wrapped; shortestName is the smallest length.
const (
	narrowest    = 10
	shortName    = 12
	shortestName = 6
)

// cut shortens the names of the rows to the space that the width leaves.
func cut(cols []textColumn, width, shortest int) {
	name := &cols[0]
	name.width = min(name.width, max(name.width-(total(cols)-width), shortest))
}

// widestAfterFirst returns the index of the widest column after the first, or 0 if there is only one.
func widestAfterFirst(cols []textColumn) int {
	widest := 0
	for i, c := range cols {
		if i > 0 && (widest == 0 || c.width > cols[widest].width) {
			widest = i
		}
	}
	return widest
}

// spare returns the width that wrapping can save in a column.
func (c textColumn) spare() int {
	if !c.Wraps {
		return 0
	}
	return max(c.width-narrowest, 0)
}

// broken returns line i of a row's text, and whether more lines follow.
func (c textColumn) broken(n, i int) (text string, more bool) {
	if !c.Wraps {
		if i > 0 {
			return "", false
		}
		return ansi.Truncate(c.lines[n], c.width, "…"), false
	}
	lines := strings.Split(ansi.Wrap(c.lines[n], c.width, ""), "\n")
	if i >= len(lines) {
		return "", false
	}
	return lines[i], i+1 < len(lines)
}

func textColumns(t Table) []textColumn {
	out := make([]textColumn, len(t.Columns))
	for i, c := range t.Columns {
		head := Clean(c.FullName())
		out[i] = textColumn{Column: c, lines: []string{head}, marks: []string{""}, width: ansi.StringWidth(head)}
		for _, r := range t.Rows {
			mark, cell := "", r.Cells[i]
			if cell.Mark != "" {
				mark = cell.Class
			}
			cell.Small = nil // one line has no space for it
			text := Clean(cell.line())
			out[i].lines, out[i].marks = append(out[i].lines, text), append(out[i].marks, mark)
			out[i].width = max(out[i].width, ansi.StringWidth(text))
		}
	}
	return out
}

func total(cols []textColumn) int {
	sum := -2
	for _, c := range cols {
		sum += c.width + 2
	}
	return sum
}
