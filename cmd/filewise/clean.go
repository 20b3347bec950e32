package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"filewise/plan"
	"filewise/scratch"
)

func (a *app) cleanCommand() *cobra.Command {
	var dry, yes bool
	var login plan.TargetOptions
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs left behind, and nothing else",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if login.Target.Value != "" {
				return a.cleanServer(cmd, &login, dry, yes)
			}
			reg, err := scratch.Open()
			if err != nil {
				return err
			}
			find := reg.Sweep
			if dry {
				find = reg.Leftovers
			}
			left, err := find(cmd.Context())
			if err != nil {
				return err
			}
			return a.printLeftovers(left)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "list what would be removed, remove nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove from the server of --target without asking")
	registerOptions(cmd.Flags(), login.ServerTable()...)
	return cmd
}

func (a *app) printLeftovers(left []scratch.Leftover) error {
	if left == nil {
		left = []scratch.Leftover{}
	}
	return a.print(left, func(w *lineWriter) {
		for _, l := range left {
			w.printf("%s\n", leftoverLine(l))
		}
		if len(left) == 0 {
			w.printf("Nothing was left behind.\n")
		}
	})
}

// leftoverLine says what was found and what became of it.
func leftoverLine(l scratch.Leftover) string {
	what := l.Path
	if what == "" {
		what = "registration " + l.ID
	}
	switch {
	case l.Kept != "":
		return fmt.Sprintf("kept %s: %s", what, l.Kept)
	case l.Removed:
		return fmt.Sprintf("removed %s, left by process %d, which was killed%s", what, l.Owner, processes(", with its server %v", l))
	}
	return fmt.Sprintf("would remove %s, left by process %d, which was killed%s", what, l.Owner, processes(", and end its server %v", l))
}

func processes(format string, l scratch.Leftover) string {
	if len(l.Processes) == 0 {
		return ""
	}
	return fmt.Sprintf(format, l.Processes)
}
