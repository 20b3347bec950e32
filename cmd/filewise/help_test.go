package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"filewise/internal/help"
	"filewise/lab/workload"
)

// No line of any command's help is wider than a page, and every flag of run and plan stands
// under one heading.
func TestHelpIsNarrowAndGrouped(t *testing.T) {
	newHome(t)
	commands := [][]string{{"--help"}}
	for _, c := range documented(new(app).command()) {
		commands = append(commands, append(strings.Fields(c.CommandPath())[1:], "--help"))
		var all []string
		for _, g := range helpLayout().Of(c) {
			all = append(all, g.Flags...)
		}
		slices.Sort(all)
		if want := help.Names(c.LocalFlags()); !slices.Equal(all, want) {
			t.Errorf("%s groups %q\nof %q", c.CommandPath(), all, want)
		}
	}
	for _, sc := range workload.Scenarios() {
		commands = append(commands, []string{"run", sc.Name, "--help"}, []string{"plan", sc.Name, "--help"})
	}
	for _, name := range []string{"run", "plan"} {
		commands = append(commands, []string{name, help.OptionAll})
	}
	for _, args := range commands {
		var out strings.Builder
		if err := execute(t.Context(), args, strings.NewReader(""), &out, &out); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if ansi.StringWidth(line) > help.Width {
				t.Errorf("%q is too wide: %s", args, line)
			}
		}
		if slices.Contains([]string{"run", "plan"}, args[0]) {
			all := args[1] == help.OptionAll
			other := len(args) == 3 && args[1] != "inserts"
			if strings.Contains(out.String(), "--placement placement") != all || strings.Contains(out.String(), "(inserts: 16)") == other {
				t.Errorf("%q shows too much or too little:\n%s", args, &out)
			}
		}
		if slices.Contains([]string{"run", "plan"}, args[0]) && len(args) == 3 &&
			(!strings.Contains(out.String(), "\nScenario "+args[1]+":\n  ") || strings.Contains(out.String(), help.OfScenarios)) {
			t.Errorf("%q shows not the flags of its scenario:\n%s", args, &out)
		}
	}
}
