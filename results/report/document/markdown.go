package document

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes a document for a ticket or a wiki. It leaves out charts, and folds that paper leaves out.
func WriteMarkdown(w io.Writer, d Document) error {
	m := &markdown{}
	for _, s := range d.Sections {
		rest := markdown{}
		rest.blocks(s.Blocks)
		if rest.Len() > 0 && s.Title != "" {
			m.para("## " + escape(s.Title))
		}
		m.WriteString(rest.String())
	}
	if _, err := io.WriteString(w, m.String()); err != nil {
		return fmt.Errorf("write the result as Markdown: %w", err)
	}
	return nil
}

type markdown struct{ strings.Builder }

func (m *markdown) para(s string) {
	if s != "" {
		m.WriteString(s + "\n\n")
	}
}

func (m *markdown) blocks(blocks []Block) {
	for i, b := range blocks {
		switch b := b.(type) {
		case Headline:
			m.para("# " + escape(string(b)))
		case Heading:
			m.para("### " + escape(string(b)))
		case Text:
			m.para(escape(string(b)))
		case Note:
			m.para(escape(string(b)))
		case Line:
			m.para(escape(b.Text))
		case List:
			for _, s := range b {
				m.WriteString("- " + escape(s) + "\n")
			}
			m.WriteString("\n")
		case Notice:
			m.notice(b)
			if i == len(blocks)-1 {
				m.WriteString("\n")
			}
		case Code:
			m.code(string(b))
		case Table:
			m.table(b.within(Markdown))
		case Fold:
			if b.Print {
				m.para("### " + escape(b.Summary))
				m.blocks(b.Blocks)
			}
		case Group:
			m.blocks(b)
		case Figure:
			for _, d := range b.Drawings {
				if d.Table != nil {
					m.table(d.Table.within(Markdown))
				}
			}
		case Only:
			if b.In&Markdown != 0 {
				m.blocks(b.Blocks)
			}
		}
	}
}

func (m *markdown) notice(n Notice) {
	m.WriteString("- " + escape(n.Message))
	if n.Remedy != "" {
		m.WriteString("\\\n  Remedy: " + escape(n.Remedy))
	}
	m.WriteString("\n")
}

func (m *markdown) table(t Table) {
	if len(t.Rows) == 0 {
		return
	}
	line := func(cells []string) { m.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	var head, rule []string
	for _, c := range t.Columns {
		head = append(head, escape(c.FullName()))
		rule = append(rule, map[bool]string{true: "---:", false: "---"}[c.Class == "num"])
	}
	if t.Caption != "" {
		m.para("**" + escape(t.Caption) + "**")
	}
	line(head)
	line(rule)
	for _, r := range t.Rows {
		cells := make([]string, len(r.Cells))
		for i, c := range r.Cells {
			cells[i] = escape(c.line())
		}
		line(cells)
	}
	m.WriteString("\n")
}

// code writes a command as a code block that its content cannot end.
func (m *markdown) code(s string) {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	m.para(fence + "\n" + Clean(s) + "\n" + fence)
}

var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`",
	"*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, "!", `\!`)

// escape makes a stored text harmless within a line of Markdown.
func escape(s string) string { return markup.Replace(Clean(s)) }
