package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/fleet"
	"filewise/lab/experiment"
	"filewise/results/report/document"
	"filewise/run"
	"filewise/run/plan"
	"filewise/run/study"
)

// temporalFlag registers the flag for Temporal's address.
func temporalFlag(fs *pflag.FlagSet, address *string) {
	fs.StringVar(address, "temporal", "", "`HOST:PORT` of Temporal (default: TEMPORAL_ADDRESS, a profile of temporal.toml, or "+
		"localhost:7233)")
}

func (a *app) workerCommand() *cobra.Command {
	var temporal, host string
	var labels []string
	o, login := newOptions(), new(plan.TargetOptions)
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Measure on this host for campaigns and drivers, through Temporal",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			site, err := a.site(o, login, host, labels)
			if err != nil {
				return err
			}
			c, err := fleet.Dial(cmd.Context(), temporal, site.Say)
			if err != nil {
				return err
			}
			defer c.Close()
			return fleet.Work(cmd.Context(), c, site)
		},
	}
	temporalFlag(cmd.Flags(), &temporal)
	cmd.Flags().StringVar(&host, "host", "", "`name` that campaigns use for this host (default: its own)")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "`KEY=VALUE` by which campaigns choose hosts, such as storage=nvme "+
		"(repeatable)")
	registerOptions(cmd.Flags(), o.VolumeRow("`NAME=DIR` for studies here, instead of theirs (repeatable)"))
	registerOptions(cmd.Flags(), login.ServerTable()[1:]...)
	return cmd
}

// site returns this host's settings for measuring.
func (a *app) site(o *plan.Options, login *plan.TargetOptions, host string, labels []string) (fleet.Site, error) {
	if host == "" {
		var err error
		if host, err = os.Hostname(); err != nil {
			return fleet.Site{}, filewise.Errorf(filewise.CodeUsage, "give --host", "this host has no name: %w", err)
		}
	}
	host = strings.ToLower(host) // host names are the same in any case
	if err := (plan.Naming{Tags: labels}).Apply(new(experiment.Plan)); err != nil {
		return fleet.Site{}, err
	}
	offer := fleet.Offer{Host: host, Labels: labels, Version: versionString(), Cores: runtime.NumCPU(), Volumes: map[string]string{}}
	for _, e := range engines() {
		if e.Describe().Missing == "" {
			offer.Engines = append(offer.Engines, e.Name())
		}
	}
	for _, v := range o.Volumes.Value {
		offer.Volumes[v.Name] = v.Value
	}
	return fleet.Site{
		Offer: offer, Hide: a.masked, Engine: registry().Lookup,
		Say:   func(text string) { fmt.Fprintln(a.stderr, "filewise:", document.Harmless(a.masked(text))) },
		Login: func(t filewise.Target) run.Login { return a.access(t, nil, filewise.Address{}, login) },
		Make:  func(job fleet.Job) (plan.Made, error) { return a.makeJob(job, o) },
		Options: func(made plan.Made) run.Options {
			o := a.options(made.Engine, a.access(made.Target, made.Origin(), made.Secret, &made.Options.TargetOptions))
			o.Abandon = nil // this process has other work
			return o
		},
	}, nil
}

// makeJob plans a job's experiment as "run FILE --only NAME" on this host would.
func (a *app) makeJob(job fleet.Job, given *plan.Options) (plan.Made, error) {
	form := studyForm()
	if form.Scripts = job.Scripts; form.Scripts == nil {
		form.Scripts = map[string]string{} // a file of that name on this host would be a different one
	}
	s, err := study.Parse(job.File, job.Study, form, os.LookupEnv)
	a.hide(s.Secrets...)
	if err != nil {
		return plan.Made{}, err
	}
	s.Experiments = slices.DeleteFunc(s.Experiments, func(e study.Experiment) bool { return e.Name != job.Experiment })
	o := given.Clone()
	if job.Seed != "" {
		o.Seed = plan.Of(job.Seed)
	}
	all, err := s.Plan(registry(), o, []string{job.Experiment}, func(p plan.Made) error {
		_, err := run.Prepare(p.Engine, p.Plan)
		return err
	})
	if err != nil {
		return plan.Made{}, err
	}
	return all[0].Made, nil
}

// dialled calls do with a connection to Temporal's campaigns, which go on even if the command is interrupted.
func (a *app) dialled(ctx context.Context, temporal string, do func(fleet.Campaigns) error) error {
	c, err := fleet.Dial(ctx, temporal, nil)
	if err != nil {
		return err
	}
	defer c.Close()
	err = do(c)
	if err != nil && ctx.Err() != nil && filewise.CodeOf(err) != codeInterrupted {
		return filewise.Errorf(codeInterrupted, "give it again: what was done already is not done twice",
			"interrupted; campaigns go on without this command")
	}
	return err
}
