package dialect

import (
	"regexp"
	"strings"
)

// ANSI tracks the sql_mode of a dump or of a log's session: under ANSI, names are in double quotes. The zero value has
// another mode.
type ANSI struct {
	on   bool
	head bool // the dump's first sql_mode has it; definitions of routines return to that
	seen bool
}

var (
	sqlModes = regexp.MustCompile(`(?i)\bSQL_MODE ?:?= ?('[^']*'|"[^"]*"|CONCAT\([^()]*\))`)
	saved    = regexp.MustCompile(`(?i)\bSQL_MODE ?= ?@saved`)
)

// Backticked returns a statement with its names in backticks, as under other modes.
func (a *ANSI) Backticked(text string) string {
	if len(text) > 4 && strings.EqualFold(text[:4], "SET ") || strings.HasPrefix(text, "/*!") {
		switch m := sqlModes.FindStringSubmatch(text); {
		case m != nil:
			a.on = strings.Contains(strings.ToUpper(m[1]), "ANSI")
			a.head, a.seen = a.head || a.on && !a.seen, true
		case saved.MatchString(text):
			a.on = a.head
		}
	}
	if !a.on || !strings.Contains(text, `"`) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for i := 0; i < len(text); {
		quote := text[i]
		if quote != '\'' && quote != '"' && quote != '`' {
			b.WriteByte(quote)
			i++
			continue
		}
		end := closing(text, i)
		if piece := text[i:end]; quote == '"' && len(piece) > 1 {
			name := strings.ReplaceAll(piece[1:len(piece)-1], `""`, `"`)
			b.WriteString("`" + strings.ReplaceAll(name, "`", "``") + "`")
		} else {
			b.WriteString(piece)
		}
		i = end
	}
	return b.String()
}

// closing returns the position at which the quoted text that begins at a position ends.
func closing(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[at] == '\'' && text[i] == '\\':
			i++
		case text[i] == text[at] && i+1 < len(text) && text[i+1] == text[at]:
			i++
		case text[i] == text[at]:
			return i + 1
		}
	}
	return len(text)
}
