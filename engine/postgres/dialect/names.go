// Package dialect writes names and literals as PostgreSQL's statements take them.
package dialect

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"filewise"
)

// TablespacePrefix is the prefix of a volume's Dir that names an existing tablespace.
const TablespacePrefix = "tablespace:"

// MaxName is PostgreSQL's limit on names in bytes (NAMEDATALEN − 1). PostgreSQL silently cuts longer names, which could
// then name another object.
const MaxName = 63

// Ident quotes an identifier (PostgreSQL's documentation, 4.1.1).
func Ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Table returns a table's quoted name. given is NAME, which is in schema public, or SCHEMA.NAME.
func Table(given string) string {
	schema, name, is := strings.Cut(given, ".")
	if !is || schema == "" || name == "" {
		schema, name = "public", given
	}
	return Ident(schema) + "." + Ident(name)
}

// Literal quotes a text so that it is read equally with either standard_conforming_strings (4.1.2.2).
func Literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// CheckName refuses a text that cannot be a name, before it is put into a statement.
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
