package main

import (
	"testing"
	"time"

	"filewise"
)

// The measures of a trial are shown apart, each with what failed in it.
func TestTrialLine(t *testing.T) {
	second := [2]time.Duration{0, time.Second}
	got := trialLine(filewise.Trial{Cell: filewise.Cell{Block: 2, Layout: "1 file"}, Measures: []filewise.Measure{
		{Operation: "4 users", Unit: "transactions", Window: second, Work: 90, Sync: 19 * time.Millisecond},
		{Operation: "200 users", Unit: "transactions", Window: second, Work: 500, Errors: map[filewise.Class]int64{filewise.ClassDeadlock: 3}},
	}})
	want := "block  2  1 file     4 users 90.0 transactions/s, tail 0 s, durable after 19 ms; 200 users 500 transactions/s, failures: 3 × " +
		"deadlock"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
