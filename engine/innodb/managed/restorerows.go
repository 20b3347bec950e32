package managed

import (
	"regexp"
	"strings"
)

var inserts = regexp.MustCompile("^INSERT (?:IGNORE )?INTO `((?:[^`]|``)+)` ?(\\((?:`(?:[^`]|``)+`(?:, ?)?)+\\))? ?VALUES")

// making replaces the values of generated columns, so that the server computes them. MariaDB's program writes these
// values, which MySQL refuses. The servers' own programs leave them out.
func (r *restorer) making(text string) string {
	if len(r.tables) == 0 {
		return text
	}
	m := inserts.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	t := r.tables[strings.ReplaceAll(m[1], "``", "`")]
	columns := t.columns
	if m[2] != "" {
		columns = nil
		for _, part := range keyPart.FindAllStringSubmatch(m[2], -1) {
			columns = append(columns, strings.ReplaceAll(part[1], "``", "`"))
		}
	}
	made, some := make([]bool, len(columns)), false
	for i, c := range columns {
		made[i] = t.made[c]
		some = some || made[i]
	}
	if !some {
		return text
	}
	return text[:len(m[0])] + defaults(text[len(m[0]):], made)
}

// defaults replaces some values of each row by DEFAULT.
func defaults(rows string, of []bool) string {
	var b strings.Builder
	b.Grow(len(rows))
	column, start, from, quote := -1, 0, 0, byte(0) // start is where the value begins; from is where the unwritten text begins
	for i := 0; i < len(rows); i++ {
		switch c := rows[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 || c == '\'' || c == '"':
			if quote == 0 {
				quote = c
			} else if c == quote {
				quote = 0
			}
		case c == '(':
			column, start = 0, i+1
		case (c == ',' || c == ')') && column >= 0:
			if column < len(of) && of[column] {
				b.WriteString(rows[from:start] + "DEFAULT")
				from = i
			}
			if column, start = column+1, i+1; c == ')' {
				column = -1
			}
		}
	}
	return b.String() + rows[from:]
}
