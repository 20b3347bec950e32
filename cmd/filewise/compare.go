package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"filewise/lab/verdict"
	"filewise/results/archive"
	"filewise/results/gate"
	"filewise/results/report/document"
	"filewise/run/plan"
)

func (a *app) compareCommand() *cobra.Command {
	var confidence float64
	var meant []string
	var rules int
	var g resultFlags
	var f acrossFlags
	cmd := &cobra.Command{
		Use:               "compare BEFORE AFTER",
		Short:             "Compare two runs, before and after a change, or pool runs of many hosts",
		Args:              f.check,
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(confidence >= 50 && confidence <= 99.99) {
				return plan.OutOfRange("confidence", confidence, "use a percentage from 50 to 99.99 (default 95)")
			}
			for _, m := range meant {
				if _, err := plan.Choice("meant", m, archive.MeantNames...); err != nil {
					return err
				}
			}
			if rules < 0 || rules > verdict.NewestRules {
				return plan.OutOfRange("rules", rules, "give 1, 2 or 3")
			}
			if f.across {
				return a.compareAcross(cmd.Context(), args, &f, confidence/100, meant, rules)
			}
			if err := g.parse(nil); err != nil {
				return err
			}
			before, err := a.load(cmd.Context(), args)
			if err != nil {
				return err
			}
			after, err := a.load(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			c, err := archive.Compare(before.ByRules(rules), after.ByRules(rules), confidence/100, meant)
			if err != nil {
				return err
			}
			return a.printComparison(c, &g, &f)
		},
	}
	cmd.Flags().Float64Var(&confidence, "confidence", 100*archive.UsualConfidence,
		"confidence in `percent`, over all layouts and operations together")
	cmd.Flags().StringSliceVar(&meant, "meant", nil, "accept intended differences: `things` among "+
		strings.Join(archive.MeantNames, ", "))
	cmd.Flags().IntVar(&rules, "rules", 0, "judge by these `rules`, 1 to 3 (default each run by its own)")
	g.register(cmd.Flags())
	f.register(cmd)
	completeFlag(cmd, "meant", archive.MeantNames...)
	return cmd
}

// printComparison shows what changed, and the results of its conditions.
func (a *app) printComparison(c archive.Comparison, g *resultFlags, f *acrossFlags) error {
	if err := g.parse(c.Layouts()); err != nil {
		return err
	}
	format, err := f.kind(a)
	if err != nil {
		return err
	}
	c.Gate = g.judge(gate.Suite{Name: c.Name(), Headline: c.Headline(), Said: c.Sentences()}, c.Subjects())
	if err := a.writeAs(f.output, format, c, c.Write); err != nil {
		return err
	}
	return g.end(a)
}

// writeAs writes a result as JSON, or in another format with the function as.
func (a *app) writeAs(output, format string, v any, as func(io.Writer, string, document.TerminalOptions) error) error {
	opts := document.TerminalOptions{Width: 80}
	if output == "" {
		opts.Width, _ = terminal(a.stdout)
		opts.Color = coloured(a.stdout)
	}
	return a.write(output, func(w io.Writer) error {
		if format == "json" {
			return writeJSON(w, v)
		}
		if output == "" && format == "text" {
			w = a.stdout
		}
		if opts.Color {
			w = beneath(w) // Filewise's own colours need the terminal itself
		}
		return as(w, format, opts)
	})
}
