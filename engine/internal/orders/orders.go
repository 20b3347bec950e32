// Package orders holds the SQL of workload orders that engines share except for some words: the tables, the consistency
// conditions, and what is compared after the load and after the work.
package orders

import (
	"cmp"
	_ "embed"
	"fmt"
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

// Words holds an engine's SQL forms; in each of them % is replaced by the argument.
type Words struct {
	Types map[string]string // by column type; % is the length of a text. "null" is added to nullable columns
	// At returns a table's name in statements, given the values that a section is rendered with.
	At func(vars map[string]any, table string) (string, error)
	// Count counts more than 2³¹ rows, and Big writes a 64-bit number. Sum sums such numbers as the client reads them, and
	// Length is the length of a text. Each has a default if empty.
	Count, Big, Sum, Length string
	EmptyIsNull             bool // texts are joined before their length is taken, as the length of an empty one is NULL
}

// Table holds one of the nine tables of workload orders in an engine's words.
type Table struct {
	Number, Name, Columns, Key string
	Numbers, Lengths           string // sums over the numeric columns, and over the lengths of the text columns
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

// frag returns the name of table k of workload scan for a reader, from 0. Readers of the same query read different
// tables at the same time, as far as there are tables.
func frag(reader, k int) string { return fmt.Sprintf("frag%d", (reader+k-1)%4+1) }

// Folder reads an engine's SQL files, and adds the sections that all engines share. The engine's orders.sql lists the
// tables with {{range orders}}.
func (w Words) Folder(files fs.FS, edit func(text string) string, funcs template.FuncMap) sqlfile.Files {
	words := template.FuncMap{
		"orders": w.tables, "at": w.At, "frag": frag,
		"count": func() string { return cmp.Or(w.Count, "COUNT") },
		"big":   func(x string) string { return of(cmp.Or(w.Big, "%"), x) },
		"sum":   func(x string) string { return of(cmp.Or(w.Sum, "SUM(%)"), x) },
	}
	maps.Copy(words, funcs)
	all := sqlfile.Folder(files, edit, words)
	if err := all["orders"].Add(checks, words); err != nil {
		panic(err) // the text is embedded, so an error is a bug
	}
	return all
}
