package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/run"
)

// stopWithin is how long a run may take to end: its trial, and what it has built.
const stopWithin = 2 * time.Minute

func (a *app) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "stop [RUN]",
		Short:             "End the run that is measuring, cleanly",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := run.Measuring(cmd.Context(), a.storePath, strings.Join(args, ""))
			if err != nil {
				return err
			}
			if err := m.Owner.Ask(cmd.Context(), stopWithin); err != nil {
				if cmd.Context().Err() != nil {
					return cmd.Context().Err()
				}
				return filewise.Errorf(filewise.CodePreflight, "run it as the user whose run it is, on the same host; or press Ctrl-C there",
					"%s could not be stopped: %w", m, err)
			}
			return a.print(stopped{m.Run, m.Owner.PID, true}, func(w *lineWriter) {
				w.printf("Stopped %s.\n", m)
				if m.Run != 0 {
					w.printf("\"filewise resume %d\" goes on with it.\n", m.Run)
				}
			})
		},
	}
}
