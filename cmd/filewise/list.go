package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/archive"
	"filewise/plan"
)

func (a *app) listCommand() *cobra.Command {
	var filters []string
	var sort string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the stored runs",
		Example: `  filewise list
  filewise list --filter tag=env=prod --filter engine=mariadb --sort name
  filewise list --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			order, err := plan.Choice("sort", sort, archive.ListOrders...)
			if err != nil {
				return err
			}
			runs, err := archive.List(cmd.Context(), a.storePath)
			if err != nil {
				return err
			}
			// A store that is named has to be there; where none is, and there is none yet, there are no runs.
			if a.storePath != "" {
				if _, err := os.Stat(a.storePath); err != nil {
					return filewise.Errorf(filewise.CodeNotFound, "name one that is there, or leave --store out", "no store: %w", err)
				}
			}
			chosen, err := archive.Chosen(runs, filters, order)
			if err != nil {
				return err
			}
			return a.print(chosen, func(w *lineWriter) { w.printf("%s", archive.ListText(chosen, len(runs))) })
		},
	}
	cmd.Flags().StringArrayVar(&filters, "filter", nil, "list only runs with this `KEY=VALUE`, the key one of name, tag, scenario, "+
		"engine and state (repeatable: all have to hold)")
	cmd.Flags().StringVar(&sort, "sort", archive.ListOrders[0], "`order`: "+strings.Join(archive.ListOrders, ", "))
	completeFlag(cmd, "sort", archive.ListOrders...)
	return cmd
}
