package store

import (
	"math"
	"reflect"
	"testing"

	"filewise"
)

// Counters are read in one pass; forms that scanDeltas does not read, encoding/json reads, or refuses.
func TestDeltasAreScanned(t *testing.T) {
	plain := []filewise.Delta{
		{Probe: "server", Name: "reads", Unit: "1", Value: 1e300, Class: "io", File: "a.db"},
		{Probe: "server", Name: "writes", Unit: "1", Value: -0.1}, {Probe: "host", Unit: "µs", File: "b"},
	}
	for _, ds := range [][]filewise.Delta{
		plain, {}, nil, {{Name: "a\"b\\c<é"}}, {{Name: "huge", Value: math.Inf(1)}},
	} {
		text, err := packDeltas(ds)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unpackDeltas(newBudget(), text); err != nil || !reflect.DeepEqual(got, ds) {
			t.Errorf("%s: read %#v, %v", text, got, err)
		}
	}
	if ds, err := unpackDeltas(newBudget(), `[{"probe":"","name":"`+"\xff"+`","unit":"","value":1}]`); err != nil || ds[0].Name != "\ufffd" {
		t.Errorf("not UTF-8: %v, %v", ds, err)
	}
	text, _ := packDeltas(plain)
	if _, ok := scanDeltas(text); !ok {
		t.Errorf("not scanned: %s", text)
	}
	for end := range text { // no damage makes a list
		if ds, err := unpackDeltas(newBudget(), text[:end]); err == nil {
			t.Errorf("%s: read %v", text[:end], ds)
		}
	}
}
