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

// resultFlags set what fails a pipeline, where its outcome is written, and the run's name.
type resultFlags struct {
	failIf     []string
	junit      string
	conditions []gate.Condition
	suites     []gate.Suite
	failed     []gate.Outcome
	names      plan.Naming
	quiet      bool // what came of it is shown otherwise
}

func (f *resultFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.failIf, "fail-if", nil, "end with exit code 9 if this `condition` holds, such as 'loss > 5 %' or 'p99 > 10 ms' "+
		"(repeatable)")
	fs.StringVar(&f.junit, "junit", "", "write verdict and conditions as JUnit XML to this `file`")
}

// registerNames registers what a run is called.
func (f *resultFlags) registerNames(fs *pflag.FlagSet) {
	fs.StringVar(&f.names.Name, "name", "", "`name` of the run, such as \"before SAN migration\", usable wherever a run number is")
	fs.StringArrayVar(&f.names.Tags, "tag", nil, "`KEY=VALUE` to find the run by with list --filter tag=KEY=VALUE (repeatable)")
}

// fit reads the conditions for the plan, and gives it its name and tags.
func (f *resultFlags) fit(p *experiment.Plan) error {
	if err := f.about(p); err != nil {
		return err
	}
	return f.names.Apply(p)
}

// about reads the conditions, which have to be about the plan's layouts and measures.
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

// parse reads the conditions, which have to be about these layouts. Nil means they are not known yet.
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

// judge judges a result, and keeps it for the file.
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

// end writes the file, and is the error of what failed.
func (f *resultFlags) end(a *app) error {
	if f.junit != "" {
		if err := a.write(f.junit, func(w io.Writer) error { return gate.JUnit(w, f.suites) }); err != nil {
			return err
		}
	}
	return gate.Error(f.failed)
}

// gateText writes below a result what its conditions came to.
func gateText(w *lineWriter, all []gate.Outcome) {
	for i, o := range all {
		if i == 0 {
			w.printf("\n")
		}
		w.printf("%s\n", o.Line())
	}
}

// layoutNames are the names that conditions can be about.
func layoutNames(layouts []filewise.Layout, aa string) []string {
	return slices.DeleteFunc(filewise.LayoutNames(layouts), func(name string) bool { return name == aa })
}
