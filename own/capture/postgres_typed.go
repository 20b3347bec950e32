package capture

import (
	"regexp"
	"strings"

	"filewise"
)

var (
	arithmetic = regexp.MustCompile(`(?:^|[^-+*/%<>=!~@#&|^?])[-+*/%]\s*$`) // matches text that ends in an operator before a number
	follows    = regexp.MustCompile(`^\s*[-+*/%](?:[^-+*/%<>=!~@#&|^?>]|$)`)
	inArray    = regexp.MustCompile(`(?i)\bARRAY\s*\[\s*$`)
)

// ofNumbers makes values next to an arithmetic operator numbers, as the literals were. Without a type the server cannot
// decide which operator is meant.
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

// ofArrays returns a function that gives the values in ARRAY[…] a type.
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

// cast adds types to values. An empty type leaves the value as it is.
func cast(s *filewise.Shape, of []string) {
	for i, kind := range of {
		if kind != "" {
			s.Pieces[i+1] = "::" + kind + s.Pieces[i+1]
		}
	}
}

// ofLiterals gives whole numbers that stand against no column the type that the literals had. Without it the server
// takes a parameter for a text: (VALUES (1), (2)), SELECT 1 AS a.
func ofLiterals(s *filewise.Shape) bool {
	of := make([]string, len(s.Values))
	changed := false
	for i, v := range s.Values {
		if v.Column == "" && v.Literal == "" && wholeNumber.MatchString(v.Text) {
			of[i], changed = "integer", true
		}
	}
	cast(s, of)
	return changed
}

var wholeNumber = regexp.MustCompile(`^\d{1,9}$`)
