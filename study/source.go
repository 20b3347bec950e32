package study

import (
	"fmt"
	"strings"

	"filewise"
)

// Place is where something stands in a study file, both from 1.
type Place struct{ Line, Column int }

// source is a file's text, for errors that show the place.
type source struct {
	name  string
	lines []string
}

func newSource(name string, text []byte) source {
	return source{name, masked(strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"))}
}

// wrong is a usage error about a place, with the lines there.
func (s source) wrong(at Place, remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "%s:%d:%d: %s%s", s.name, at.Line, at.Column,
		address.ReplaceAllString(fmt.Sprintf(format, args...), "$1"+asterisks), s.excerpt(at))
}

// at says where something stands that another layer has refused.
func (s source) at(at Place, err error) error {
	return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "%s:%d:%d: %w%s", s.name, at.Line, at.Column, err, s.excerpt(at))
}

// excerpt is the line with the one before it, and a mark under the column.
func (s source) excerpt(at Place) string {
	if at.Line < 1 || at.Line > len(s.lines) {
		return ""
	}
	var b strings.Builder
	for n := max(at.Line-1, 1); n <= at.Line; n++ {
		fmt.Fprintf(&b, "\n  %4d | %s", n, s.line(n))
	}
	before := []rune(s.line(at.Line))
	before = before[:min(max(at.Column-1, 0), len(before))]
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string(before))
	return b.String() + "\n       | " + pad + "^"
}

// line is a line as it may be shown: not endless.
func (s source) line(n int) string {
	const most = 160
	text := s.lines[n-1]
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}
