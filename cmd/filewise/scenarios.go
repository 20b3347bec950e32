package main

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"filewise/lab/workload"
	"filewise/results/report"
	"filewise/run/plan"
)

func (a *app) scenariosCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "scenarios [SCENARIO]",
		Short:             "List the scenarios, or show one with its published figures",
		Example:           "  filewise scenarios inserts",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listScenarios()
			}
			sc, err := workload.Lookup(args[0])
			if err != nil {
				return err
			}
			return a.showScenario(sc)
		},
	}
}

func (a *app) listScenarios() error {
	all := workload.Scenarios()
	if a.json {
		return a.printJSON(all)
	}
	w := &lineWriter{w: a.stdout}
	for _, sc := range all {
		w.printf("%-10s %s\n", sc.Name, sc.Title)
		if s := sc.Source; s != (workload.Source{}) {
			w.printf("%-10s repeats %s\n", "", report.Cite(s))
		}
	}
	return w.err
}

func (a *app) showScenario(sc workload.Scenario) error {
	if a.json {
		return a.printJSON(sc)
	}
	w := &lineWriter{w: a.stdout}
	w.printf("%s: %s\n\n%s\n\n", sc.Name, sc.Title, ansi.Wordwrap(sc.Summary, lineWidth, ""))
	if s := sc.Source; s != (workload.Source{}) {
		repeats := fmt.Sprintf("Repeats %s. Published:", report.Cite(s))
		w.printf("%s\n", ansi.Wordwrap(repeats, lineWidth, ""))
		shown := map[string]bool{} // one sentence may be about several operations
		for _, f := range sc.Published {
			if !shown[f.Words] {
				w.printf("  · %s\n", point(f.Words))
			}
			shown[f.Words] = true
		}
		for _, words := range sc.Also {
			w.printf("  · %s\n", point(words))
		}
		w.printf("\nHow it was measured then, and what differs here:\n")
	}
	for _, n := range sc.Notes {
		w.printf("  · %s\n", point(n))
	}
	w.printf("\nDefaults: %s\n", plan.DefaultsOf(sc))
	return w.err
}

// lineWidth is the width of a paragraph on the terminal.
const lineWidth = 80

// point returns a text as a wrapped list item.
func point(text string) string { return indent(ansi.Wordwrap(text, lineWidth-4, ""), 4) }

// completeScenario completes the names of scenarios.
func completeScenario(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, sc := range workload.Scenarios() {
			names = append(names, sc.Name+"\t"+sc.Title)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
