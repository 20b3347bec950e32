package main

import (
	"strings"
	"testing"
)

// The command measures all that its README says, on any machine; how fast that
// machine is, is no matter of a test.
func TestEverythingIsMeasured(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"-repeats", "1", "-ops", "100000", "-blocks", "3"}, &out)
	if err != nil && !strings.Contains(err.Error(), "targets are missed") {
		t.Fatal(err)
	}
	for _, what := range []string{"without the driver", "driver's loop, workers: 1 ", "driver's loop, workers: 600 ",
		"allocs/op", "trial, median of", "until it was on the storage", "planning, driving"} {
		if !strings.Contains(out.String(), what) {
			t.Errorf("no figure of %q in:\n%s", what, out.String())
		}
	}
	if missed := strings.Contains(out.String(), "MISSED"); missed != (err != nil) {
		t.Errorf("error %v, but the table says:\n%s", err, out.String())
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-repeats", "0"}, {"-ops", "1"}, {"-blocks", "1"}, {"-nonsense"}} {
		var out strings.Builder
		if err := run(t.Context(), args, &out); err == nil || out.Len() > 0 {
			t.Errorf("%v: error %v, output %q", args, err, out.String())
		}
	}
}
