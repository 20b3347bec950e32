package main

import (
	"context"

	"github.com/spf13/cobra"

	"filewise/plan"
	"filewise/preview"
)

func (a *app) planCommand() *cobra.Command {
	o := registry().New()
	var power powerFlags
	var only []string
	cmd := &cobra.Command{
		Use:   "plan [SCENARIO or FILE.yaml]",
		Short: "Show what run would do: trials in order, statements, files, space and time",
		Long: `Plan takes the arguments of run and executes nothing: it shows the trials in
order, every SQL statement, the files with their sizes, the space needed and
free, and the time that it may take. Layouts that are dropped on the way make the
later blocks shorter. Of an existing server (--target) it reads what the run would
check, and writes nothing.`,
		Example: `  filewise plan
  filewise plan --files 1,8 --size 1GiB --json
  filewise plan study.yaml`,
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
				return a.planStudy(cmd, o, file, only)
			}
			if err := onlyInStudies(only); err != nil {
				return err
			}
			o.Scenario = scenarioArg(args)
			made, err := registry().Make(o)
			if err != nil {
				return err
			}
			return a.planOne(cmd.Context(), made)
		},
	}
	registerOnly(cmd, &only)
	registerOptions(cmd.Flags(), o.Table()...)
	power.register(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

// planOne shows one experiment.
func (a *app) planOne(ctx context.Context, made plan.Made) error {
	v, err := a.previewOf(ctx, made)
	if err != nil {
		return err
	}
	if err := a.print(v, func(w *lineWriter) { w.printf("%s", v.Text()) }); err != nil {
		return err
	}
	return v.Refusal()
}

// previewOf is a plan's preview, with a forecast from the store's runs. A store that cannot be
// read takes nothing from it but that: run says what is wrong with it.
func (a *app) previewOf(ctx context.Context, made plan.Made) (preview.Preview, error) {
	v, err := preview.Of(ctx, made, a.access(made.Target, made.Secret, &made.Options.TargetOptions))
	if err == nil {
		v.Forecast, _ = preview.Forecast(ctx, a.storePath, made.Plan)
	}
	return v, err
}
