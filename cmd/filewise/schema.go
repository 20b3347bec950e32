package main

import (
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"filewise"
	"filewise/fleet"
	"filewise/host/scratch"
	"filewise/internal/jsonform"
	"filewise/internal/nearest"
	"filewise/lab/workload"
	"filewise/own/apply"
	"filewise/own/backup"
	"filewise/own/capture"
	"filewise/results/archive"
	"filewise/results/report"
	"filewise/results/store"
	"filewise/run"
	"filewise/run/doctor"
	"filewise/run/preview"
	"filewise/run/study"
	"filewise/watch/notify"
)

type (
	served struct {
		URL       string `json:"url"`
		TokenFile string `json:"token_file"`
	}
	stopped struct {
		Run     int64 `json:"run"` // 0: it has not come to one yet
		Process int   `json:"process"`
		Stopped bool  `json:"stopped"`
	}
	failed struct {
		Error failure `json:"error"`
	}
	failure struct {
		Code     filewise.Code `json:"code"`
		ExitCode int           `json:"exit_code"`
		Message  string        `json:"message"`
		Remedy   string        `json:"remedy"`
	}
	warned struct {
		Warning warning `json:"warning"`
	}
	warning struct {
		Message string `json:"message"`
	}
)

// outputs returns the types of what commands print with --json, and of other JSON.
func outputs() map[string][]any {
	result, studied := report.Document{}, study.Ended{}
	return map[string][]any{
		"run": {result, studied}, "resume": {result, studied}, "show": {result}, "report": {result}, "judge": {result, archive.Elsewhere{}},
		"plan": {preview.Preview{}, previews{}, preview.Power{}}, "compare": {archive.Comparison{}, archive.Across{}},
		"list": {[]store.RunInfo{}}, "import": {imported{}, doctor.Reading{}}, "apply": {apply.Scripts{}}, "backup": {result, backup.Result{}},
		"capture": {captured{}}, "inspect": {inspected{}}, "doctor": {doctor.Diagnosis{}}, "engines": {[]engineInfo{}, engineInfo{}},
		"scenarios": {[]workload.Scenario{}, workload.Scenario{}}, "clean": {[]scratch.Leftover{}, []run.Leftover{}},
		"stop": {stopped{}}, "serve": {served{}}, "version": {map[string]string{}},
		"campaign": {fleet.Started{}, []fleet.Fetched{}, fleet.Listed{}, []fleet.State{}, fleet.Signalled{}, fleet.Forgotten{}},
		"error":    {failed{}}, "warning": {warned{}}, "event": {notify.Document{}},
	}
}

// ofExport is the output whose schema comes from the store, which writes that output.
const ofExport = "export"

// schemaOf returns the JSON Schema of an output.
func schemaOf(name string) (*jsonschema.Schema, error) {
	forms := filewise.Each(outputs()[name], reflect.TypeOf)
	types := maps.Clone(jsonform.Unknown)
	types[reflect.TypeFor[capture.Options]()] = &jsonschema.Schema{Type: "object"} // embedded, but not part of the output
	return jsonform.Of("Filewise: "+name, "Names that end in _ns are nanoseconds; null and missing are not known.", types, forms...)
}

func (a *app) schemaCommand() *cobra.Command {
	var output string
	names := append(slices.Collect(maps.Keys(outputs())), ofExport)
	slices.Sort(names)
	cmd := &cobra.Command{
		Use:   "schema [OUTPUT]",
		Short: "Print the JSON Schema of study files, or of a command's --json",
		Long: `Schema prints the JSON Schema (draft 2020-12) of study files, for editors; with OUTPUT,
of a command's --json, of its errors and warnings, or of the events that webhooks get.

OUTPUT is one of:
  ` + indent(ansi.Wordwrap(strings.Join(names, " "), lineWidth, ""), 2),
		Example: "  filewise schema plan --output plan.schema.json",
		Args:    cobra.MaximumNArgs(1), ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				if !slices.Contains(names, args[0]) {
					return nearest.Unknown("output", args[0], names)
				}
				if args[0] == ofExport {
					return a.write(output, store.ExportJSONSchema)
				}
				s, err := schemaOf(args[0])
				if err != nil {
					return err
				}
				return a.write(output, func(w io.Writer) error { return jsonform.Write(w, s) })
			}
			text, err := study.Schema(studyForm())
			if err != nil {
				return err
			}
			return a.write(output, func(w io.Writer) error { _, err := w.Write(text); return err })
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `file`, not standard output")
	return cmd
}
