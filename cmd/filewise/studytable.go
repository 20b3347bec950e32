package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise/internal/help"
	"filewise/plan"
	"filewise/study"
	"filewise/workload"
)

// notInStudies are the flags of run that a study file does not say: they are about
// the file itself.
var notInStudies = map[string]bool{"help": true, "only": true, "no-pager": true}

// studyForm is what study files can say besides the options of a plan: what run has
// of other flags is said once for the whole file.
func studyForm() study.Form {
	fresh := new(app) // registering sets what flags are bound to
	run, root := fresh.runCommand(), &cobra.Command{}
	fresh.registerShared(root)
	root.AddCommand(run)
	run.InheritedFlags() // merges them
	f := study.Form{Engines: registry().Names(), Once: onceRows(run.Flags())}
	for _, sc := range workload.Scenarios() {
		f.Scenarios = append(f.Scenarios, sc.Name)
	}
	return f
}

// onceRows are the flags that are no options, as such.
func onceRows(fs *pflag.FlagSet) []plan.Option {
	var rows []plan.Option
	fs.VisitAll(func(fl *pflag.Flag) {
		switch {
		case rowOf(fl) != nil || notInStudies[fl.Name]:
		case fl.Value.Type() == "bool":
			rows = append(rows, plan.Row(new(plan.Opt[bool]), fl.Name, false, fl.Usage))
		default:
			rows = append(rows, plan.Row(new(plan.Opt[string]), fl.Name, "", fl.Usage))
		}
	})
	return rows
}

// fillOnce sets what the file says for all experiments, and neither the command line
// nor the environment.
func fillOnce(fs *pflag.FlagSet, s study.Study) error {
	rows := onceRows(fs)
	if err := s.FillOnce(rows); err != nil {
		return err
	}
	for _, row := range rows {
		fl := fs.Lookup(row.Name)
		if !row.To.Given() || fl.Changed {
			continue
		}
		if err := fs.Set(row.Name, row.To.Texts()[0]); err != nil {
			return help.WrongType("--"+row.Name+" "+row.To.Texts()[0], fl, err)
		}
	}
	return nil
}
