package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/archive"
	"filewise/plan"
)

func (a *app) judgeCommand() *cobra.Command {
	var f plan.JudgeOptions
	var csvFile, family string
	var maxBlocks int
	var g resultFlags
	cmd := &cobra.Command{
		Use:               "judge [RUN]",
		Short:             "Judge stored trials anew by other rules, or numbers from elsewhere",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			typed := func(flag string) bool { return cmd.Flags().Changed(flag) && !slices.Contains(a.variables, flag) }
			switch {
			case cmd.Flags().Changed("csv") && len(args) > 0:
				return filewise.Errorf(filewise.CodeUsage, "give one of them", "run %s and --csv %s at once", args[0], csvFile)
			case cmd.Flags().Changed("csv"):
				return a.judgeCSV(&f, &g, csvFile, family, maxBlocks)
			case typed("family"):
				return plan.BadValue("family", family, "a stored run is judged with all its families; use it with --csv")
			case typed("max-blocks"):
				return plan.BadValue("max-blocks", maxBlocks, "a stored run has the number that it was planned with; use it with --csv")
			}
			return a.judgeStored(cmd.Context(), &f, &g, args)
		},
	}
	registerOptions(cmd.Flags(), f.Table()...)
	a.registerResult(cmd.Flags(), &g)
	cmd.Flags().StringVar(&csvFile, "csv", "", "judge the trials in this CSV `file`; -: standard input")
	cmd.Flags().IntVar(&maxBlocks, "max-blocks", 0, "most `blocks` that were planned for a --csv file: the boundaries depend on it "+
		"(default what the file says, or 20)")
	cmd.Flags().StringVar(&family, "family", "", "judge this `family` of operations of a --csv file that has several")
	cmd.Flags().SetNormalizeFunc(alsoNMax)
	completeChoices(cmd)
	return cmd
}

// alsoNMax takes --n-max for --max-blocks.
func alsoNMax(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "n-max" {
		name = "max-blocks"
	}
	return pflag.NormalizedName(name)
}

// judgeStored judges a stored run by other rules.
func (a *app) judgeStored(ctx context.Context, f *plan.JudgeOptions, g *resultFlags, args []string) error {
	s, err := a.load(ctx, args)
	if err != nil {
		return err
	}
	if err := g.parse(layoutNames(s.Plan.Layouts, s.Plan.AA)); err != nil {
		return err
	}
	rules := s.Plan
	if err := f.Override(&rules); err != nil {
		return err
	}
	j, err := s.Plan.Rejudge(rules, s.Trials)
	if err != nil {
		return err
	}
	s.Plan = rules
	d, err := archive.Data(s.Run, s.Trials, j)
	if err != nil {
		return err
	}
	d.Rejudged = true
	g.judgeRun(&d)
	if err := a.printData(d); err != nil {
		return err
	}
	return g.end(a)
}
