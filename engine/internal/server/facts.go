package server

import (
	"maps"
	"slices"

	"filewise"
)

// Settings holds what facts say of a managed server's.
type Settings struct {
	Telling []string          // the names of those that decide what is measured
	Values  map[string]string // what the server reports; what this release does not have is absent
	Scaled  []filewise.Fact   // those that follow a layout's size, in words
	User    map[string]string // the user's own, by the names given
	// Canonical is a name as the server has it.
	Canonical func(name string) string
}

// Facts returns the settings as they are, the user's own last and marked as such.
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
