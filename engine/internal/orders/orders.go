// Package orders has the SQL of workload orders that engines share except for their words: the
// tables, the consistency conditions, and what is compared after the load and the work.
package orders

import (
	"cmp"
	_ "embed"
	"io/fs"
	"maps"
	"strconv"
	"strings"
	"text/template"

	"filewise/internal/sqlfile"
	"filewise/lab/workload"
)

//go:embed checks.sql
var checks string

// Words are an engine's, in which % stands for what they are of.
type Words struct {
	Types map[string]string // of columns: % is a text's length; "null": of those that may be
	// At is a table's name in statements, of what a section is rendered with.
	At func(vars map[string]any, table string) (string, error)
	// The others can be empty. Count counts rows beyond 2³¹, Big is a number of 64 bits, Sum
	// a sum of such numbers as the client reads it, Length a text's.
	Count, Big, Sum, Length string
	EmptyIsNull             bool // texts are joined, and then have a length
}

// Table is one of the nine in an engine's words.
type Table struct {
	Number, Name, Columns, Key string
	Numbers, Lengths           string // the sums of what its columns have, by their kinds
}

func (w Words) tables() []Table {
	var all []Table
	for i, t := range workload.OrdersTables() {
		var columns, numbers, texts []string
		for _, c := range t.Columns {
			name, kind, _ := strings.Cut(c, " ")
			kind, null := strings.CutSuffix(cmp.Or(kind, "int"), "?")
			kind, length, text := strings.Cut(kind, ":")
			line := "  " + name + " " + of(w.Types[kind], length)
			if null {
				line += w.Types["null"]
				name = "COALESCE(" + name + ", 0)"
			} else {
				line += " NOT NULL"
			}
			columns = append(columns, line)
			if text {
				texts = append(texts, name)
			} else {
				numbers = append(numbers, name)
			}
		}
		all = append(all, Table{Number: strconv.Itoa(i + 1), Name: t.Name, Columns: strings.Join(columns, ",\n"), Key: strings.Join(t.Key, ", "),
			Numbers: strings.Join(numbers, " + "), Lengths: w.lengths(texts)})
	}
	return all
}

func (w Words) lengths(texts []string) string {
	if w.EmptyIsNull && len(texts) > 0 {
		texts = []string{strings.Join(texts, " || ")}
	}
	for i, t := range texts {
		texts[i] = of(cmp.Or(w.Length, "LENGTH(%)"), t)
	}
	return strings.Join(texts, " + ")
}

func of(format, x string) string { return strings.ReplaceAll(format, "%", x) }

// Folder reads an engine's files, whose orders.sql has the tables as {{range orders}}, and adds
// to it the sections that are the same for all.
func (w Words) Folder(files fs.FS, edit func(text string) string, funcs template.FuncMap) sqlfile.Files {
	words := template.FuncMap{
		"orders": w.tables, "at": w.At,
		"count": func() string { return cmp.Or(w.Count, "COUNT") },
		"big":   func(x string) string { return of(cmp.Or(w.Big, "%"), x) },
		"sum":   func(x string) string { return of(cmp.Or(w.Sum, "SUM(%)"), x) },
	}
	maps.Copy(words, funcs)
	all := sqlfile.Folder(files, edit, words)
	if err := all["orders"].Add(checks, words); err != nil {
		panic(err) // embedded: the programmer's
	}
	return all
}
