package study

import (
	"regexp"
	"strings"

	"filewise"
)

// valueType is what a place holds.
type valueType string

// What places hold.
const (
	typeText   valueType = "text"
	typeWhole  valueType = "whole number"
	typeNumber valueType = "number"
	typeSwitch valueType = "true or false"
	typeTime   valueType = "time"               // such as 500ms, 2s, 10m
	object     valueType = "mapping"            // of the keys that are listed
	named      valueType = "mapping by name"    // of any keys
	items      valueType = "list"               // of items
	anything   valueType = "anything"           //
	either     valueType = "one of several"     // by what YAML says it is
	secret     valueType = "text of a variable" // ${NAME} only
)

// spec is what may stand in a place of a study file.
type spec struct {
	Type     valueType
	usage    string
	how      string         // it is written, where the type does not say it
	pattern  *regexp.Regexp // of a text; nil: any
	choices  []string
	least    *float64
	most     *float64
	usual    string
	of       *spec    // of items and of named
	fields   []member // of object
	required []string
	either   []*spec
	raw      bool // its texts are the user's SQL: ${NAME} is not replaced
}

// member is a key with what it may hold.
type member struct {
	name string
	spec *spec
}

func (s *spec) names() []string {
	return filewise.Each(s.fields, func(m member) string { return m.name })
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
	if s.how != "" {
		return s.how
	}
	switch s.Type {
	case typeWhole:
		return "give one such as 8"
	case typeNumber:
		return "give one such as 2 or 0.5"
	case typeSwitch:
		return "give true or false"
	case typeTime:
		return "give a time such as 500ms, 2s or 10m"
	case object, named:
		return "give keys with values, one in a line"
	case items:
		return "give a list, each item behind a -"
	}
	if s.Type == typeText {
		return "give a text; quote what looks like something else"
	}
	return ""
}

// wants says what the place takes.
func (s *spec) wants() string {
	if s.Type == either {
		return strings.Join(filewise.Each(s.either, (*spec).wants), " or ")
	}
	if s.Type == typeSwitch {
		return string(typeSwitch)
	}
	return "a " + string(s.Type)
}
