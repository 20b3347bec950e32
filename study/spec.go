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

// Type is what a key holds.
type Type string

// The types of keys: those of flags.
const (
	Text     Type = "text"
	Whole    Type = "whole number"
	Number   Type = "number"
	Switch   Type = "true or false"
	Time     Type = "time"             // such as 500ms, 2s, 10m
	Wholes   Type = "list of numbers"  // whole ones
	Texts    Type = "list of texts"    // of a flag that can be repeated
	Pairs    Type = "mapping of texts" // of NAME=VALUE, which a mapping says better
	Parts    Type = "list of mappings" // of KEY=VALUE,…, which a mapping says better
	object   Type = "mapping"          // of the keys that are listed
	named    Type = "mapping by name"  // of any keys
	items    Type = "list"             // of items
	anything Type = "anything"
	either   Type = "one of several"     // by what YAML says it is
	secret   Type = "text of a variable" // ${NAME} only
)

// spec is what may stand in a place of a study file.
type spec struct {
	Type     Type
	usage    string
	choices  []string
	least    *float64
	most     *float64
	usual    string
	of       *spec    // of items and of named
	fields   []member // of object
	required []string
	either   []*spec
	raw      bool // its texts are the user's SQL: ${NAME} is not replaced
	empty    bool // a list that may have nothing in it
}

// member is a key with what it may hold.
type member struct {
	name string
	spec *spec
}

func (s *spec) names() []string {
	var all []string
	for _, f := range s.fields {
		all = append(all, f.name)
	}
	return all
}

func (s *spec) field(name string) *spec {
	for _, f := range s.fields {
		if f.name == name {
			return f.spec
		}
	}
	return nil
}

// example says how a value of the type is written.
func (s *spec) example() string {
	switch s.Type {
	case Whole:
		return "give one such as 8"
	case Number:
		return "give one such as 2 or 0.5"
	case Switch:
		return "give true or false"
	case Time:
		return "give a time such as 500ms, 2s or 10m"
	case Wholes:
		return "give them as [1, 4, 8]"
	case Texts:
		return "give them as a list, each behind a -"
	case Pairs:
		return "give them as NAME: VALUE, one in a line"
	case Parts:
		return "give them as a list of mappings, such as - {files: 8, name: mine}"
	case object, named:
		return "give keys with values, one in a line"
	case items:
		return "give a list, each item behind a -"
	}
	if s.Type == Text {
		return "give a text; quote what looks like something else"
	}
	return ""
}

// wants says what the place takes.
func (s *spec) wants() string {
	if s.Type == either {
		var all []string
		for _, e := range s.either {
			all = append(all, e.wants())
		}
		return strings.Join(all, " or ")
	}
	if s.Type == Switch {
		return string(Switch)
	}
	return "a " + string(s.Type)
}

// check compares what stands there with what may. The path names it in errors.
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
	case Wholes, Texts, Pairs, Parts:
		return f.checkLists(path, n, s)
	}
	if !s.takes(n) {
		return f.mismatch(path, n, s)
	}
	return f.checkScalar(path, n, s)
}

func (f *source) mismatch(path string, n *node, s *spec) error {
	got := string(n.kind)
	if n.text != "" && !n.block && len(n.text) < 40 {
		got += fmt.Sprintf(" (%s)", n.text)
	}
	if n.kind == kindNothing {
		got = "empty"
	} else if n.kind == kindText && n.text == "" {
		got = "an empty text"
	}
	return f.wrong(n.place, s.example(), "%s is %s, wanted: %s", path, got, s.wants())
}

// takes tells whether a node is of the type, as far as YAML says it.
func (s *spec) takes(n *node) bool {
	switch s.Type {
	case Text, secret:
		return n.kind == kindText || (n.kind == kindWhole || n.kind == kindNumber || n.kind == kindSwitch) && s.Type == Text
	case Whole:
		return n.kind == kindWhole || n.kind == kindText && whole(n.text)
	case Number:
		return n.kind == kindWhole || n.kind == kindNumber || n.kind == kindText && number(n.text)
	case Switch:
		return n.kind == kindSwitch || n.kind == kindText && (n.text == "true" || n.text == "false")
	case Time:
		return n.kind == kindText || n.kind == kindWhole && n.text == "0"
	case object, named:
		return n.kind == kindMapping
	case items:
		return n.kind == kindList
	}
	return true
}

// whole and number are texts that a variable has brought.
func whole(text string) bool  { _, err := strconv.ParseInt(text, 10, 64); return err == nil }
func number(text string) bool { _, err := strconv.ParseFloat(text, 64); return err == nil }

