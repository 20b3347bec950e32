package main

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"filewise/lab/workload"
)

// The output of plan without --sql fits on a screen, whatever the scenario.
func TestPlanFitsOnAScreen(t *testing.T) {
	h := newHome(t)
	for _, sc := range workload.Scenarios() {
		switch sc.Name {
		case "custom", "dump", "temp": // which a study file defines, and which SQLite does not have
			continue
		}
		out, text, code := h.run("plan", sc.Name)
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), "trials at most)") || strings.Contains(out, "[build") {
			t.Errorf("%s (%d): %s%s", sc.Name, code, text, out)
		}
		for _, line := range strings.Split(out, "\n") {
			long := strings.HasPrefix(line, "Space: ") || strings.HasPrefix(line, "Start it: ") // a path, and a command to copy
			if !long && ansi.StringWidth(line) > 80 {
				t.Errorf("%s: %q is too wide", sc.Name, line)
			}
		}
		if n := strings.Count(out, "\n"); n > 23 { // the prompt is the last
			t.Errorf("%s: %d lines:\n%s", sc.Name, n, out)
		}
	}
}
