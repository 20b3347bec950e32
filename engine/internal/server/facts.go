package server

import (
	"maps"
	"slices"

	"filewise"
)

// Settings holds a managed server's settings as facts report them.
type Settings struct {
	Telling []string          // names of the settings that affect what is measured
	Values  map[string]string // values that the server reports; settings that this release lacks are absent
	Scaled  []filewise.Fact   // settings that grow with a layout's size, in words
	User    map[string]string // the user's settings, under the names given
	// Canonical returns a setting's name as the server spells it.
	Canonical func(name string) string
}

// Facts returns the settings in effect. The user's own come last, marked with (--set).
func (s Settings) Facts() []filewise.Fact {
	set := map[string]bool{}
	for name := range s.User {
		set[s.Canonical(name)] = true
	}
	var facts []filewise.Fact
	for _, name := range s.Telling {
		if v, ok := s.Values[name]; ok && !set[name] {
			facts = append(facts, filewise.Fact{Name: name, Value: v})
		}
	}
	for _, f := range s.Scaled {
		if !set[f.Name] {
			facts = append(facts, f)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.User)) {
		effective, ok := s.Values[s.Canonical(name)]
		if !ok {
			effective = s.User[name]
		}
		facts = append(facts, filewise.Fact{Name: name + " (--set)", Value: effective})
	}
	return facts
}
