package main

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/run"
	"filewise/run/doctor"
	"filewise/run/plan"
	"filewise/run/preview"
)

// doctorFlags chooses further checks, and how they run.
type doctorFlags struct {
	selfCheck, all, yes, anonymous, resolve, storage bool
	output                                           string // file for the findings
	notify                                           plan.NotifyOptions
}

func (a *app) doctorCommand() *cobra.Command {
	o := plan.New()
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether this machine and a server can run an experiment",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.diagnose(cmd.Context(), o, &f)
			if err != nil {
				return err
			}
			if err := a.print(d, func(w *lineWriter) { w.printf("%s", d.Text()) }); err != nil {
				return err
			}
			if err := a.writeRecord(d.Record, f.output); err != nil {
				return err
			}
			if d.Failed > 0 {
				return filewise.Errorf(filewise.CodePreflight, "follow the report, and check again", "%s failed",
					filewise.Counted(d.Failed, "check"))
			}
			return nil
		},
	}
	registerOptions(cmd.Flags(), slices.Concat(o.TargetOptions.Table(""), []plan.Option{
		o.VolumeRow("`NAME=DIR` to check, as the server of --target sees it (repeatable; default here=., or the server's own)"),
		o.AllowRow(), f.notify.NotifyRow(),
		o.SetRow("`key=value` setting, as of run, also for --self-check (repeatable)"),
	})...)
	cmd.Flags().BoolVar(&f.selfCheck, "self-check", false, "try every workload on --target")
	cmd.Flags().BoolVar(&f.all, "all", false, "with --self-check: continue after failures, for at most 15 minutes, and write a file")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "`file` of --all (default filewise-self-check-ENGINE.json)")
	cmd.Flags().BoolVar(&f.anonymous, "anonymous", false,
		"leave out hosts, users and home directories")
	cmd.Flags().BoolVar(&f.storage, "storage", false, "measure and store the limits of the volumes' storage by fio")
	cmd.Flags().BoolVar(&f.resolve, "resolve", false, "measure the noise: which differences can be seen in which time")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "create its scratch databases without asking")
	completeChoices(cmd)
	return cmd
}

// usualPlan returns the plan that run would make without other options. Doctor checks a server for it.
func usualPlan(o *plan.Options) (plan.Made, error) {
	usual := plan.New()
	usual.Target, usual.Volumes, usual.Settings = o.Target, o.Volumes, o.Settings
	if o.Engine.Given() {
		usual.Engine = o.Engine
	}
	return registry().Make(usual)
}

// diagnose checks the machine, and what the options name.
func (a *app) diagnose(ctx context.Context, o *plan.Options, f *doctorFlags) (*doctor.Diagnosis, error) {
	to, err := f.notify.Receivers()
	if err != nil {
		return nil, err
	}
	made, err := usualPlan(o)
	if err != nil {
		return nil, err
	}
	external := made.Target.Mode == filewise.External
	if f.selfCheck && !external {
		return nil, filewise.Errorf(filewise.CodeUsage, "give a server by --target, or leave --self-check out",
			"--self-check is for existing servers: a managed one is tried whenever it is opened")
	}
	if f.all && !f.selfCheck {
		return nil, filewise.Errorf(filewise.CodeUsage, "add --self-check, or leave it out", "--all is for --self-check")
	}
	d := &doctor.Diagnosis{Version: versionString()}
	var volumes []filewise.Volume
	if !external { // an external server's volumes are not on this machine
		volumes = made.Target.Volumes
	}
	d.Machine = doctor.Machine(ctx, registry(), volumes)
	login := a.access(made.Target, made.Origin(), made.Secret, &o.TargetOptions)
	if o.Engine.Given() || o.Target.Value != "" {
		if err := d.Examine(ctx, a.patient(made, login, f)); err != nil {
			return nil, err
		}
	}
	if f.storage {
		found, err := storageFindings(ctx, made)
		if err != nil {
			return nil, err
		}
		d.Machine = append(d.Machine, found...)
	}
	a.hideNotify(to)
	d.Notify(ctx, to.Addresses, a.masked)
	d.Count()
	if f.anonymous {
		d.Anonymous()
	}
	if !f.resolve || d.Failed > 0 {
		return d, nil
	}
	return d, a.resolve(ctx, made, &o.TargetOptions, d)
}

// patient returns the target that the options name, in the form for doctor.
func (a *app) patient(made plan.Made, login run.Login, f *doctorFlags) doctor.Patient {
	p := doctor.Patient{Engine: made.Engine, Plan: made.Plan, Options: made.Options, Login: login, Hide: a.masked}
	if f.all {
		p.Whole = &doctor.UsualLimits
	}
	if f.selfCheck {
		p.Agree = func() error {
			if f.yes {
				return nil
			}
			return a.confirm("Create scratch databases on the server, one after the other, try every workload in them, and drop them again?")
		}
	}
	return p
}

// storageFindings measures the usual experiment's storage again.
func storageFindings(ctx context.Context, made plan.Made) ([]filewise.Finding, error) {
	env, err := run.Prepare(made.Engine, made.Plan)
	if err != nil {
		return nil, err
	}
	defer surviveBrokenPipe()()
	return env.MeasureStorage(ctx)
}

// resolve measures the usual experiment's noise, and adds which differences it allows to see.
func (a *app) resolve(ctx context.Context, made plan.Made, o *plan.TargetOptions, d *doctor.Diagnosis) error {
	n, err := a.measureNoise(ctx, made, o)
	if err != nil {
		return err
	}
	out, err := preview.Sees(n, len(made.Layouts), made.Confidence)
	d.Resolves = &out
	return err
}

// writeRecord writes the record of a self-check that can be sent to others. The record has been shown to the user.
func (a *app) writeRecord(r *doctor.Record, output string) error {
	if r == nil {
		return nil
	}
	return a.write(cmp.Or(output, "filewise-self-check-"+r.Engine+".json"), func(w io.Writer) error {
		_, err := io.WriteString(w, r.JSON())
		return err
	})
}
