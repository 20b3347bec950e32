package main

import (
	"io"

	"github.com/spf13/cobra"

	"filewise/study"
)

func (a *app) schemaCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of study files",
		Long: `Schema prints the JSON Schema (draft 2020-12) of study files, by which editors
complete and check them. It is made from the same table as the parser.`,
		Example: `  filewise schema > filewise.schema.json
  filewise schema --output filewise.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := study.Schema(studyForm())
			if err != nil {
				return err
			}
			return a.write(output, func(w io.Writer) error { _, err := w.Write(text); return err })
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `file` instead of standard output")
	return cmd
}
