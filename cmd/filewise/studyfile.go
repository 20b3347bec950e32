package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/study"
	"filewise/workload"
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
		return badValue("only", only[0], "it chooses among the experiments of a study file: give that, or leave it out")
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

// planned is an experiment of a study, ready to be run.
type planned struct {
	study.Experiment
	flags *planFlags
	plan  experiment.Plan
}

// planned are the experiments that a study file and the flags beside it describe.
// Every one is planned and rendered, so that no mistake is found after hours.
func (a *app) planned(cmd *cobra.Command, file string, only []string) ([]planned, error) {
	s, err := study.Load(file, studyTable(), os.LookupEnv)
	a.hide(s.Secrets...)
	if err != nil {
		return nil, err
	}
	for _, v := range s.Once {
		if fl := cmd.Flags().Lookup(v.Key); fl != nil && !fl.Changed {
			if err := setTexts(cmd.Flags(), v.Key, v.Texts); err != nil {
				return nil, s.At(v.Place, err)
			}
		}
	}
	chosen, err := s.Only(only)
	if err != nil {
		return nil, err
	}
	var all []planned
	for _, e := range chosen {
		p, err := plannedOf(cmd, s, e)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// plannedOf plans one experiment.
func plannedOf(cmd *cobra.Command, s study.Study, e study.Experiment) (planned, error) {
	out := planned{Experiment: e, flags: &planFlags{custom: e.Custom}}
	own := &cobra.Command{Use: cmd.Use}
	out.flags.register(own.Flags())
	if err := fillFlags(cmd.Flags(), own.Flags(), s, e); err != nil {
		return out, err
	}
	scenario := e.Scenario
	if scenario == "" {
		scenario = defaultScenario
	}
	var err error
	if out.plan, err = out.flags.plan(own, scenario); err != nil {
		return out, inFile(s, e, err)
	}
	if out.flags.secrets.Password == "" {
		out.flags.secrets.Password = e.Password
	}
	if e.Custom != nil {
		out.plan.Command = customCommand(out.plan.Command, s.File, e)
	}
	if _, err := prepare(out.plan); err != nil {
		return out, inFile(s, e, err)
	}
	return out, nil
}

// inFile says where in the file the cause of an error stands. What is wrong with the
// user's SQL says that itself.
func inFile(s study.Study, e study.Experiment, err error) error {
	if strings.Contains(err.Error(), s.File+":") {
		return named(e, err)
	}
	return s.At(placeIn(e, err), named(e, keyed(e, err)))
}

// keyed says the file's keys in place of the flags that they stand for.
func keyed(e study.Experiment, err error) error {
	message := flagNamed.ReplaceAllStringFunc(err.Error(), func(flag string) string {
		if _, ok := e.Value(flag[2:]); ok {
			return flag[2:]
		}
		return flag
	})
	if message == err.Error() {
		return err
	}
	return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "%s%w", message, silent{err})
}

// silent is an error that something else has told already.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// named says which experiment of several is meant.
func named(e study.Experiment, err error) error {
	if e.Name == e.Scenario || e.Name == study.Unnamed {
		return err
	}
	return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "experiment %q: %w", e.Name, err)
}

// flagNamed finds the flag that an error is about.
var flagNamed = regexp.MustCompile(`--([a-z][a-z0-9-]*)`)

// placeIn is where in the file the key stands that an error is about, or else one that
// its remedy names, or the experiment.
func placeIn(e study.Experiment, err error) study.Place {
	for _, m := range flagNamed.FindAllStringSubmatch(err.Error()+" "+filewise.RemedyOf(err), -1) {
		if v, ok := e.Value(m[1]); ok {
			return v.Place
		}
	}
	return e.Place
}

// fillFlags sets an experiment's flags: those that the command line or the
// environment gives, and from the file what these leave open.
func fillFlags(given, own *pflag.FlagSet, s study.Study, e study.Experiment) (err error) {
	said := map[string]bool{}
	given.Visit(func(fl *pflag.Flag) {
		if own.Lookup(fl.Name) == nil || err != nil || !fl.Changed {
			return
		}
		said[fl.Name] = true
		texts := []string{strings.Trim(fl.Value.String(), "[]")}
		if v, ok := fl.Value.(pflag.SliceValue); ok && fl.Value.Type() != "intSlice" {
			texts = v.GetSlice()
		}
		before := valuesOf(own.Lookup(fl.Name))
		if err = setTexts(own, fl.Name, texts); err == nil && byVariable(fl) {
			err = own.SetAnnotation(fl.Name, unset, before)
		}
	})
	for _, v := range e.Values {
		if err != nil || said[v.Key] || said[instead[v.Key]] {
			continue
		}
		if err = setTexts(own, v.Key, v.Texts); err != nil {
			err = s.At(v.Place, err)
		}
	}
	return err
}

// setTexts sets a flag, one of several values after the other.
func setTexts(fs *pflag.FlagSet, name string, texts []string) error {
	for _, text := range texts {
		if err := fs.Set(name, text); err != nil {
			return wrongType("--"+name+" "+text, fs.Lookup(name), err)
		}
	}
	return nil
}

// customCommand is the command line that repeats an experiment with SQL of its own,
// which no flags can say.
func customCommand(command []string, file string, e study.Experiment) []string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	at := slices.Index(command, workload.FamilyCustom)
	return slices.Concat(command[:at], []string{file, "--only", e.Name}, command[at+1:])
}
