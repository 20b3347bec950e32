// Package vectorstest tests against stat-vectors.json, with one test for each group of vectors. Package verdict tests
// the groups of its method; lab/verdict/stats tests the groups of classical statistics.
package vectorstest

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
)

// All is the number of groups in the file of vectors.
const All = 29

// Run tests the named groups of the file at path, each of which must exist. It fails if the number of other groups
// differs from others.
func Run(t *testing.T, path string, others int, tests map[string]func(*testing.T, json.RawMessage)) {
	t.Helper()
	groups := Read(t, path)
	if len(groups) != All || len(tests)+others != All {
		t.Errorf("%d groups, %d of them tested here and %d elsewhere; expected %d", len(groups), len(tests), others, All)
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		if groups[name] == nil {
			t.Errorf("there is no group %q", name)
			continue
		}
		t.Run(name, func(t *testing.T) { tests[name](t, groups[name]) })
	}
}

// Read reads the groups of the file at path.
func Read(t *testing.T, path string) map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var groups map[string]json.RawMessage
	Decode(t, data, &groups)
	delete(groups, "_readme")
	return groups
}

// Decode decodes a group.
func Decode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// Near fails the test unless got is within tol of want, relative or (near 0) absolute.
func Near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s = %v, expected %v (tolerance %v)", what, got, want, tol)
	}
}

// Relative fails the test unless got is within tol of want, relative to want.
func Relative(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s = %v, expected %v (relative tolerance %v)", what, got, want, tol)
	}
}

// NearAll fails the test unless all values are within tol of the expected values, relative to them.
func NearAll(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d values, expected %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Abs(want[i]) < 1e-300 {
			Near(t, what, got[i], want[i], tol)
			continue
		}
		Relative(t, what, got[i], want[i], tol)
	}
}
