package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise/internal/nearest"
)

// check checks a node against its specification. Errors name the path.
func (f *source) check(path string, n *node, s *spec) error {
	switch s.Type {
	case object:
		return f.checkObject(path, n, s)
	case named, items:
		return f.checkAll(path, n, s)
	case either:
		for _, e := range s.either {
			if e.takes(n) {
				return f.check(path, n, e)
			}
		}
		return f.mismatch(path, n, s)
	}
	if !s.takes(n) {
		return f.mismatch(path, n, s)
	}
	return f.checkScalar(path, n, s)
}

func (f *source) mismatch(path string, n *node, s *spec) error {
	got := string(n.kind)
	if n.text != "" && !n.block && len(n.text) < 40 && s.Type != secret {
		got += fmt.Sprintf(" (%s)", n.text)
	}
	if n.kind == kindNothing {
		got = "empty"
	} else if n.kind == kindText && n.text == "" {
		got = "an empty text"
	}
	return f.wrong(n.place, s.example(), "%s is %s, expected: %s", path, got, s.values())
}

// takes reports whether a node has the type, as far as YAML shows it.
func (s *spec) takes(n *node) bool {
	switch s.Type {
	case secret:
		return n.kind == kindText
	case typeText:
		scalar := n.kind == kindText || n.kind == kindWhole || n.kind == kindNumber || n.kind == kindSwitch
		return scalar && (s.pattern == nil || s.pattern.MatchString(n.text))
	case typeWhole:
		return n.kind == kindWhole || n.kind == kindText && whole(n.text)
	case typeNumber:
		return n.kind == kindWhole || n.kind == kindNumber || n.kind == kindText && number(n.text)
	case typeSwitch:
		return n.kind == kindSwitch || n.kind == kindText && (n.text == "true" || n.text == "false")
	case typeTime:
		return n.kind == kindText || n.kind == kindWhole && n.text == "0"
	case object, named:
		return n.kind == kindMapping
	case items:
		return n.kind == kindList
	}
	return true
}

// whole and number check texts that came from a variable.
func whole(text string) bool  { _, err := strconv.ParseInt(text, 10, 64); return err == nil }
func number(text string) bool { _, err := strconv.ParseFloat(text, 64); return err == nil }

func (f *source) checkScalar(path string, n *node, s *spec) error {
	switch s.Type {
	case typeWhole, typeNumber:
		v, err := strconv.ParseFloat(n.text, 64)
		if s.Type == typeWhole && err == nil {
			_, err = strconv.ParseInt(n.text, 10, 64)
		}
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return f.wrong(n.place, s.example(), "%s %s is too large", path, n.text)
		}
		if s.least != nil && v < *s.least || s.most != nil && v > *s.most {
			return f.wrong(n.place, "give one "+s.bounds(), "%s %s: out of range", path, n.text)
		}
	case typeTime:
		if _, err := time.ParseDuration(n.text); err != nil {
			return f.wrong(n.place, s.example(), "%s %q is not a time", path, n.text)
		}
	case typeText:
		if len(s.choices) > 0 && !slices.Contains(s.choices, n.text) {
			return f.at(n.place, nearest.Unknown(path, n.text, s.choices))
		}
	}
	return nil
}

// bounds returns a number's bounds.
func (s *spec) bounds() string {
	switch {
	case s.least != nil && s.most != nil:
		return fmt.Sprintf("from %g to %g", *s.least, *s.most)
	case s.least != nil:
		return fmt.Sprintf("from %g", *s.least)
	}
	return fmt.Sprintf("up to %g", *s.most)
}

func (f *source) checkObject(path string, n *node, s *spec) error {
	if n.kind != kindMapping {
		return f.mismatch(path, n, s)
	}
	for i, x := range n.fields {
		if now := nearest.Former[x.name]; s.field(x.name) == nil && s.field(now) != nil && n.field(now) == nil {
			x.name = now
			n.fields[i].name = now
		}
		of := s.field(x.name)
		if of == nil {
			return f.wrong(x.place, nearestKey(x.name, s.names()), "key %q is unknown in %s", x.name, path)
		}
		if err := f.check(x.name, x.value, of); err != nil {
			return err
		}
	}
	for _, name := range s.required {
		if n.field(name) == nil {
			return f.wrong(n.place, "add "+name+": …", "%s has no %s", path, name)
		}
	}
	return nil
}

// nearestKey returns the remedy for an unknown key. If there are many known keys, it names only the nearest.
func nearestKey(name string, known []string) string {
	if len(known) < 20 {
		return nearest.Remedy(name, known)
	}
	const all = `"filewise schema" has all keys`
	if n := nearest.Name(name, known); n != "" {
		return fmt.Sprintf("did you mean %q? %s%s", n, strings.ToUpper(all[:1]), all[1:])
	}
	return all
}

// checkAll checks every value of a list, or of a mapping by name.
func (f *source) checkAll(path string, n *node, s *spec) error {
	if !s.takes(n) {
		return f.mismatch(path, n, s)
	}
	if len(n.items)+len(n.fields) == 0 {
		return f.wrong(n.place, "put something into it, or leave it out", "%s is empty", path)
	}
	for i, item := range n.items {
		if err := f.check(fmt.Sprintf("%s[%d]", path, i+1), item, s.of); err != nil {
			return err
		}
	}
	for _, x := range n.fields {
		if x.name == "" && !s.blank {
			return f.wrong(x.place, "name it", "a key of %s is empty", path)
		}
		if err := f.check(path+"."+x.name, x.value, s.of); err != nil {
			return err
		}
	}
	return nil
}
