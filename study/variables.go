package study

import (
	"regexp"
	"strings"

	"filewise"
	"filewise/notify"
	"filewise/target"
)

// variable is ${NAME}; a further $ before it takes it as it stands.
var variable = regexp.MustCompile(`\$?\$\{[^}]*\}`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces variables in every text of the node but the user's SQL, and
// collects what of it is secret.
func (l *loader) expand(n *node, s *spec) error {
	if s != nil && s.raw {
		return nil
	}
	for _, x := range n.fields {
		if err := l.expand(x.value, s.inside(x.name)); err != nil {
			return err
		}
		if x.name == "notify" { // an address, or several
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

// inside is what may stand in a field, or in an item; nil: nothing is known of it.
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

// expandSecret takes a secret from the environment; one that is written into the
// file would be seen by all who see that.
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

// replaced is the text with its variables replaced.
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
