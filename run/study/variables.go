package study

import (
	"fmt"
	"regexp"
	"strings"

	"filewise"
	"filewise/host/target"
	"filewise/watch/notify"
)

// variable matches ${NAME}. If another $ precedes it, the text is taken literally.
var variable = regexp.MustCompile(`\$?\$\{[^}]*\}`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces variables in every text of the node except the user's SQL, and collects secrets.
func (l *loader) expand(n *node, s *spec) error {
	if s != nil && s.raw {
		return nil
	}
	for _, x := range n.fields {
		if err := l.expand(x.value, s.inside(x.name)); err != nil {
			return err
		}
		if x.name == "notify" { // one address, or several
			for _, hook := range append(x.value.items, x.value) {
				l.secrets = append(l.secrets, notify.SecretsIn(hook.text)...)
			}
		}
	}
	for _, item := range n.items {
		if err := l.expand(item, s.inside("")); err != nil {
			return err
		}
	}
	if n.kind != kindText {
		return nil
	}
	if s != nil && s.Type == secret {
		return l.expandSecret(n)
	}
	text, err := l.replaced(n)
	if err != nil {
		return err
	}
	n.text = text
	l.secrets = append(l.secrets, target.SecretsIn(text)...)
	return nil
}

// inside returns the specification of a field or an item, or nil if none is known.
func (s *spec) inside(name string) *spec {
	switch {
	case s == nil:
		return nil
	case s.Type == object:
		return s.field(name)
	case s.Type == items || s.Type == named:
		return s.of
	}
	return nil
}

// expandSecret takes a secret from the environment. It refuses a secret written in the file, since all readers of the
// file would see it.
func (l *loader) expandSecret(n *node) error {
	if !variable.MatchString(n.text) || variable.ReplaceAllString(n.text, "") != "" {
		l.secrets = append(l.secrets, filewise.Secret(n.text))
		return l.wrong(n.place, "write ${NAME}, and set that variable", "a password does not stand in a study file")
	}
	text, err := l.replaced(n)
	n.text = text
	l.secrets = append(l.secrets, filewise.Secret(text))
	return err
}

// replaced returns the text with its variables replaced.
func (l *loader) replaced(n *node) (_ string, err error) {
	out := variable.ReplaceAllStringFunc(n.text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found[1:]
		}
		name := found[2 : len(found)-1]
		if !variableName.MatchString(name) {
			err = l.wrong(n.place, "write ${NAME}, of letters, digits and _; $${ is a plain ${", "%s is no variable", found)
			return ""
		}
		value, ok := l.getenv(name)
		if !ok && err == nil {
			err = l.wrong(n.place, "set it, such as: export "+name+"=…; $${ is a plain ${", "the variable %s is not set in the environment", name)
		}
		if target.IsSecret(name) {
			l.secrets = append(l.secrets, filewise.Secret(value))
		}
		return value
	})
	return out, err
}

// Place is a line and a column in a study file, both from 1.
type Place struct{ Line, Column int }

// source holds a file's text, for errors that show the place.
type source struct {
	name  string
	lines []string
}

func newSource(name string, text []byte) source {
	return source{name, masked(strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"))}
}

// wrong returns a usage error about a place, with the lines there.
func (s source) wrong(at Place, remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "%s:%d:%d: %s%s", s.name, at.Line, at.Column,
		address.ReplaceAllString(fmt.Sprintf(format, args...), "$1"+asterisks), s.excerpt(at))
}

// at adds the place to an error of another package.
func (s source) at(at Place, err error) error {
	return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "%s:%d:%d: %w%s", s.name, at.Line, at.Column, err, s.excerpt(at))
}

// excerpt returns the line, the line before it, and a mark below the column.
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

// line returns a line, shortened if it is very long.
func (s source) line(n int) string {
	const most = 160
	text := s.lines[n-1]
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}
