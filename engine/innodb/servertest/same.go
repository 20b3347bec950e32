package servertest

import (
	"slices"
	"strings"
	"testing"
)

// Same compares two listings of what is not Filewise's.
func Same(t testing.TB, before, after []string) {
	t.Helper()
	if slices.Equal(before, after) {
		return
	}
	var diff []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			diff = append(diff, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			diff = append(diff, "+ "+line)
		}
	}
	if len(diff) == 0 {
		diff = []string{"(the order of lines, or how often they stand there)"}
	}
	t.Errorf("what is the user's has changed:\n%s", strings.Join(diff[:min(len(diff), 20)], "\n"))
}
