package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/archive"
	"filewise/store"
)

func (a *app) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the stored runs",
		Example: "  filewise list\n  filewise list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			runs, err := archive.List(cmd.Context(), a.storePath)
			if err != nil {
				return err
			}
			// A store that is typed has to be there; where there is none yet, there are no runs.
			if cmd.Flags().Changed("store") && !slices.Contains(a.variables, "store") {
				if _, err := os.Stat(a.storePath); err != nil {
					return filewise.Errorf(filewise.CodeNotFound, "name one that is there, or leave --store out", "no store: %w", err)
				}
			}
			return a.print(runs, func(w *lineWriter) { listText(w, runs) })
		},
	}
}

func listText(w *lineWriter, runs []store.RunInfo) {
	if len(runs) == 0 {
		w.printf("No runs yet. \"filewise run\" makes one.\n")
	}
	for _, r := range runs {
		w.printf("%4d  %s  %-11s  %s on %s, %s; %d trials\n", r.ID, r.Started.Local().Format("2006-01-02 15:04"),
			r.State, r.Scenario, r.Engine, strings.Join(r.Layouts, " · "), r.Trials)
		if r.Origin != nil {
			w.printf("      imported: %s\n", r.Origin)
		}
		if r.Verdict != "" {
			w.printf("      %s\n", r.Verdict)
		}
	}
}
