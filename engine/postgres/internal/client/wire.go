package client

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"filewise"
)

// Wire are the arguments of one operation as PostgreSQL's text format. They allocate
// nothing once the buffers have grown, if Args is an ArgsWriter.
type Wire struct {
	Params [][]byte // in buf
	buf    []byte
	values []any // of Args that write nothing themselves
}

func (a *Wire) Clear() { a.Params, a.buf = a.Params[:0], a.buf[:0] }

// Write makes the arguments of an operation.
func (a *Wire) Write(args filewise.Args, worker int, i int64) {
	a.Clear()
	if w, ok := args.(filewise.ArgsWriter); ok {
		w.WriteArgs(a, worker, i)
		return
	}
	a.values = args.Args(a.values[:0], worker, i)
	a.Encode(a.values)
}

// Encode adds values as database/sql has them.
func (a *Wire) Encode(values []any) {
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			a.Int(v)
		case float64:
			a.Float(v)
		case string:
			a.add(append(a.buf, v...))
		case []byte:
			a.Text(v)
		case nil:
			a.Null()
		default:
			a.add(fmt.Append(a.buf, v))
		}
	}
}

// add takes the buffer with an argument at its end. One that has moved leaves the
// arguments before it if they were.
func (a *Wire) add(grown []byte) {
	a.Params = append(a.Params, grown[len(a.buf):len(grown):len(grown)])
	a.buf = grown
}

// Int adds a whole number.
func (a *Wire) Int(v int64) { a.add(strconv.AppendInt(a.buf, v, 10)) }

// Float adds a number so that it is read back exactly.
func (a *Wire) Float(v float64) { a.add(strconv.AppendFloat(a.buf, v, 'g', -1, 64)) }

// Text adds a text.
func (a *Wire) Text(v []byte) { a.add(append(a.buf, v...)) }

// Null adds the absence of a value.
func (a *Wire) Null() { a.Params = append(a.Params, nil) }

// EndRow does nothing.
func (a *Wire) EndRow() error { return nil }

// MaxName is PostgreSQL's limit of a name in bytes (NAMEDATALEN − 1). It cuts
// longer ones silently, and would then speak of another object.
const MaxName = 63

// Ident quotes an identifier (PostgreSQL's documentation, 4.1.1).
func Ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Table returns the quoted name of a table that is given as NAME, of schema public, or as SCHEMA.NAME.
func Table(told string) string {
	schema, name, is := strings.Cut(told, ".")
	if !is || schema == "" || name == "" {
		schema, name = "public", told
	}
	return Ident(schema) + "." + Ident(name)
}

// Literal quotes a text, whatever standard_conforming_strings is (4.1.2.2).
func Literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// CheckName refuses what cannot be a name, before it is put into a statement.
func CheckName(what, name string) error {
	var why string
	switch {
	case name == "":
		why = "it is empty"
	case len(name) > MaxName:
		why = fmt.Sprintf("it has %d bytes, PostgreSQL's names have up to %d", len(name), MaxName)
	case strings.ContainsRune(name, 0):
		why = "it holds a NUL"
	case !utf8.ValidString(name):
		why = "it is not UTF-8"
	default:
		return nil
	}
	return filewise.Errorf(filewise.CodeUsage, "name one that exists on the server", "%s %q cannot be a name: %s", what, name, why)
}

// PartitionName returns the name of a partition, within PostgreSQL's limit.
func PartitionName(table string, i int) string {
	suffix := fmt.Sprintf("_p%04d", i)
	if over := len(table) + len(suffix) - MaxName; over > 0 {
		table = table[:len(table)-over]
		for !utf8.ValidString(table) {
			table = table[:len(table)-1]
		}
	}
	return table + suffix
}
