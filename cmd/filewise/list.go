package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/run/plan"
)

func (a *app) listCommand() *cobra.Command {
	var filters []string
	var sort string
	limit := 50
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the stored runs",
		Example: "  filewise list --filter tag=env=prod --filter engine=mariadb --sort name",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			order, err := plan.Choice("sort", sort, archive.ListOrders...)
			if err != nil {
				return err
			}
			if limit < 0 {
				return filewise.Errorf(filewise.CodeUsage, "give 0 for all", "--limit %d is negative", limit)
			}
			if a.json && !cmd.Flags().Changed("limit") {
				limit = 0 // programs get all runs
			}
			return a.list(cmd.Context(), filters, order, limit)
		},
	}
	cmd.Flags().StringArrayVar(&filters, "filter", nil, "list only runs with this `KEY=VALUE`: name, tag, scenario, engine or state "+
		"(repeatable: all must hold)")
	cmd.Flags().StringVar(&sort, "sort", archive.ListOrders[0], "`order`: "+strings.Join(archive.ListOrders, ", "))
	cmd.Flags().IntVar(&limit, "limit", limit, "list only the `N` newest runs, or all (0; default with --json)")
	completeFlag(cmd, "sort", archive.ListOrders...)
	return cmd
}

// list prints the newest runs that pass the filters. If limit is 0, it prints all.
func (a *app) list(ctx context.Context, filters []string, order string, limit int) error {
	page := store.Page{Count: true}
	if len(filters) == 0 {
		page.Most = limit
	}
	runs, more, err := archive.Page(ctx, a.storePath, page)
	if err != nil {
		return err
	}
	// A store that is named must exist. If none is named, and the usual one does not exist yet, there are no runs.
	if a.storePath != "" {
		if _, err := os.Stat(a.storePath); err != nil {
			return filewise.Errorf(filewise.CodeNotFound, "name one that is there, or leave --store out", "no store: %w", err)
		}
	}
	chosen, err := archive.Chosen(runs, filters, archive.ListOrders[0])
	if err != nil {
		return err
	}
	if older := len(chosen) - limit; limit > 0 && older > 0 {
		chosen, more = chosen[older:], more+older
	}
	chosen, err = archive.Chosen(chosen, nil, order)
	if err != nil {
		return err
	}
	return a.print(chosen, func(w *lineWriter) {
		w.printf("%s", archive.ListText(chosen, len(runs)))
		if more > 0 {
			w.printf("… and %s; --limit 0 lists all\n", filewise.Counted(more, "older run"))
		}
	})
}
