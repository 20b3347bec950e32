package postgres

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/dumpfile"
)

// dumpReader divides a dump's script as psql does: a statement ends with a semicolon at the
// end of a line, outside of quotes, brackets and bodies.
type dumpReader struct {
	in       *bufio.Reader
	quote    string // that is open: ', " or $tag$
	escapes  bool   // E'…'
	brackets int
	body     bool // BEGIN ATOMIC
}

var dollar = regexp.MustCompile(`^\$(?:[\pL_][\pL\pN_]*)?\$`)

// next is the next statement with its semicolon, or a command of psql's; io.EOF: there is none.
func (s *dumpReader) next() (string, error) {
	var b strings.Builder
	for {
		line, err := dumpfile.Line(s.in, b.Len())
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		trimmed := strings.TrimSpace(line)
		switch {
		case b.Len() == 0 && (trimmed == "" || strings.HasPrefix(trimmed, "--")):
			if err != nil {
				return "", io.EOF
			}
			continue
		case b.Len() == 0 && trimmed[0] == '\\':
			return trimmed, nil
		}
		b.WriteString(line)
		if s.ends(line, trimmed) {
			return strings.TrimRight(b.String(), "\r\n"), nil
		}
		if err != nil {
			return "", fmt.Errorf("the dump ends within a statement: %w: %.200s", io.ErrUnexpectedEOF, b.String())
		}
	}
}

// ends tells whether a statement ends with a line.
func (s *dumpReader) ends(line, trimmed string) bool {
	s.body = s.quote == "" && (s.body && trimmed != "END;" || trimmed == "BEGIN ATOMIC")
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case s.quote != "" && s.escapes && c == '\\':
			i++
		case s.quote != "" && strings.HasPrefix(line[i:], s.quote):
			if len(s.quote) == 1 && strings.HasPrefix(line[i+1:], s.quote) { // it stands for itself
				i++
				continue
			}
			i += len(s.quote) - 1
			s.quote = ""
		case s.quote != "":
		case c == '\'' || c == '"':
			s.quote, s.escapes = line[i:i+1], c == '\'' && i > 0 && line[i-1] == 'E'
		case c == '$':
			s.quote, s.escapes = dollar.FindString(line[i:]), false
			i += max(len(s.quote)-1, 0)
		case c == '(':
			s.brackets++
		case c == ')':
			s.brackets--
		}
	}
	return s.quote == "" && s.brackets == 0 && !s.body && strings.HasSuffix(trimmed, ";")
}

var (
	unique = regexp.MustCompile(`(?s)^ALTER TABLE ONLY public\.` + identifier +
		`\n    ADD CONSTRAINT .* (?:PRIMARY KEY|UNIQUE)[A-Z ]* \((.*);$`)
	uniqueIndex = regexp.MustCompile(`(?s)^CREATE UNIQUE INDEX .* ON public\.` + identifier + ` USING btree \((.*);$`)
	keyColumn   = regexp.MustCompile(`^` + identifier + `(?: [^(]*)?$`)
	// unheld is what a partitioned table cannot have.
	unheld = regexp.MustCompile(`(?s)^(?:ALTER TABLE (?:ONLY )?public\.` + identifier +
		`(?:\n    ADD CONSTRAINT .* (?:EXCLUDE USING .*|FOREIGN KEY .* NOT VALID;)| CLUSTER ON .*)` +
		`|CREATE TRIGGER .* ON public\.` + identifier + ` REFERENCING .* FOR EACH ROW .*)$`)
)

// hold refuses layouts that cannot hold the tables of a dump.
func hold(layouts []filewise.Layout, custom *filewise.CustomSQL, script io.Reader) error {
	divide := slices.ContainsFunc(layouts, func(l filewise.Layout) bool { return l.Kind != filewise.KindSingle })
	all, has := dumpReader{in: bufio.NewReaderSize(script, 1<<20)}, map[string]bool{}
	for {
		text, err := all.next()
		if errors.Is(err, io.EOF) {
			return dumpfile.CheckTables(custom, func(name string) bool { return has[name] }, " in schema public")
		}
		if err != nil {
			return err
		}
		if copies.MatchString(text) {
			if _, err := io.Copy(io.Discard, &block{in: all.in}); err != nil {
				return err
			}
		}
		if m := creates.FindStringSubmatch(text); m != nil {
			has[plain(m[1])] = true
		}
		for _, t := range custom.Tables {
			if err := holds(t, text); divide && err != nil {
				return err
			}
		}
	}
}

// holds refuses a statement about a table that its partitions cannot have.
func holds(t filewise.CustomTable, text string) error {
	for _, about := range []*regexp.Regexp{creates, unique, uniqueIndex, unheld} {
		m := about.FindStringSubmatch(text)
		if m == nil || plain(m[1]) != t.Name && (about != unheld || plain(m[2]) != t.Name) {
			continue
		}
		switch about {
		case creates:
			if _, properties := divided(text); properties != "" {
				return parameters(t.Name, properties)
			}
		case unheld:
			return dumpfile.Refuse("table %s cannot be divided: %s", t.Name, strings.Join(strings.Fields(text), " "))
		default:
			return dumpfile.CheckKey(t, keyColumns(m[2]))
		}
	}
	return nil
}

// keyColumns are the columns of a list that a bracket ends; expressions are none.
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
				all = append(all, plain(m[1]))
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

// plain is a name without its quotes.
func plain(said string) string {
	if quoted, is := strings.CutPrefix(said, `"`); is {
		return strings.ReplaceAll(strings.TrimSuffix(quoted, `"`), `""`, `"`)
	}
	return said
}

// divided divides a CREATE TABLE into its columns, and what follows them.
func divided(text string) (columns, properties string) {
	at := strings.LastIndex(text, "\n)")
	return text[:at], strings.TrimSpace(strings.TrimSuffix(text[at+len("\n)"):], ";"))
}

// parameters refuses what follows the columns of a table, unless it is of storage parameters.
func parameters(table, properties string) error {
	if strings.HasPrefix(properties, "WITH (") && strings.HasSuffix(properties, ")") {
		return nil
	}
	return dumpfile.Refuse("table %s has properties of its own, which a layout may not hold: %s", table, properties)
}
