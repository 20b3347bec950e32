package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/internal/say"
	"filewise/results/archive"
	"filewise/results/report"
)

func (a *app) showCommand() *cobra.Command {
	trials := false
	cmd := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a stored run: verdict, table, causes, warnings",
		Example: `  filewise show          # the newest run
  filewise show 12 --trials
  filewise show 12 --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.load(cmd.Context(), args)
			if err != nil {
				return err
			}
			j, err := s.Plan.Judge(s.Trials)
			if err != nil {
				return err
			}
			d, err := archive.Data(s.Run, s.Trials, j)
			if err != nil {
				return err
			}
			a.full = true
			if err := a.printData(d); err != nil || a.json || !trials {
				return err
			}
			w := &lineWriter{w: a.stdout}
			w.printf("\nTrials\n")
			for _, t := range s.Trials {
				w.printf("  %s\n", trialLine(t))
			}
			return w.err
		},
	}
	cmd.Flags().BoolVar(&trials, "trials", false, "also list every trial")
	return cmd
}

func trialLine(t filewise.Trial) string {
	where := fmt.Sprintf("block %2d", t.Cell.Block)
	if t.Cell.Pilot {
		where = "pilot   "
	}
	if t.Cell.Attempt > 1 {
		where += fmt.Sprintf(", attempt %d", t.Cell.Attempt)
	}
	if t.State == filewise.Failed {
		return fmt.Sprintf("%s  %-10s failed: %s", where, t.Cell.Layout, t.Reason)
	}
	out := fmt.Sprintf("%s  %-10s", where, t.Cell.Layout)
	if t.Build != "" {
		out = fmt.Sprintf("%s  %-10s", where, t.Build)
	}
	for i, m := range t.Measures {
		if i > 0 {
			out += ";"
		}
		out += " " + measureText(m, len(t.Measures) > 1)
	}
	return out
}

// measureText describes a measure, with its name if a trial has several.
func measureText(m filewise.Measure, named bool) string {
	out := report.Measured(m)
	if named && m.Unit != filewise.UnitTimes { // their texts contain the name
		out = m.Operation + " " + out
	}
	if m.Tail > 0 || m.Sync > 0 {
		out += fmt.Sprintf(", tail %s, durable after %s", say.Human(m.Tail), say.Human(m.Sync))
	}
	if m.Rest != nil {
		out += fmt.Sprintf(", %s/s within the window", say.Sig3(m.WindowRate()))
	}
	if failed := report.Failures(m.Errors); failed != "" {
		out += ", failures: " + failed
	}
	return out
}
