package preview

import (
	"fmt"
	"strings"

	"filewise"
)

// lines are a text on its way.
type lines struct{ strings.Builder }

func (w *lines) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// Findings lists findings with what to do about each.
func Findings(findings []filewise.Finding) string {
	w := &lines{}
	for _, f := range findings {
		w.printf("  %-8s %s: %s\n", f.Status, f.Check, Indent(f.Detail, 11))
		if f.Remedy != "" {
			w.printf("           → %s\n", Indent(f.Remedy, 13))
		}
	}
	return w.String()
}

// Indent puts further lines of a text below its first.
func Indent(text string, by int) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+strings.Repeat(" ", by))
}
