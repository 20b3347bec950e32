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
		Use:   "judge [RUN]",
		Short: "Judge stored trials anew by other rules, or numbers from elsewhere",
		Long: `Judge applies the verdict's rules to stored trials, with another margin,
confidence, goal or baseline. The stored run is not altered. Rules that are
chosen after looking at the trials weaken the confidence that the verdict states.

With --csv it judges numbers that came from elsewhere, another benchmark's for
instance. One line is one trial; the first line names the columns:

  block,layout,throughput
  1,1 file,4034.9
  1,8 files,4271.0

A block is one round through all layouts, in random order; blocks are judged one
after the other as if they were just measured. Without a column block the k-th line of
each layout is of block k. A column time stands instead of throughput, in any unit; the
differences are then shown in time as well. An empty number is a trial that is missing.
Of fewer blocks than a verdict takes it is said what can be said. Columns
instance (the build that a trial ran on) and calibration (a probe before it) are
used, others are not. What export has written is judged by the rules that it
names, so that the stored verdict comes of it again. Layouts whose names begin
with a number are ordered by it, and the one that begins with 1 is the baseline.
A layout called "X again" beside one called X is taken for an A/A check (see run
--aa).`,
		Example: `  filewise judge 12 --margin 5
  filewise judge last --baseline 4 --confidence 99
  filewise judge --csv trials.csv --json
  filewise export last --format csv | filewise judge --csv -`,
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
