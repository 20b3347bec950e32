package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/gate"
	"filewise/results/report"
	"filewise/run/plan"
)

// resultFlags holds the flags for what fails a pipeline, where the outcome is written, and the run's name.
type resultFlags struct {
	failIf     []string
	junit      string
	conditions []gate.Condition
	suites     []gate.Suite
	failed     []gate.Outcome
	names      plan.Naming
	quiet      bool // the outcome is shown in another way
}

func (f *resultFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.failIf, "fail-if", nil, "exit with 9 if this `condition` holds, such as \"loss > 5 %\" or \"p99 > 10 ms\" "+
		"(repeatable)")
	fs.StringVar(&f.junit, "junit", "", "write verdict and conditions as JUnit XML to this `file`")
}

// registerNames registers the flags for the run's name and tags.
func (f *resultFlags) registerNames(fs *pflag.FlagSet) {
	fs.StringVar(&f.names.Name, "name", "", "`name` of the run, usable wherever a run number is")
	fs.StringArrayVar(&f.names.Tags, "tag", nil, "`KEY=VALUE` for list --filter tag=KEY=VALUE (repeatable)")
}

// fit parses the conditions for the plan, and sets the plan's name and tags.
func (f *resultFlags) fit(p *experiment.Plan) error {
	if err := f.about(p); err != nil {
		return err
	}
	return f.names.Apply(p)
}

// about parses the conditions, which must concern the plan's layouts and measures.
func (f *resultFlags) about(p *experiment.Plan) error {
	if err := f.parse(layoutNames(p.Layouts, p.AA)); err != nil {
		return err
	}
	for _, c := range f.conditions {
		if err := plan.Timed(p, c.Text); c.Metric == gate.P99 && err != nil {
			return err
		}
	}
	return nil
}

// parse parses the conditions, which must concern these layouts. Nil means the layouts are not known yet.
func (f *resultFlags) parse(layouts []string) (err error) {
	f.conditions = nil
	for _, text := range f.failIf {
		c, err := gate.Parse(text)
		if err == nil && layouts != nil {
			err = c.Known(layouts)
		}
		if err != nil {
			return err
		}
		f.conditions = append(f.conditions, c)
	}
	return nil
}

// judge applies the conditions to a result, and keeps the outcomes for the file.
func (f *resultFlags) judge(s gate.Suite, subjects []gate.Subject) []gate.Outcome {
	s.Outcomes = gate.Judge(f.conditions, subjects)
	f.suites, f.failed = append(f.suites, s), append(f.failed, gate.Failed(s.Outcomes)...)
	return s.Outcomes
}

func (f *resultFlags) judgeRun(d *report.Data) {
	s := gate.Suite{Name: fmt.Sprintf("run %d", d.RunID), Started: d.Started, Took: d.Judgement.Elapsed}
	s.Headline, s.Properties = report.Verdict(*d), archive.Properties(d.Judgement)
	if all := d.Judgement.Sentences(); len(all) > 0 {
		s.Said = all[1:]
	}
	d.Gate = f.judge(s, archive.Subjects(d.Judgement))
}

// end writes the outcomes' file. It returns an error if a condition failed.
func (f *resultFlags) end(a *app) error {
	if f.junit != "" {
		if err := a.write(f.junit, func(w io.Writer) error { return gate.JUnit(w, f.suites) }); err != nil {
			return err
		}
	}
	return gate.Error(f.failed)
}

// gateText writes the outcomes of a result's conditions.
func gateText(w *lineWriter, all []gate.Outcome) {
	for i, o := range all {
		if i == 0 {
			w.printf("\n")
		}
		w.printf("%s\n", o.Line())
	}
}

// layoutNames returns the names that conditions can refer to.
func layoutNames(layouts []filewise.Layout, aa string) []string {
	return slices.DeleteFunc(filewise.LayoutNames(layouts), func(name string) bool { return name == aa })
}
