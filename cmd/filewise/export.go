package main

import (
	"io"

	"github.com/spf13/cobra"

	"filewise/store"
)

func (a *app) exportCommand() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "export [RUN]",
		Short: "Write the trials of a stored run as CSV, or everything as JSON",
		Example: `  filewise export 12 --format csv --output trials.csv
  filewise export --format json | jq '.trials | length'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, err := choice("format", format, "csv", "json")
			if err != nil {
				return err
			}
			switch {
			case a.json && cmd.Flags().Changed("format") && kind == "csv":
				return badValue("format", kind, "--json is JSON: leave one of them out")
			case a.json:
				kind = "json"
			}
			s, err := a.load(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			return a.write(output, func(w io.Writer) error {
				if kind == "json" {
					return store.ExportJSON(w, s.run, s.trials)
				}
				return store.ExportCSV(w, s.run, s.trials)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "csv", "csv (one line a trial) or json (everything, slices included)")
	completeFlag(cmd, "format", "csv", "json")
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write; - or nothing is standard output")
	return cmd
}
