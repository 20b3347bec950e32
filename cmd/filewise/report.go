package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"filewise/results/report"
	"filewise/run/plan"
)

func (a *app) reportCommand() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:               "report [RUN]",
		Short:             "Write the report of a stored run: HTML, Markdown, JSON or text",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			if format == "csv" || format == "parquet" {
				return plan.BadValue("format", format, "a report is for reading; the trials as a table: filewise export --format "+format)
			}
			kind, err := plan.Choice("format", format, "html", "markdown", "json", "text")
			if err != nil {
				return err
			}
			if a.json {
				kind = "json"
			}
			s, err := a.load(cmd.Context(), args)
			if err != nil {
				return err
			}
			d, err := s.Data()
			if err != nil {
				return err
			}
			if output == "" && kind == "html" {
				output = fmt.Sprintf("filewise-%d.html", d.RunID)
			}
			return a.write(output, func(w io.Writer) error { return render(w, kind, d) })
		},
	}
	cmd.Flags().StringVar(&format, "format", "html",
		"`format`: html, markdown, json or text")
	completeFlag(cmd, "format", "html", "markdown", "json", "text")
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` to write; -: standard output")
	return cmd
}

func render(w io.Writer, format string, d report.Data) error {
	switch format {
	case "markdown":
		return report.Markdown(w, d)
	case "json":
		return report.JSON(w, d)
	case "text":
		return report.Terminal(w, d, report.TerminalOptions{Width: 80})
	}
	return report.HTML(w, d)
}
