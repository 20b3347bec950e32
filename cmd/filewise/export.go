package main

import (
	"io"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/run/plan"
)

// exportFlags chooses what is written of a run, and in which format.
type exportFlags struct {
	format, rows, output, bundle string
	schema                       bool
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:               "export [RUN]",
		Short:             "Export the trials of a stored run as CSV, Parquet or JSON, or all of it as a bundle",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, a.json, args); err != nil {
				return err
			}
			if f.schema {
				return a.write(f.output, store.ExportJSONSchema)
			}
			if _, isTerminal := terminal(a.stdout); isTerminal && f.binary() && (f.output == "" || f.output == "-") {
				return filewise.Errorf(filewise.CodeUsage, "name a file with --output, or write to a pipe", "a terminal shows no %s", f.format)
			}
			s, err := a.load(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.write(f.output, func(w io.Writer) error { return f.write(w, s) })
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "csv", "`format`: csv, parquet or json")
	completeFlag(cmd, "format", "csv", "parquet", "json")
	cmd.Flags().StringVar(&f.rows, "rows", "trials", "`subject` of a row: trials, counters, or slices (Parquet)")
	completeFlag(cmd, "rows", "trials", "counters", "slices")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "`file` to write (default standard output)")
	cmd.Flags().StringVar(&f.bundle, "bundle", "", "write everything as one `file` for import; -: standard output")
	cmd.Flags().BoolVar(&f.schema, "schema", false, "print the JSON Schema of --format json")
	return cmd
}

// bundleFormat is the format that --bundle selects.
const bundleFormat = "bundle"

func (f *exportFlags) binary() bool { return f.format == "parquet" || f.format == bundleFormat }

// check returns an error if flags contradict each other.
func (f *exportFlags) check(cmd *cobra.Command, json bool, args []string) (err error) {
	changed := cmd.Flags().Changed
	if f.format, err = plan.Choice("format", f.format, "csv", "parquet", "json"); err != nil {
		return err
	}
	if f.rows, err = plan.Choice("rows", f.rows, "trials", "counters", "slices"); err != nil {
		return err
	}
	switch {
	case f.schema && (len(args) > 0 || f.bundle != "" || changed("format") && f.format != "json"):
		return plan.BadValue("schema", true, "it prints the schema of --format json, without a run: leave RUN and the other flags out")
	case f.bundle != "" && (changed("format") || f.output != ""):
		return plan.BadValue("bundle", f.bundle, "it names its file, and has a separate format: leave --format and --output out")
	case json && changed("format") && f.format != "json":
		return plan.BadValue("format", f.format, "--json is JSON: leave one of them out")
	case f.rows == "slices" && (f.format != "parquet" || f.bundle != ""):
		return plan.BadValue("rows", f.rows, "give --format parquet; --format json has the slices of every trial")
	case f.rows == "counters" && (json || f.format == "json" || f.bundle != ""):
		return plan.BadValue("rows", f.rows, "give --format csv or parquet; JSON and bundles have the counters of every trial")
	case f.bundle != "":
		f.format, f.output = bundleFormat, f.bundle
	case json:
		f.format = "json"
	}
	return nil
}

func (f *exportFlags) write(w io.Writer, s archive.Run) error {
	switch {
	case f.format == bundleFormat:
		host, _ := os.Hostname() // empty if the host has no name
		by := store.Manifest{Version: versionString(), Exported: time.Now(), Host: host}
		if me, err := user.Current(); err == nil {
			by.User = me.Username
		}
		return store.ExportBundle(w, s.Run, s.Trials, by)
	case f.format == "json":
		return store.ExportJSON(w, s.Run, s.Trials)
	case f.format == "csv" && f.rows == "counters":
		return store.ExportCSVCounters(w, s.Run, s.Trials)
	case f.format == "csv":
		return store.ExportCSV(w, s.Run, s.Trials)
	case f.rows == "slices":
		return store.ExportParquetSlices(w, s.Run, s.Trials)
	case f.rows == "counters":
		return store.ExportParquetCounters(w, s.Run, s.Trials)
	}
	return store.ExportParquet(w, s.Run, s.Trials)
}
