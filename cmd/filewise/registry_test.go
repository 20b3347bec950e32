package main

import (
	"strings"
	"testing"

	"filewise"
)

func TestLookup(t *testing.T) {
	for _, e := range engines() {
		if found, err := registry().Lookup(e.Name()); err != nil || found.Name() != e.Name() {
			t.Errorf("Lookup(%q): %v, %v", e.Name(), found, err)
		}
	}
	_, err := registry().Lookup("sqlite3")
	if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), "sqlite") {
		t.Errorf("Lookup of a mistyped name: %v (%s)", err, filewise.RemedyOf(err))
	}
}
