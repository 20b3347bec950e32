package dump

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/dumpfile"
)

var (
	unique = regexp.MustCompile(`(?s)^ALTER TABLE ONLY ` + qualified +
		`\n    ADD CONSTRAINT .* (?:PRIMARY KEY|UNIQUE)[A-Z ]* \((.*);$`)
	uniqueIndex = regexp.MustCompile(`(?s)^CREATE UNIQUE INDEX .* ON ` + qualified + ` USING btree \((.*);$`)
	// createsTable is as anybody writes it, and written as pg_dump does: with a schema.
	createsTable = regexp.MustCompile(`(?i)^CREATE\s+TABLE\b`)
	written      = regexp.MustCompile(`^CREATE TABLE ` + identifier + `\.`)
	keyColumn    = regexp.MustCompile(`^` + identifier + `(?: [^(]*)?$`)
	// unheld matches statements that a partitioned table cannot have.
	unheld = regexp.MustCompile(`(?s)^(?:ALTER TABLE (?:ONLY )?` + qualified +
		`(?:\n    ADD CONSTRAINT .* (?:EXCLUDE USING .*|FOREIGN KEY .* NOT VALID;)| CLUSTER ON .*)` +
		`|CREATE TRIGGER .* ON ` + qualified + ` REFERENCING .* FOR EACH ROW .*` +
		`|CREATE UNLOGGED TABLE ` + qualified + ` \(.*)$`)
	// inherits captures the names of a table's parents. A parent by INHERITS cannot be partitioned.
	inherits = regexp.MustCompile(`(?s)^CREATE [A-Z ]*TABLE .*\nINHERITS \((.*)\).*$`)
	aTable   = regexp.MustCompile(qualified)
)

// hold refuses layouts that cannot hold the tables of a dump, and returns which tables the dump has.
func hold(layouts []filewise.Layout, custom *filewise.CustomSQL, script io.Reader) (map[string]bool, error) {
	divide := slices.ContainsFunc(layouts, func(l filewise.Layout) bool { return l.Kind != filewise.KindSingle })
	all, has, why := reader{in: bufio.NewReaderSize(script, 1<<20)}, map[string]bool{}, map[string]error{}
	for {
		text, err := all.next()
		if errors.Is(err, io.EOF) {
			return has, dumpfile.Refused(custom.Tables, why, func(name string) bool { return has[name] }, filewise.KindSingle)
		}
		if strings.HasPrefix(text, `\connect`) {
			err = errSeveral
		}
		if err != nil {
			return has, err
		}
		if copies.MatchString(text) {
			if _, err := io.Copy(io.Discard, &block{in: all.in}); err != nil {
				return has, err
			}
		}
		m := creates.FindStringSubmatch(text)
		switch {
		case m != nil:
			has[listed(m[1:])] = true
		case createsTable.MatchString(text) && !written.MatchString(text) && len(custom.Tables) > 0:
			return nil, dumpfile.NotWritten(programs, "its CREATE TABLE has an unknown form: %.60q", text)
		}
		for _, t := range custom.Tables {
			if divide && why[t.Name] == nil {
				why[t.Name] = holds(t, text)
			}
		}
	}
}

// holds refuses a statement about a table that its partitions cannot carry out.
func holds(t filewise.CustomTable, text string) error {
	if m := inherits.FindStringSubmatch(text); m != nil && slices.ContainsFunc(aTable.FindAllStringSubmatch(m[1], -1), func(m []string) bool {
		return listed(m[1:]) == t.Name
	}) {
		return inOneLine(t, text)
	}
	for _, about := range []*regexp.Regexp{creates, unique, uniqueIndex, unheld} {
		m := about.FindStringSubmatch(text)
		if m == nil || !names(m[1:], t.Name) {
			continue
		}
		switch about {
		case creates:
			if _, properties := divided(text); properties != "" {
				return parameters(t.Name, properties)
			}
		case unheld:
			return inOneLine(t, text)
		default:
			return dumpfile.CheckKey(t, keyColumns(m[3]))
		}
	}
	return nil
}

// keyColumns returns the columns in a list, up to its closing bracket. Expressions are left out.
func keyColumns(list string) (all []string) {
	depth, start, quoted := 0, 0, false
	for i, c := range list {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case depth == 0 && (c == ',' || c == ')'):
			if m := keyColumn.FindStringSubmatch(strings.TrimSpace(list[start:i])); m != nil {
				all = append(all, unquoted(m[1]))
			}
			if start = i + 1; c == ')' {
				return all
			}
		case c == ')':
			depth--
		}
	}
	return all
}

// inOneLine returns the error that refuses a table because of a statement in the dump.
func inOneLine(t filewise.CustomTable, text string) error {
	return dumpfile.Refuse("table %s cannot be divided: %s", t.Name, strings.Join(strings.Fields(text), " "))
}

// names reports whether a qualified name in a match names a table. Other parts of the expression follow the first
// name.
func names(match []string, table string) bool {
	for i := 0; i+1 < len(match); i += 2 {
		if match[i] != "" && listed(match[i:]) == table {
			return true
		}
	}
	return false
}

// listed returns a table's name as custom.tables spells it, from its schema and name.
func listed(match []string) string {
	schema, name := unquoted(match[0]), unquoted(match[1])
	if schema == "public" {
		return name
	}
	return schema + "." + name
}

// unquoted returns a name without its quotes.
func unquoted(text string) string {
	if quoted, is := strings.CutPrefix(text, `"`); is {
		return strings.ReplaceAll(strings.TrimSuffix(quoted, `"`), `""`, `"`)
	}
	return text
}

// divided splits a CREATE TABLE into its columns and what follows them.
func divided(text string) (columns, properties string) {
	at := strings.LastIndex(text, "\n)")
	return text[:at], strings.TrimSpace(strings.TrimSuffix(text[at+len("\n)"):], ";"))
}

// parameters refuses what follows a table's columns, unless it is storage parameters.
func parameters(table, properties string) error {
	if strings.HasPrefix(properties, "WITH (") && strings.HasSuffix(properties, ")") {
		return nil
	}
	return dumpfile.Refuse("table %s has its own properties, which a layout may not hold: %s", table, properties)
}
