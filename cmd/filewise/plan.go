package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise/results/report/document"
	"filewise/run/plan"
	"filewise/run/preview"
)

func (a *app) planCommand() *cobra.Command {
	o := newOptions()
	var power powerFlags
	var only []string
	var sql bool
	var g resultFlags
	cmd := &cobra.Command{
		Use:               "plan [SCENARIO or FILE.yaml]",
		Short:             "Show what run would do: space, time, trials and every statement",
		Args:              oneStudy,
		ValidArgsFunction: completeScenarioOrFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := power.check(cmd); err != nil || power.wanted {
				if err == nil {
					o.Scenario = scenarioArg(args)
					err = a.planPower(cmd, o, &power)
				}
				return err
			}
			if file, ok := studyArg(args); ok {
				return a.planStudy(cmd, o, file, only, &g, sql)
			}
			if err := onlyInStudies(only); err != nil {
				return err
			}
			o.Scenario = scenarioArg(args)
			made, err := registry().Make(o)
			if err != nil {
				return err
			}
			return a.planOne(cmd.Context(), made, &g, sql)
		},
	}
	registerOnly(cmd, &only)
	registerOptions(cmd.Flags(), o.Table()...)
	power.register(cmd.Flags())
	a.registerUnplanned(cmd.Flags(), &g)
	cmd.Flags().BoolVar(&sql, "sql", false, "show every statement, the files' locations and all trials in order")
	completeChoices(cmd)
	return cmd
}

// registerUnplanned registers run's flags that do not affect a plan, so that a command line of run is also one of plan.
// Conditions on the run are checked. Using its result, and the live page, are left to run.
func (a *app) registerUnplanned(fs *pflag.FlagSet, g *resultFlags) {
	those := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(pageFlags).register(those)
	a.registerRun(those, g)
	those.VisitAll(func(fl *pflag.Flag) { fl.Hidden = true })
	fs.AddFlagSet(those)
}

// planOne shows what one experiment would do: its SQL if sql is set, or a summary.
func (a *app) planOne(ctx context.Context, made plan.Made, g *resultFlags, sql bool) error {
	v, err := a.previewOf(ctx, made, g)
	if err != nil {
		return err
	}
	if err := a.print(v, func(w *lineWriter) {
		if sql {
			_, w.err = io.WriteString(w.w, v.Text()) // statements are copied unchanged
			return
		}
		width, _ := terminal(a.stdout)
		w.err = v.Summary(beneath(a.stdout), document.TerminalOptions{Width: width, Color: coloured(a.stdout)})
	}); err != nil {
		return err
	}
	return v.Refusal()
}

// previewOf returns a plan's preview, with a forecast from stored runs. If the store cannot be read, only the forecast
// is missing: run reports what is wrong.
func (a *app) previewOf(ctx context.Context, made plan.Made, g *resultFlags) (preview.Preview, error) {
	if err := g.fit(&made.Plan); err != nil {
		return preview.Preview{}, err
	}
	v, err := preview.Of(ctx, made, a.access(made.Target, made.Origin(), made.Secret, &made.Options.TargetOptions))
	if err == nil {
		v.Forecast, _ = preview.Forecast(ctx, a.storePath, made.Plan)
	}
	return v, err
}
