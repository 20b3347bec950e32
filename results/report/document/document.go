// Package document holds a report as every format shows it: sections of texts, tables and charts. A document is built
// once and written as HTML, as Markdown or for a terminal. The package does not depend on the report's subject.
package document

import (
	"html/template"
	"io"
	"slices"
)

// Formats is a set of formats.
type Formats uint8

// The formats, and some sets of them.
const (
	HTML Formats = 1 << iota
	Markdown
	Terminal
	Screen                   // terminal screen after a run: only what fits
	Paper  = HTML | Markdown // formats that show blocks, unless an Only chooses others
	All    = Paper | Terminal | Screen
)

// Document is the content to write.
type Document struct {
	Title     string        // of the browser's window
	Generator string        // the program that measured, and its version
	Shapes    template.HTML // definitions that drawings refer to
	About     []string
	Footer    []string
	Terms     map[string]string // meanings of words that stand alone, such as column heads
	Sections  []Section
}

// Section is a part of the document that the table of contents links to. Pages show the first section unfolded, the
// others folded.
type Section struct {
	ID     string // anchor for links
	Name   string // in the table of contents. Empty means not listed
	Title  string // heading. Empty means the section's blocks begin with one
	Print  bool   // shown on paper
	Blocks []Block
}

// Block is a piece of a section: one of the types of this package.
type Block interface{ kind() string }

// Headline is the main heading. Its first sentence is shown in large letters.
type Headline string

// Heading is one level below a section's heading.
type Heading string

// Text is a paragraph. A terminal indents its lines after the first.
type Text string

// Note is a paragraph in small letters, about the block before it.
type Note string

// Brief is a paragraph of which a screen may show only the beginning.
type Brief string

// Line is a paragraph with a class of the style sheet: kicker, gain, stopped.
type Line struct{ Class, Text string }

// List is a list of sentences.
type List []string

// Notice is a warning and its remedy, which may be empty.
type Notice struct{ Message, Remedy string }

// Code is text for the user to type.
type Code string

// Figure is one drawing, or several small ones. Only HTML shows it, so the table next to it must have the numbers.
type Figure struct {
	ID, Caption string
	Legend      []Swatch
	LegendOf    string // the legend's subject, for screen readers
	Drawings    []Drawing
	Grid        bool // draw small, side by side, even if there is only one
}

// Drawing is one chart.
type Drawing struct {
	Name     string // empty if it is the only one
	Legend   []Swatch
	LegendOf string
	SVG      template.HTML
	// Table has the drawing's numbers, and is shown below it. Nil means there is none.
	Table *Table
}

// Swatch is one entry of a legend.
type Swatch struct {
	Name string
	Icon template.HTML
}

// Fold is folded away on a screen. If Print is not set, paper and Markdown leave it out.
type Fold struct {
	Summary string
	Print   bool
	Blocks  []Block
}

// Group keeps blocks side by side.
type Group []Block

// Only limits blocks to some formats.
type Only struct {
	In     Formats
	Blocks []Block
}

// Everywhere shows blocks in all formats except on a screen, where everything must fit.
func Everywhere(blocks ...Block) Only { return Only{Paper | Terminal, blocks} }

// OnScreen shows blocks only on a screen, where everything must fit.
func OnScreen(blocks ...Block) Only { return Only{Screen, blocks} }

// OnTerminal shows blocks only on a terminal.
func OnTerminal(blocks ...Block) Only { return Only{Terminal, blocks} }

// OnPages shows blocks only in HTML.
func OnPages(blocks ...Block) Only { return Only{HTML, blocks} }

func (Headline) kind() string { return "headline" }
func (Heading) kind() string  { return "heading" }
func (Text) kind() string     { return "text" }
func (Brief) kind() string    { return "text" }
func (Note) kind() string     { return "note" }
func (Line) kind() string     { return "line" }
func (List) kind() string     { return "list" }
func (Notice) kind() string   { return "notice" }
func (Code) kind() string     { return "code" }
func (Figure) kind() string   { return "figure" }
func (Table) kind() string    { return "table" }
func (Fold) kind() string     { return "fold" }
func (Group) kind() string    { return "group" }
func (Only) kind() string     { return "only" }

// Write writes a document as text, or in the named format: markdown, html.
func Write(w io.Writer, d Document, format string, opts TerminalOptions) error {
	switch format {
	case "markdown":
		return WriteMarkdown(w, d)
	case "html":
		return WriteHTML(w, d)
	}
	return WriteTerminal(w, d, opts)
}

// Tables returns all tables of a document, in order. A table that a page shows in two parts is returned as one.
func (d Document) Tables() []Values {
	var out []Values
	for _, s := range d.Sections {
		for _, t := range tables(s.Blocks) {
			if t.Class != "more" && !slices.ContainsFunc(out, func(o Values) bool { return o.Caption == t.Caption }) {
				out = append(out, t.values())
			}
		}
	}
	return out
}

func tables(blocks []Block) []Table {
	var out []Table
	for _, b := range blocks {
		switch b := b.(type) {
		case Table:
			if len(b.Rows) > 0 {
				out = append(out, b)
			}
		case Only:
			if b.In&Paper != 0 {
				out = append(out, tables(b.Blocks)...)
			}
		case Fold:
			out = append(out, tables(b.Blocks)...)
		case Group:
			out = append(out, tables(b)...)
		case Figure:
			for _, d := range b.Drawings {
				if d.Table != nil {
					out = append(out, *d.Table)
				}
			}
		}
	}
	return out
}
