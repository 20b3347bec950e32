package main

import (
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/internal/nearest"
	"filewise/verdict"
)

func (a *app) judgeCommand() *cobra.Command {
	var f judgeFlags
	var csvFile string
	var maxBlocks int
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
after the other as if they were just measured. An empty throughput is a trial that
is missing. Columns instance (the build that a trial ran on) and calibration (a
probe before it) are used, others are not. Layouts whose names begin with a number
are ordered by it, and the one that begins with 1 is the baseline. A layout called
"X again" beside one called X is taken for an A/A check (see run --aa).`,
		Example: `  filewise judge 12 --margin 5
  filewise judge last --baseline 4 --confidence 99
  filewise judge --csv trials.csv --json
  filewise export last --format csv | filewise judge --csv -`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case cmd.Flags().Changed("csv") && len(args) > 0:
				return filewise.Errorf(filewise.CodeUsage, "give one of them", "run %s and --csv %s at once", args[0], csvFile)
			case cmd.Flags().Changed("csv"):
				return a.judgeCSV(cmd, &f, csvFile, maxBlocks)
			case cmd.Flags().Changed("max-blocks"):
				return badValue("max-blocks", maxBlocks, "a stored run has the number that it was planned with; use it with --csv")
			}
			s, err := a.load(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			rules := s.run.Plan
			if err := f.override(cmd, &rules); err != nil {
				return err
			}
			j, err := s.run.Plan.Rejudge(rules, s.trials)
			if err != nil {
				return err
			}
			s.run.Plan = rules
			d, err := data(s.run, s.trials, j)
			if err != nil {
				return err
			}
			d.Rejudged = true
			return a.printData(d)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&csvFile, "csv", "", "judge the trials in this CSV `file`; -: standard input")
	cmd.Flags().IntVar(&maxBlocks, "max-blocks", 0, "most `blocks` that were planned for a --csv file: the boundaries depend on it (default 20, or the file's if that is more)")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "n-max" {
			name = "max-blocks"
		}
		return pflag.NormalizedName(name)
	})
	completeChoices(cmd)
	return cmd
}

// judgeFlags are the flags that say how trials are judged: also those of judge.
type judgeFlags struct {
	margin     float64
	confidence float64
	goal       string
	baseline   string
}

func (f *judgeFlags) register(fs *pflag.FlagSet) {
	fs.Float64Var(&f.margin, "margin", 2, "differences below this `percent` do not matter")
	fs.Float64Var(&f.confidence, "confidence", 95, "confidence of the verdict in `percent`, over all layouts and looks together")
	fs.StringVar(&f.goal, "goal", string(verdict.GoalRecommend), "`goal` to go on to: until a layout can be recommended (recommend), or until every layout is resolved (verdicts)")
	fs.StringVar(&f.baseline, "baseline", "", "`layout` that the others are compared with: its name or number of files (default the first of --files)")
}

// override sets of a stored plan's rules what the command line gives.
func (f *judgeFlags) override(cmd *cobra.Command, p *experiment.Plan) error {
	set := cmd.Flags().Changed
	if !set("margin") {
		f.margin = p.Margin
	}
	if !set("confidence") {
		f.confidence = 100 * p.Confidence
	}
	if !set("goal") {
		f.goal = string(p.Goal)
	}
	return f.apply(p)
}

// apply sets how the plan's trials are judged.
func (f *judgeFlags) apply(p *experiment.Plan) (err error) {
	if !(f.margin > 0 && f.margin <= 100) {
		return badValue("margin", f.margin, "give a percentage above 0 and up to 100, such as 2")
	}
	if !(f.confidence >= 50 && f.confidence <= 99.99) {
		return badValue("confidence", f.confidence, "give a percentage from 50 to 99.99, such as 95")
	}
	p.Margin, p.Confidence = f.margin, f.confidence/100
	if p.Goal, err = choice("goal", f.goal, verdict.GoalRecommend, verdict.GoalVerdicts); err != nil {
		return err
	}
	return f.setBaseline(p)
}

func (f *judgeFlags) setBaseline(p *experiment.Plan) error {
	if f.baseline == "" {
		if p.Baseline == "" {
			p.Baseline = p.Layouts[0].Name
		}
		return nil
	}
	var names []string
	for _, l := range p.Layouts {
		if l.Name == p.AA && p.AA != "" {
			continue // measured to check the baseline, not to be one
		}
		if f.baseline == l.Name || f.baseline == strconv.Itoa(l.Data.Files) {
			p.Baseline = l.Name
			return nil
		}
		names = append(names, l.Name)
	}
	return nearest.Unknown("--baseline", f.baseline, names)
}
