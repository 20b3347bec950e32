//go:build linux

package main

import (
	"strings"
	"testing"
)

// The minute of the attack: nothing fails.
func TestMinute(t *testing.T) {
	var table, progress strings.Builder
	err := run(t.Context(), []string{"-minutes", "0", "-dir", t.TempDir()}, &table, &progress)
	t.Log("\n" + table.String())
	if err != nil {
		t.Errorf("%v\n%s", err, &progress)
	}
}

// A try that fails is counted, and fails the whole.
func TestFailedIsCounted(t *testing.T) {
	var table strings.Builder
	if err := show(&table, []outcome{{row: row{name: "a"}, tried: 2}, {row: row{name: "b"}, tried: 3, failed: []string{"it"}}}); err == nil {
		t.Errorf("a failed try is no error:\n%s", &table)
	}
}
