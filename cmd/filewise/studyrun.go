package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/plan"
	"filewise/preview"
	"filewise/study"
)

// runStudy runs the experiments of a study file one after the other. One that
// fails does not keep the others from being run; Ctrl-C ends them all.
// open comes once the file is read, which may say what is to be opened.
func (a *app) runStudy(cmd *cobra.Command, o *plan.Options, file string, only []string, g *resultFlags, open func() error) error {
	all, err := a.planned(cmd, o, file, only)
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
	return filewise.Errorf(filewise.CodeOf(first), "filewise run "+file+" --only NAME runs one of them again",
		"%d of %d experiments failed, the first: %w", failed, len(all), first)
}

// runPlanned runs one experiment, and keeps what is shown of it where that becomes
// a part of one JSON document.
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

// begins says which of several experiments begins.
func (a *app) begins(i, of int, name string) {
	if of > 1 && !a.json {
		fmt.Fprintf(a.stderr, "\nfilewise: experiment %d of %d: %s\n", i+1, of, name)
	}
}

// printStudy sums up what the experiments came to: one needs no summary.
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

// previews are what the experiments of a study file would do.
type previews struct {
	Experiments []named `json:"experiments"`
}

type named struct {
	Name string `json:"name"`
	preview.Preview
}

// planStudy shows what every experiment of a study file would do.
func (a *app) planStudy(cmd *cobra.Command, o *plan.Options, file string, only []string, sql bool) error {
	all, err := a.planned(cmd, o, file, only)
	if err != nil {
		return err
	}
	if !a.json {
		return a.printPlans(cmd, all, sql)
	}
	out := previews{Experiments: []named{}}
	for _, p := range all {
		v, err := a.previewOf(cmd.Context(), p.Made)
		if err != nil {
			return err
		}
		out.Experiments = append(out.Experiments, named{p.Experiment.Name, v})
	}
	return a.printJSON(out)
}

func (a *app) printPlans(cmd *cobra.Command, all []study.Planned, sql bool) error {
	w := &lineWriter{w: a.stdout}
	var first error
	for i, p := range all {
		if len(all) > 1 {
			w.printf("%sExperiment %d of %d: %s\n\n", strings.Repeat("\n", min(i, 1)), i+1, len(all), p.Experiment.Name)
		}
		if err := a.planOne(cmd.Context(), p.Made, sql); err != nil && first == nil {
			first = err
		}
	}
	if first == nil {
		first = w.err
	}
	return first
}
