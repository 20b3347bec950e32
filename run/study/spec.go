package study

import (
	"regexp"
	"strings"

	"filewise"
	"filewise/run/plan"
)

// valueType is the type of a value in a study file.
type valueType string

// The types of values.
const (
	typeText   valueType = "text"
	typeWhole  valueType = "whole number"
	typeNumber valueType = "number"
	typeSwitch valueType = "true or false"
	typeTime   valueType = "time"               // such as 500ms, 2s, 10m
	object     valueType = "mapping"            // with the listed keys
	named      valueType = "mapping by name"    // with any keys
	items      valueType = "list"               // the type of its items is in of
	anything   valueType = "anything"           //
	either     valueType = "one of several"     // the YAML type decides
	secret     valueType = "text of a variable" // only ${NAME}
)

// spec specifies what a place of a study file may contain.
type spec struct {
	Type     valueType
	usage    string
	how      string         // how to write it, if the type does not show it
	pattern  *regexp.Regexp // of a text; nil means any
	choices  []string
	least    *float64
	most     *float64
	usual    string
	of       *spec    // for items and named
	fields   []member // for object
	required []string
	either   []*spec
	blank    bool // a name may be empty
	raw      bool // user's SQL, in which ${NAME} is not replaced
}

// member is a key and the specification of its value.
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

// example returns an example value of the type.
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

// values describes the possible values.
func (s *spec) values() string {
	if s.Type == either {
		return strings.Join(filewise.Each(s.either, (*spec).values), " or ")
	}
	if s.Type == typeSwitch {
		return string(typeSwitch)
	}
	return "a " + string(s.Type)
}

// Form holds the keys of study files that are not in plan.Options.
type Form struct {
	Scenarios []string
	Engines   []string
	// Once lists options that are set once, for all experiments of a file.
	Once []plan.Option
	// Scripts holds the texts of SQL files by their path in the study. If it is nil, the files are read.
	Scripts map[string]string
}

// options returns the options that are keys of experiments.
func (f Form) options() []plan.Option { return plan.New().Table() }

// spec returns the specification of an option's key.
func (f Form) spec(o plan.Option) *spec {
	s := specOf(o)
	s.usage, s.usual = strings.ReplaceAll(o.Usage, "`", ""), o.Default
	if o.Name == keyEngine {
		s.choices, s.usual = f.Engines, f.Engines[0]
	}
	return s
}

// The keys that are not flags.
const (
	keyName        = "name"
	keyDescription = "description"
	keyScenario    = "scenario"
	keyMatrix      = "matrix"
	keyExperiments = "experiments"
	keyPassword    = "password"
	keyCustom      = "custom"
	keyDefinitions = "definitions"
)

// keyEngine is the option whose value is shown without its key in an experiment's name.
const keyEngine = "engine"

// experiment returns the specification of an experiment. At the top it describes the keys that all experiments share.
func (f Form) experiment(top bool) *spec {
	out := &spec{Type: object, usage: "an experiment: keys as the flags of filewise run"}
	matrix := &spec{Type: object, usage: "one experiment for each combination of the values that are listed"}
	add := func(name string, s *spec) { out.fields = append(out.fields, member{name, s}) }
	add(keyName, &spec{Type: typeText, usage: "what it is called in messages, and for --only"})
	add(keyDescription, &spec{Type: typeText, usage: "for readers"})
	scenario := &spec{Type: typeText, usage: "what is measured: see filewise scenarios", choices: f.Scenarios}
	add(keyScenario, scenario)
	matrix.fields = append(matrix.fields, member{keyScenario, &spec{Type: items, of: scenario}})
	for _, o := range f.options() {
		of := f.spec(o)
		add(o.Name, of)
		matrix.fields = append(matrix.fields, member{o.Name, &spec{Type: items, usage: of.usage, of: of}})
	}
	if top {
		for _, o := range f.Once {
			add(o.Name, f.spec(o))
		}
	}
	add(keyPassword, &spec{Type: secret, usage: "the password for target, from a variable: ${NAME}"})
	add(keyMatrix, matrix)
	add(keyCustom, customSpec(f.Engines))
	return out
}

// file returns the specification of a study file.
func (f Form) file() *spec {
	out := f.experiment(true)
	out.usage = "a study: one experiment, or several that share what stands at the top"
	several := &spec{Type: items, usage: "several experiments, one after the other; each has only what differs from the top"}
	several.of = f.experiment(false)
	definitions := &spec{Type: anything, usage: "a place for anchors (&name) that are used elsewhere (*name); not read itself"}
	out.fields = append(out.fields, member{keyExperiments, several}, member{keyDefinitions, definitions})
	return out
}
