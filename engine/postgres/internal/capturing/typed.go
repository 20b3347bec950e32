package capturing

import (
	"regexp"
	"strings"

	"filewise"
)

var (
	arithmetic = regexp.MustCompile(`(?:^|[^-+*/%<>=!~@#&|^?])[-+*/%]\s*$`) // ends what stands before a number
	follows    = regexp.MustCompile(`^\s*[-+*/%](?:[^-+*/%<>=!~@#&|^?>]|$)`)
	inArray    = regexp.MustCompile(`(?i)\bARRAY\s*\[\s*$`)
)

// ofNumbers has values be numbers that an operator of arithmetic stands beside: as literals they were, and without a type the
// server cannot decide which operator it is.
func ofNumbers(s *filewise.Shape) bool {
	of := make([]string, len(s.Values))
	changed := false
	for i, v := range s.Values {
		first := v.Literal != "" || v.Use == filewise.UseSpan || strings.HasPrefix(v.Text, "'")
		if first || !arithmetic.MatchString(s.Pieces[i]) && !follows.MatchString(s.Pieces[i+1]) {
			continue
		}
		of[i], changed = "integer", true
		if strings.Contains(v.Text, ".") {
			of[i] = "numeric"
		}
	}
	cast(s, of)
	return changed
}

// ofArrays has the values of ARRAY[…] be of a type.
func ofArrays(kind string) func(*filewise.Shape) bool {
	return func(s *filewise.Shape) bool {
		of := make([]string, len(s.Values))
		changed, within := false, false
		for i := range s.Values {
			if within = inArray.MatchString(s.Pieces[i]) || within && strings.TrimSpace(s.Pieces[i]) == ","; within {
				of[i], changed = kind, true
			}
		}
		cast(s, of)
		return changed
	}
}

// cast gives values types. An empty type leaves the value as it is.
func cast(s *filewise.Shape, of []string) {
	for i, kind := range of {
		if kind != "" {
			s.Pieces[i+1] = "::" + kind + s.Pieces[i+1]
		}
	}
}
