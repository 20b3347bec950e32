package document

import (
	"math"
	"slices"
	"strings"
)

// Table has a line for each subject. A table without rows is not shown.
type Table struct {
	Caption string // unique in the document
	Class   string // main, more (part of another table), long, matrix, looks, where, facts
	Columns []Column
	Rows    []Row
}

// Column is a column of a table.
type Column struct {
	Group  string // head over this column and the neighbours with the same group
	Head   string
	Unit   string // of the values, for programs. Empty means no unit, or Head has it
	Class  string // num (aligned right), nb (one line), words, path
	Names  bool   // the cell names the row's subject
	In     Formats
	Wraps  bool // wrapped on a narrow terminal
	Sparer int  // a narrow terminal drops the highest first. 0 means never
}

// Row is a line of a table.
type Row struct {
	Class string // best, good, same, worse, open
	Cells []Cell
}

// Cell holds a row's content in a column.
type Cell struct {
	Text  string
	Mark  string   // a highlighted word, in the colour of Class
	Class string   // as in Row
	Row   bool     // Class applies to the whole row
	Small []string // below the text
	Bar   float64  // bar, in percent of the width. 0 means none
	Value any      // for programs, instead of the text; NaN becomes null
}

// Of is a column for rows of type T.
type Of[T any] struct {
	Column
	Cell func(T) Cell
}

// Tabulate fills a table with rows.
func Tabulate[T any](t Table, rows []T, columns ...Of[T]) Table {
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, r := range rows {
		line := Row{Cells: make([]Cell, len(columns))}
		for i, c := range columns {
			line.Cells[i] = c.Cell(r)
			if line.Cells[i].Row {
				line.Class = line.Cells[i].Class
			}
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// Name returns the column with the row's subject.
func Name[T any](head string, text func(T) string) Of[T] {
	c := Words(head, text)
	c.Names = true
	return c
}

// Words returns a column of texts.
func Words[T any](head string, text func(T) string) Of[T] {
	return Cells(head, func(r T) Cell { return Cell{Text: text(r)} })
}

// Num returns a column of formatted numbers.
func Num[T any](head string, text func(T) string) Of[T] { return Words(head, text).As("num") }

// Cells returns a column of arbitrary cells.
func Cells[T any](head string, cell func(T) Cell) Of[T] {
	return Of[T]{Column{Head: head, In: All}, cell}
}

// As sets a column's class.
func (c Of[T]) As(class string) Of[T] { c.Class = class; return c }

// Spare sets the order in which a narrow terminal drops columns, the highest first.
func (c Of[T]) Spare(n int) Of[T] { c.Sparer = n; return c }

// Wrapped lets a narrow terminal break the lines of a column.
func (c Of[T]) Wrapped() Of[T] { c.Wraps = true; return c }

// Only limits a column to some formats.
func (c Of[T]) Only(in Formats) Of[T] { c.In = in; return c }

// Raw adds the numbers of a column, in the given unit, for programs.
func (c Of[T]) Raw(unit string, value func(T) float64) Of[T] {
	cell := c.Cell
	c.Unit = unit
	c.Cell = func(r T) Cell {
		out := cell(r)
		out.Value = value(r)
		return out
	}
	return c
}

// within returns the table with the columns that a format shows.
func (t Table) within(f Formats) Table {
	out := t
	out.Columns, out.Rows = nil, make([]Row, len(t.Rows))
	for i, r := range t.Rows {
		out.Rows[i].Class = r.Class
	}
	for k, c := range t.Columns {
		if c.In&f == 0 {
			continue
		}
		out.Columns = append(out.Columns, c)
		for i, r := range t.Rows {
			out.Rows[i].Cells = append(out.Rows[i].Cells, r.Cells[k])
		}
	}
	return out
}

// Headless reports whether no column has a head.
func (t Table) Headless() bool {
	return !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Head != "" })
}

// FullName returns the head, together with the group above it.
func (c Column) FullName() string {
	if c.Group == "" {
		return c.Head
	}
	return c.Group + ": " + c.Head
}

// span is a head over several columns.
type span struct {
	Name    string
	Columns int
}

// Spans returns the heads above the column heads, or none if no column has a group.
func (t Table) Spans() []span {
	var out []span
	grouped := false
	for _, c := range t.Columns {
		grouped = grouped || c.Group != ""
		if n := len(out); n > 0 && out[n-1].Name == c.Group {
			out[n-1].Columns++
		} else {
			out = append(out, span{c.Group, 1})
		}
	}
	if !grouped {
		return nil
	}
	return out
}

// line returns a cell's whole text on one line.
func (c Cell) line() string {
	out := c.Text
	for _, s := range append([]string{c.Mark}, c.Small...) {
		switch {
		case s == "" || out == "":
			out += s
		case strings.HasPrefix(s, "("):
			out += " " + s
		default:
			out += "; " + s
		}
	}
	return out
}

// Values is the JSON form of a table.
type Values struct {
	Caption string        `json:"caption"`
	Columns []ValueColumn `json:"columns"`
	Rows    [][]any       `json:"rows"`
}

type ValueColumn struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
}

// values returns the columns, and the rows of values in their order. A value is a number if it is known to be one, null
// if it is not known, and otherwise the text.
func (t Table) values() Values {
	doc := Values{Caption: t.Caption, Rows: make([][]any, len(t.Rows))}
	for _, c := range t.Columns {
		doc.Columns = append(doc.Columns, ValueColumn{c.FullName(), c.Unit})
	}
	for i, r := range t.Rows {
		for _, c := range r.Cells {
			doc.Rows[i] = append(doc.Rows[i], c.value())
		}
	}
	return doc
}

func (c Cell) value() any {
	switch x := c.Value.(type) {
	case nil:
		return c.line()
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
	}
	return c.Value
}
