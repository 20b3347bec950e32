package verdict

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
)

// vectorTests has one test per group of testdata/stat-vectors.json.
var vectorTests = map[string]func(*testing.T, json.RawMessage){
	"robust_two_way":             testRobustTwoWay,
	"boundaries":                 testBoundaries,
	"moderated_fixed_n_critical": testModeratedFixedN,
	"sequential_traces":          testSequentialTraces,
	"alpha_spending":             testAlphaSpending,
}

func readVectors(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile("testdata/stat-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var groups map[string]json.RawMessage
	decode(t, data, &groups)
	return groups
}

func TestVectors(t *testing.T) {
	groups := readVectors(t)
	delete(groups, "_readme")
	if len(groups) != 29 {
		t.Errorf("%d groups, want 29", len(groups))
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		test := vectorTests[name]
		if test == nil {
			t.Errorf("group %q has no test", name)
			continue
		}
		t.Run(name, func(t *testing.T) { test(t, groups[name]) })
	}
	for name := range vectorTests {
		if groups[name] == nil {
			t.Errorf("there is no group %q", name)
		}
	}
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// near fails unless got is within tol of want, relative or (near 0) absolute.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v (tolerance %v)", what, got, want, tol)
	}
}

// relative fails unless got is within tol of want, relative to want.
func relative(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s = %v, want %v (relative tolerance %v)", what, got, want, tol)
	}
}

func nearAll(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Abs(want[i]) < 1e-300 {
			near(t, what, got[i], want[i], tol)
			continue
		}
		relative(t, what, got[i], want[i], tol)
	}
}
