package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/store"
)

func (a *app) resumeCommand() *cobra.Command {
	var login targetFlags
	var stops stopFlags
	var told notifyFlags
	var page pageFlags
	cmd := &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Go on with a run that was interrupted or killed",
		Long: `Resume goes on with the next trial of the same random order. Nothing that is
finished is lost or measured again. Without RUN it takes the newest run that is
not complete.

A run on an existing server asks for the password again, which is not stored:
--target with the same URL, --password-file and FILEWISE_PASSWORD give it.
--abort-if, --maintenance-window, --notify and --notify-on are those of the run
unless given anew. A URL of --notify that holds a secret has to be given again,
because that is not stored; --notify none goes on without.`,
		Example:           "  filewise resume\n  filewise resume 12\n  filewise resume 12 --password-file ~/.filewise-password",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			st, err := store.OpenExisting(cmd.Context(), a.storePath)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, st.Close()) }()
			ref, err := unfinished(cmd.Context(), st, args)
			if err != nil {
				return err
			}
			s, err := loadFrom(cmd.Context(), st, ref)
			if err != nil {
				return err
			}
			if err := notHere(s.run); err != nil {
				return err
			}
			if s.run.State == store.Running {
				return filewise.Errorf(filewise.CodeBusy, "wait for it, or end that process", "run %d is being measured by process %d", s.run.ID, s.run.Owner.PID)
			}
			_, d := s.run.Plan.Next(s.trials)
			if d.Ending == experiment.GoesOn && s.run.Ending == experiment.Broken {
				return filewise.Errorf(filewise.CodeUsage, "correct the SQL, and run it anew", "run %d cannot go on: %s", s.run.ID, s.run.Why)
			}
			if d.Ending != experiment.GoesOn {
				return a.alreadyOver(cmd.Context(), st, s, d)
			}
			open, err := a.accessAgain(cmd, &login, s.run.Plan.Target)
			if err != nil {
				return err
			}
			if err := stops.apply(&s.run.Plan); err != nil {
				return err
			}
			if err := told.again(cmd, s.run.Plan); err != nil {
				return err
			}
			people, err := a.announce(cmd.Context(), &told, s.run.Plan)
			if err != nil {
				return err
			}
			defer func() { people.close(cmd.Context(), err) }()
			if err := a.openPage(&page); err != nil {
				return err
			}
			defer a.closePage()
			r, err := setUp(cmd.Context(), s.run.Plan, open)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.close()) }()
			// Before the lock was ours another process may have gone on with it.
			if s, err = loadFrom(cmd.Context(), st, ref); err != nil {
				return err
			}
			return a.measure(cmd.Context(), r, st, s.run, s.trials, &stops, people)
		},
	}
	login.registerServer(cmd.Flags())
	stops.register(cmd.Flags())
	told.register(cmd.Flags())
	page.register(cmd.Flags())
	return cmd
}

// accessAgain logs in to the server of a stored run. A URL on the command line
// has to be that server's.
func (a *app) accessAgain(cmd *cobra.Command, f *targetFlags, t filewise.Target) (access, error) {
	var given filewise.Address
	if f.url != "" && t.Mode == filewise.External {
		_, address, _, err := parseTarget(f.url, t.Engine)
		if err != nil {
			return nil, err
		}
		switch {
		case address != nil && withoutSecrets(*address).String() == t.Address.String():
			given = *address
		case os.Getenv(variable("target")) != f.url: // a variable may be for other runs
			return nil, filewise.Errorf(filewise.CodeUsage, "leave --target out, or start a new run there", "the run is on %s, not on the server of --target", t.Address)
		}
	}
	return func(ctx context.Context) (filewise.Address, error) { return a.login(ctx, t, given, f) }, nil
}

// withoutSecrets is an address as it is shown and stored.
func withoutSecrets(a filewise.Address) filewise.Address {
	a.Password, a.Secrets = "", nil
	return a
}

// unfinished is the run that the arguments name, or the newest that a kill, an
// interrupt or a failure ended, or just the newest.
func unfinished(ctx context.Context, st *store.Store, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	runs, err := st.Runs(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range slices.Backward(runs) {
		if r.Origin != nil { // nothing that can go on here
			continue
		}
		if r.State == store.Interrupted || r.State == store.Failed && r.Ending == experiment.GoesOn {
			return strconv.FormatInt(r.ID, 10), nil
		}
	}
	return store.Last, nil
}

// alreadyOver shows a run that has nothing left to measure. One that was ended
// after its last trial and before its end was stored is given that end.
func (a *app) alreadyOver(ctx context.Context, st *store.Store, s stored, d experiment.Decision) error {
	if s.run.Ending == experiment.GoesOn {
		run, err := st.Resume(ctx, s.run.ID)
		if err != nil {
			return err
		}
		return a.finish(ctx, st, run, s.trials, d, nil, nil)
	}
	j, err := s.run.Plan.Judge(s.trials)
	if err != nil {
		return err
	}
	if !a.json {
		w := &lineWriter{w: a.stderr}
		w.printf("filewise: run %d has nothing left to measure: %s\n", s.run.ID, d.Why)
	}
	return a.printRun(s.run, s.trials, j)
}