func (f *source) checkScalar(path string, n *node, s *spec) error {
	switch s.Type {
	case Whole, Number:
		v, err := strconv.ParseFloat(n.text, 64)
		if s.Type == Whole && err == nil {
			_, err = strconv.ParseInt(n.text, 10, 64)
		}
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
			return f.wrong(n.place, s.example(), "%s %s is too large", path, n.text)
		}
		if s.least != nil && v < *s.least || s.most != nil && v > *s.most {
			return f.wrong(n.place, "give one "+s.bounds(), "%s %s is not possible", path, n.text)
		}
	case Time:
		if _, err := time.ParseDuration(n.text); err != nil {
			return f.wrong(n.place, s.example(), "%s %q is not a time", path, n.text)
		}
	case Text:
		if len(s.choices) > 0 && !slices.Contains(s.choices, n.text) {
			return f.at(n.place, nearest.Unknown(path, n.text, s.choices))
		}
	}
	return nil
}

// bounds are what a number lies between.
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
	for _, x := range n.fields {
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

// nearestKey is the remedy for an unknown key: of many keys not the whole list.
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
	if len(n.items)+len(n.fields) == 0 && !s.empty {
		return f.wrong(n.place, "put something into it, or leave it out", "%s is empty", path)
	}
	for i, item := range n.items {
		if err := f.check(fmt.Sprintf("%s[%d]", path, i+1), item, s.of); err != nil {
			return err
		}
	}
	for _, x := range n.fields {
		if x.name == "" {
			return f.wrong(x.place, "name it", "a key of %s is empty", path)
		}
		if err := f.check(path+"."+x.name, x.value, s.of); err != nil {
			return err
		}
	}
	return nil
}

// checkLists checks what a flag can take several of.
func (f *source) checkLists(path string, n *node, s *spec) error {
	scalar := &spec{Type: Text}
	if s.Type == Wholes {
		scalar = &spec{Type: Whole, least: s.least, most: s.most}
	}
	switch {
	case n.kind == kindMapping && s.Type == Pairs:
		for _, x := range n.fields {
			if err := f.check(path+"."+x.name, x.value, scalar); err != nil {
				return err
			}
			if strings.Contains(x.name, "=") || x.name == "" {
				return f.wrong(x.place, "give it as NAME: VALUE", "%s: the name %q is not possible", path, x.name)
			}
		}
		return nil
	case n.kind == kindMapping && s.Type == Parts:
		return f.checkPart(path, n, s)
	case n.kind == kindList:
		for i, item := range n.items {
			at := fmt.Sprintf("%s[%d]", path, i+1)
			if item.kind == kindMapping && s.Type == Parts {
				if err := f.checkPart(at, item, s); err != nil {
					return err
				}
			} else if err := f.check(at, item, scalar); err != nil {
				return err
			}
		}
		if len(n.items) == 0 {
			return f.wrong(n.place, "put something into it, or leave it out", "%s is empty", path)
		}
		return nil
	case n.kind == kindText && s.Type == Wholes && strings.Contains(n.text, ","): // as the flag has it: 1,4,8
		for part := range strings.SplitSeq(n.text, ",") {
			if !whole(strings.TrimSpace(part)) {
				return f.mismatch(path, n, s)
			}
		}
		return nil
	case scalar.takes(n) && n.text != "":
		return f.checkScalar(path, n, scalar)
	}
	return f.mismatch(path, n, s)
}

func (f *source) checkPart(path string, n *node, s *spec) error {
	for _, x := range n.fields {
		if len(s.choices) > 0 && !slices.Contains(s.choices, x.name) {
			return f.wrong(x.place, nearest.Remedy(x.name, s.choices), "key %q is unknown in %s", x.name, path)
		}
		if err := f.check(path+"."+x.name, x.value, &spec{Type: Text}); err != nil {
			return err
		}
	}
	if len(n.fields) == 0 {
		return f.mismatch(path, n, s)
	}
	return nil
}

// values are what the flag is set to, one after the other.
func (s *spec) values(n *node) []string {
	switch {
	case n.kind == kindMapping && s.Type == Pairs:
		var all []string
		for _, x := range n.fields {
			all = append(all, x.name+"="+x.value.text)
		}
		return all
	case n.kind == kindMapping:
		var parts []string
		last := ""
		for _, x := range n.fields {
			if x.name == "name" { // which may hold commas, and so comes last
				last = "name=" + x.value.text
				continue
			}
			parts = append(parts, x.name+"="+x.value.text)
		}
		if last != "" {
			parts = append(parts, last)
		}
		return []string{strings.Join(parts, ",")}
	case n.kind == kindList && s.Type == Wholes:
		var all []string
		for _, item := range n.items {
			all = append(all, item.text)
		}
		return []string{strings.Join(all, ",")}
	case n.kind == kindList:
		var all []string
		for _, item := range n.items {
			all = append(all, s.values(item)...)
		}
		return all
	}
	return []string{n.text}
}
