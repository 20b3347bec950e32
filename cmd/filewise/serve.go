package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/fleet"
	"filewise/results/archive"
	"filewise/run"
	"filewise/watch/web"
)

func (a *app) serveCommand() *cobra.Command {
	var f pageFlags
	var temporal string
	cmd := &cobra.Command{
		Use:   "serve [ADDRESS]",
		Short: "Serve the live page, the stored runs and /metrics",
		Long: `Serve shows a web page of the run in progress on this host, with buttons to pause and
stop it, of stored runs, and of comparisons. /metrics is for Prometheus. Ctrl-C ends the
page, and no run. With Temporal's address, it includes campaigns on other hosts.

At the default address (` + web.DefaultAddress + `), everyone on this host can read, and the buttons
need the token. At an address that others can reach, everything needs it. The token is
in Filewise's state directory and in the URL that a terminal shows.`,
		Example: "  filewise serve 127.0.0.1:9000 --temporal temporal.lan:7233",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.address = web.DefaultAddress
			if len(args) > 0 {
				f.address = args[0]
			}
			// A store that cannot be used is reported now. One that does not exist may still be made.
			if _, err := archive.List(cmd.Context(), a.storePath); err != nil {
				return err
			}
			if temporal != "" || os.Getenv("TEMPORAL_ADDRESS") != "" {
				f.fleet = fleet.Watch(temporal)
			}
			if err := a.openPage(&f); err != nil {
				return err
			}
			defer a.closePage()
			if a.json {
				if err := a.printJSON(served{a.page.URL(), f.tokenFile}); err != nil {
					return err
				}
			}
			<-cmd.Context().Done()
			return nil
		},
	}
	f.registerToken(cmd.Flags())
	temporalFlag(cmd.Flags(), &temporal)
	return cmd
}

// stopWithin limits the time in which a run ends its trial and removes its builds.
const stopWithin = 2 * time.Minute

func (a *app) stopCommand() *cobra.Command {
	var pid int
	cmd := &cobra.Command{
		Use:               "stop [RUN]",
		Short:             "Stop the running measurement cleanly",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := measuring(cmd.Context(), a.storePath, strings.Join(args, ""), pid)
			if err != nil {
				return err
			}
			if err := m.Stop(cmd.Context(), stopWithin); err != nil {
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
	cmd.Flags().IntVar(&pid, "pid", 0, "end the measurement of this process `number`, also into another store")
	return cmd
}

// measuring returns the run to stop.
func measuring(ctx context.Context, store, ref string, pid int) (run.Measured, error) {
	switch {
	case pid == 0:
		return run.Measuring(ctx, store, ref)
	case ref != "":
		return run.Measured{}, filewise.Errorf(filewise.CodeUsage, "give one of them", "RUN and --pid name a run twice")
	}
	return run.Holding(ctx, pid)
}
