package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/study"
	"filewise/workload"
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
			text := study.Example(studyForm(), sc)
			if output == "" || output == "-" {
				_, err := fmt.Fprint(a.stdout, text)
				return err
			}
			return a.writeNew(output, text)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this new `file` instead of standard output")
	return cmd
}

// writeNew writes a file that must not exist.
func (a *app) writeNew(path, text string) error {
	failed := func(remedy string, err error) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "write %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return failed("give another name: a file that exists is never overwritten", fs.ErrExist)
	}
	if err != nil {
		return failed("name a file in a writable directory with --output", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return failed("name a file in a writable directory with --output", errors.Join(err, os.Remove(path)))
	}
	_, err = fmt.Fprintf(a.stderr, "wrote %s; \"filewise plan %s\" shows what it would do\n", path, path)
	return err
}
