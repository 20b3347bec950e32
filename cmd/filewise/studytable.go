package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise/study"
	"filewise/verdict"
	"filewise/workload"
)

// notInStudies are the flags of run that a study file does not say: they are about
// the file itself.
var notInStudies = map[string]bool{"help": true, "only": true}

// studyTypes are the types of flags in a study file. A flag of a type that is not
// here has no key: add it.
var studyTypes = map[string]study.Type{
	"string": study.Text, "int": study.Whole, "int64": study.Whole, "uint": study.Whole, "float64": study.Number, "bool": study.Switch,
	"duration": study.Time, "intSlice": study.Wholes, "stringArray": study.Texts, "stringSlice": study.Texts,
}

// studyShapes are flags whose values a mapping says better.
var studyShapes = map[string]study.Type{"volume": study.Pairs, "set": study.Pairs, "layout": study.Parts}

// studyBounds are the least and the most of numbers, as the plan has them.
var studyBounds = map[string][2]float64{
	"connections": {1, workload.MaxConnections}, "instances": {1, maxInstances}, "max-blocks": {verdict.FirstLook, maxBlocks}, "files": {1, 1e6},
	"commit-every": {1, workload.MaxCommitEvery}, "users": {1, workload.MaxConnections}, "warehouses": {1, 10_000},
}

// studyTable is what study files can say: every flag of run has its key there. What
// is no flag of an experiment's plan is said once for the whole file.
func studyTable() study.Table {
	fresh := new(app) // registering sets what flags are bound to
	run, root := fresh.runCommand(), &cobra.Command{}
	fresh.registerShared(root)
	root.AddCommand(run)
	t := study.Table{Engines: engineNames()}
	for _, sc := range workload.Scenarios() {
		t.Scenarios = append(t.Scenarios, sc.Name)
	}
	few := choices()
	add := func(fl *pflag.Flag) {
		if notInStudies[fl.Name] {
			return
		}
		k := study.Key{Name: fl.Name, Type: studyTypes[fl.Value.Type()], Usage: strings.ReplaceAll(fl.Usage, "`", ""), Default: fl.DefValue,
			Choices: few[fl.Name], Once: !inPlan(fl.Name), Instead: instead[fl.Name]}
		if shape, ok := studyShapes[fl.Name]; ok {
			k.Type = shape
		}
		if k.Type == study.Parts {
			k.Choices = layoutKeys
		}
		if b, ok := studyBounds[fl.Name]; ok {
			k.Least, k.Most = &b[0], &b[1]
		}
		t.Keys = append(t.Keys, k)
	}
	run.Flags().VisitAll(add)
	run.InheritedFlags().VisitAll(add)
	return t
}
