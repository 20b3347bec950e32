package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/hostlock"
	"filewise/internal/process"
	"filewise/store"
)

// stopWithin is how long a run may take to end: its trial, and what it has built.
const stopWithin = 2 * time.Minute

func (a *app) stopCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stop [RUN]",
		Short: "End the run that is measuring, cleanly",
		Long: `Stop asks the process that measures to end its trial, as Ctrl-C does there, and
waits until it has ended and removed what it had built. Whatever is finished is
stored, and "filewise resume" goes on. Without RUN it is the one that measures on
this host. The process is known by more than its number: no other is signalled.`,
		Example:           "  filewise stop\n  filewise stop 12",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.measuring(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := s.owner.Ask(cmd.Context(), stopWithin); err != nil {
				if cmd.Context().Err() != nil {
					return cmd.Context().Err()
				}
				return filewise.Errorf(filewise.CodePreflight, "run it as the user whose run it is, on the same host; or press Ctrl-C there", "%s could not be stopped: %w", s.what(), err)
			}
			if a.json {
				return a.printJSON(map[string]any{"run": s.run, "process": s.owner.PID, "stopped": true})
			}
			w := &lineWriter{w: a.stdout}
			w.printf("Stopped %s.\n", s.what())
			if s.run != 0 {
				w.printf("\"filewise resume %d\" goes on with it.\n", s.run)
			}
			return w.err
		},
	}
}

// owned is a run with the process that measures it.
type owned struct {
	run   int64 // 0: of another store
	owner process.Identity
}

func (o owned) what() string {
	if o.run == 0 {
		return fmt.Sprintf("the run of process %d", o.owner.PID)
	}
	return fmt.Sprintf("run %d (process %d)", o.run, o.owner.PID)
}

// measuring finds the run that is meant: the one that is named, the one of the
// store that runs, or the one that holds this host's measuring lock.
func (a *app) measuring(ctx context.Context, args []string) (owned, error) {
	if len(args) > 0 {
		s, err := a.load(ctx, args[0])
		if err != nil {
			return owned{}, err
		}
		if s.run.State != store.Running {
			return owned{}, filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "run %d is not being measured: it is %s", s.run.ID, s.run.State)
		}
		return owned{s.run.ID, s.run.Owner}, nil
	}
	holder, held, err := hostlock.Current(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return owned{}, err
	}
	running, err := a.running(ctx)
	if err != nil {
		return owned{}, err
	}
	for _, r := range running {
		if len(running) == 1 || held && r.owner.PID == holder.PID {
			return r, nil
		}
	}
	switch {
	case len(running) > 1:
		names := make([]string, len(running))
		for i, r := range running {
			names[i] = fmt.Sprint(r.run)
		}
		return owned{}, filewise.Errorf(filewise.CodeUsage, "name one: "+strings.Join(names, ", "), "%d runs are being measured", len(running))
	case !held:
		return owned{}, filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "nothing is being measured on this host")
	}
	id, err := process.Of(holder.PID)
	if err != nil {
		return owned{}, filewise.Errorf(filewise.CodeNotFound, "try again", "process %d, which measured, cannot be found: %w", holder.PID, err)
	}
	// The number may just have been given to another process.
	if again, held, err := hostlock.Current(ctx); err != nil || !held || again.PID != holder.PID {
		return owned{}, errors.Join(filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "the run has just ended"), err)
	}
	return owned{0, id}, nil
}

// running are the runs of the store that are being measured.
func (a *app) running(ctx context.Context) (out []owned, err error) {
	infos, err := a.runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		if info.State != store.Running {
			continue
		}
		s, err := a.load(ctx, fmt.Sprint(info.ID))
		if err != nil {
			return nil, err
		}
		if s.run.State == store.Running && s.run.Owner.Status() == process.Alive {
			out = append(out, owned{info.ID, s.run.Owner})
		}
	}
	return out, nil
}
