package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/internal/help"
	"filewise/lab/workload"
	"filewise/run"
	"filewise/run/plan"
	"filewise/run/preview"
	"filewise/run/study"
)

// runStudy runs a study file's experiments one after the other. If one fails, the others still run. Ctrl-C ends all.
// open is called once the file is read, since the file may name what to open.
func (a *app) runStudy(cmd *cobra.Command, o *plan.Options, file string, only []string, g *resultFlags, open func() error) error {
	all, err := a.planned(cmd, o, file, only)
	for i := 0; err == nil && i < len(all); i++ { // check all before measuring any
		err = g.about(&all[i].Made.Plan)
	}
	if err == nil {
		err = open()
	}
	if err != nil {
		return err
	}
	var first error
	failed := 0
	results := make([]study.Outcome, len(all))
	for i, p := range all {
		results[i].Name = p.Experiment.Name
		if first != nil && cmd.Context().Err() != nil {
			results[i].Skipped = true
			continue
		}
		a.begins(i, len(all), p.Experiment.Name)
		if err := a.runPlanned(cmd, p, g, &results[i]); err != nil {
			failed++
			if first == nil {
				first = err
			}
			if len(all) > 1 {
				a.reportError(err, nil)
			}
			results[i].Error = a.masked(err.Error())
		}
	}
	if err := a.printStudy(results); err != nil {
		return err
	}
	gated := g.end(a)
	if first == nil {
		return gated
	}
	if len(all) == 1 {
		return first
	}
	return filewise.Errorf(filewise.CodeOf(first), filewise.CommandLine("filewise", "run", file)+" --only NAME runs one of them again",
		"%d of %d experiments failed, the first: %w", failed, len(all), first)
}

// runPlanned runs one experiment. If its result becomes part of one JSON document, runPlanned keeps the result.
func (a *app) runPlanned(cmd *cobra.Command, p study.Planned, g *resultFlags, to *study.Outcome) error {
	stdout := a.stdout
	var shown bytes.Buffer
	if a.json {
		a.stdout = &shown
	}
	out, err := a.runOne(cmd.Context(), p.Made, g)
	a.stdout = stdout
	to.Run, to.Verdict = out.Run.ID, out.Run.Verdict
	if json.Valid(shown.Bytes()) {
		to.Result = shown.Bytes()
	}
	return err
}

// begins prints which of several experiments begins.
func (a *app) begins(i, of int, name string) {
	if of > 1 && !a.json {
		fmt.Fprintf(a.stderr, "\nfilewise: experiment %d of %d: %s\n", i+1, of, name)
	}
}

// printStudy sums up the experiments' results. A single experiment needs no summary.
func (a *app) printStudy(results []study.Outcome) error {
	if a.json {
		return a.printJSON(study.Ended{Experiments: results})
	}
	if len(results) < 2 {
		return nil
	}
	w := &lineWriter{w: a.stdout}
	w.printf("%s", study.Summary(results))
	return w.err
}

// previews holds the previews of a study file's experiments.
type previews struct {
	Experiments []named `json:"experiments"`
}

type named struct {
	Name string `json:"name"`
	preview.Preview
}

// planStudy shows what each experiment of a study file would do.
func (a *app) planStudy(cmd *cobra.Command, o *plan.Options, file string, only []string, g *resultFlags, sql bool) error {
	all, err := a.planned(cmd, o, file, only)
	if err != nil {
		return err
	}
	if !a.json {
		return a.printPlans(cmd, all, g, sql)
	}
	out := previews{Experiments: []named{}}
	for _, p := range all {
		v, err := a.previewOf(cmd.Context(), p.Made, g)
		if err != nil {
			return err
		}
		out.Experiments = append(out.Experiments, named{p.Experiment.Name, v})
	}
	return a.printJSON(out)
}

func (a *app) printPlans(cmd *cobra.Command, all []study.Planned, g *resultFlags, sql bool) error {
	w := &lineWriter{w: a.stdout}
	var first error
	for i, p := range all {
		if len(all) > 1 {
			w.printf("%sExperiment %d of %d: %s\n\n", strings.Repeat("\n", min(i, 1)), i+1, len(all), p.Experiment.Name)
		}
		if err := a.planOne(cmd.Context(), p.Made, g, sql); err != nil && first == nil {
			first = err
		}
	}
	if first == nil {
		first = w.err
	}
	return first
}

// notInStudies holds the flags of run that are no keys of study files, since they concern the file itself.
var notInStudies = map[string]bool{"help": true, "only": true, "no-pager": true}

// studyForm returns the keys of study files in addition to a plan's options: run's other flags, each once for the whole file.
func studyForm() study.Form {
	fresh := new(app) // registering sets the variables that flags are bound to
	run, root := fresh.runCommand(), &cobra.Command{}
	fresh.registerShared(root)
	root.AddCommand(run)
	run.InheritedFlags() // merges the inherited flags
	f := study.Form{Engines: registry().Names(), Once: onceRows(run.Flags())}
	for _, sc := range workload.Scenarios() {
		f.Scenarios = append(f.Scenarios, sc.Name)
	}
	return f
}

// onceRows returns the flags that are no options, in the form of options.
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

// fillOnce sets the flags that the file sets for all experiments, unless the command line or the environment does.
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

// studyArg reports whether the argument of run or plan is a study file.
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
	cmd.Flags().StringArrayVar(only, "only", nil, "of a study file: only the experiments of this `name` (repeatable)")
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
	// A shell completes file names only if no other name fits, so the study files here are listed too.
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		files, _ := filepath.Glob(pattern)
		names = append(names, files...)
	}
	for _, name := range names {
		if strings.HasPrefix(name, word) {
			return names, directive
		}
	}
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt // files in other directories
}

// planned returns the experiments that a study file and the options next to it describe.
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
