package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/lab/workload"
	"filewise/run/study"
)

func (a *app) initCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:               "init [SCENARIO]",
		Short:             "Write a commented example of a study file",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(_ *cobra.Command, args []string) error {
			sc, err := workload.Lookup(scenarioArg(args))
			if err != nil {
				return err
			}
			text, err := study.Example(studyForm(), registry(), sc)
			if err != nil {
				return err
			}
			if output == "" || output == "-" {
				return a.write(output, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
			}
			return a.writeNew(output, text)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this new `file`, not standard output")
	return cmd
}

// writeNew writes a file, which must not exist.
func (a *app) writeNew(path, text string) error {
	failed := func(remedy string, err error) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "write %s: %w", path, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return failed("give another name: a file that exists is never overwritten", fs.ErrExist)
	}
	if err := filesystem.WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		return failed(filesystem.NotWritten(err), err)
	}
	_, err := fmt.Fprintf(a.stderr, "wrote %s; \"%s\" shows what it would do\n", path, filewise.CommandLine("filewise", "plan", path))
	return err
}
