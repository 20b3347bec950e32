package main

import (
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise/experiment"
	"filewise/internal/nearest"
	"filewise/verdict"
)

func (a *app) judgeCommand() *cobra.Command {
	var f judgeFlags
	cmd := &cobra.Command{
		Use:   "judge [RUN]",
		Short: "Judge the stored trials of a run anew, by other rules",
		Long: `Judge applies the verdict's rules to stored trials, with another margin,
confidence, goal or baseline. The stored run is not altered. Rules that are
chosen after looking at the trials weaken the confidence that the verdict states.`,
		Example: `  filewise judge 12 --margin 5
  filewise judge last --baseline 4 --confidence 99`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
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
	fs.StringVar(&f.goal, "goal", string(verdict.GoalRecommend), "go on until a layout can be recommended (recommend), or until every layout is resolved (verdicts)")
	fs.StringVar(&f.baseline, "baseline", "", "layout that the others are compared with: its name or number of files (default the first of --files)")
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
	names := make([]string, len(p.Layouts))
	for i, l := range p.Layouts {
		if f.baseline == l.Name || f.baseline == strconv.Itoa(l.Data.Files) {
			p.Baseline = l.Name
			return nil
		}
		names[i] = l.Name
	}
	return nearest.Unknown("--baseline", f.baseline, names)
}
