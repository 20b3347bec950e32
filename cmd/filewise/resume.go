package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/fleet"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/run"
	"filewise/run/plan"
)

// resumeFlags holds the options for resuming a run.
type resumeFlags struct {
	login  plan.TargetOptions
	stops  plan.StopOptions
	notify plan.NotifyOptions
	by     plan.DriverOptions
	page   pageFlags
	budget plan.Opt[time.Duration]
}

// table returns the option for --budget.
func (f *resumeFlags) table() []plan.Option {
	return []plan.Option{plan.Row(&f.budget, "budget", 0, "extend the run to this total `time`, also after an undecided end")}
}

// extended returns the run with a larger budget, if one is given and leaves something to measure.
func (f *resumeFlags) extended(r archive.Run, d experiment.Decision, o *run.Options) (archive.Run, experiment.Decision, error) {
	if !f.budget.Given() || d.Ending == experiment.Decided || d.Ending == experiment.Broken {
		return r, d, nil
	}
	p, err := r.Plan.Extend(f.budget.Value, r.Trials)
	if err != nil {
		return r, d, err
	}
	if _, d = p.Next(r.Trials); d.Ending == experiment.GoesOn {
		r.Plan, o.Budget = p, f.budget.Value
	}
	return r, d, nil
}

func (a *app) resumeCommand() *cobra.Command {
	var f resumeFlags
	cmd := &cobra.Command{
		Use:               "resume [RUN]",
		Short:             "Continue an interrupted run, or extend its budget",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, d, err := run.Unfinished(cmd.Context(), a.storePath, strings.Join(args, ""))
			if err != nil {
				return err
			}
			e, err := registry().Lookup(r.Plan.Target.Engine)
			if err != nil {
				return err
			}
			o := a.options(e, nil)
			o.Result = a.printResumed
			if r, d, err = f.extended(r, d, &o); err != nil {
				return err
			}
			if d.Ending == experiment.GoesOn {
				if err := f.again(a, r, &o); err != nil {
					return err
				}
				defer a.closePage()
			}
			defer surviveBrokenPipe()()
			_, err = run.Resume(cmd.Context(), r, o)
			return a.keepPage(cmd.Context(), err)
		},
	}
	registerOptions(cmd.Flags(), slices.Concat(f.table(), f.login.ServerTable(), f.stops.Table(), f.by.TemporalTable(), f.notify.Table())...)
	f.page.register(cmd.Flags())
	a.registerFull(cmd.Flags())
	return cmd
}

// again applies the flags that can be given again, keeps everything else as it was, and opens the live page.
func (f *resumeFlags) again(a *app, r archive.Run, o *run.Options) (err error) {
	p := r.Plan
	if o.Login, err = a.accessAgain(&f.login, r); err != nil {
		return err
	}
	if err := f.stops.Apply(&p); err != nil {
		return err
	}
	o.AbortIf, o.Maintenance = p.AbortIf, p.Maintenance
	receivers, err := f.notify.ReceiversAgain(p, run.Sealed(r))
	if err != nil {
		return err
	}
	o.Notify, o.Drivers = a.notifier(receivers), fleet.Drivers(f.by.Temporal.Value, versionString())
	return a.openPage(&f.page)
}

// accessAgain logs in to the server of a run that this host has stored, or whose server the user names. A URL on the
// command line must be that server's.
func (a *app) accessAgain(o *plan.TargetOptions, r archive.Run) (run.Login, error) {
	var given filewise.Address
	p := r.Plan
	t := p.Target
	if url := o.Target.Value; url != "" && t.Mode == filewise.External {
		_, address, _, err := registry().ParseTarget(url, t.Engine)
		if err != nil {
			return nil, err
		}
		switch {
		case address != nil && plan.WithoutSecrets(*address).String() == t.Address.String():
			given = *address
		case o.Target.Source() != plan.Variable: // a variable may be meant for other runs
			return nil, filewise.Errorf(filewise.CodeUsage, "leave --target out, or start a new run there",
				"the run is on %s, not on the server of --target", t.Address)
		}
	}
	if err := run.MayConnect(r, given.Scheme != ""); err != nil {
		return nil, err
	}
	again := *o
	if slices.Contains(p.Command, "--no-password") && o.PasswordFile.Value == "" && os.Getenv("FILEWISE_PASSWORD") == "" {
		again.NoPassword = plan.Of(true) // as when the run was started
	}
	return a.access(t, p.Origin(), given, &again), nil
}

// printResumed prints that nothing was left to measure, if that is so.
func (a *app) printResumed(out run.Outcome) error {
	if out.Over != "" && !a.json {
		fmt.Fprintf(a.stderr, "filewise: run %d has nothing left to measure: %s\n", out.Run.ID, out.Over)
	}
	return a.printData(out.Data)
}
