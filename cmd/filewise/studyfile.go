package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"filewise/plan"
	"filewise/run"
	"filewise/study"
)

// studyArg tells whether the argument of run or plan is a study file.
func studyArg(args []string) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	switch strings.ToLower(filepath.Ext(args[0])) {
	case ".yaml", ".yml":
		return args[0], true
	}
	return args[0], strings.ContainsRune(args[0], filepath.Separator)
}

func registerOnly(cmd *cobra.Command, only *[]string) {
	cmd.Flags().StringArrayVar(only, "only", nil, "of a study file: the experiments of this `name` alone (repeatable)")
}

func onlyInStudies(only []string) error {
	if len(only) > 0 {
		return plan.BadValue("only", only[0], "it chooses among the experiments of a study file: give that, or leave it out")
	}
	return nil
}

func completeScenarioOrFile(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	names, directive := completeScenario(cmd, args, word)
	if len(args) > 0 {
		return names, directive
	}
	// A shell completes files only where no name fits: so those here are named too.
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		files, _ := filepath.Glob(pattern)
		names = append(names, files...)
	}
	for _, name := range names {
		if strings.HasPrefix(name, word) {
			return names, directive
		}
	}
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt // in other directories
}

// planned are the experiments that a study file and the options beside it describe.
func (a *app) planned(cmd *cobra.Command, o *plan.Options, file string, only []string) ([]study.Planned, error) {
	s, err := study.Load(file, studyForm(), os.LookupEnv)
	a.hide(s.Secrets...)
	if err != nil {
		return nil, err
	}
	if err := fillOnce(cmd.Flags(), s); err != nil {
		return nil, err
	}
	return s.Plan(registry(), o, only, func(p plan.Made) error {
		_, err := run.Prepare(p.Engine, p.Plan)
		return err
	})
}
