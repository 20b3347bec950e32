package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/store"
)

const defaultScenario = "inserts"

func (a *app) runCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "run [SCENARIO]",
		Short: "Measure layouts against each other and give a verdict",
		Long: `Run measures layouts against each other, block after block in random order, until
it is decided which is best or the budget is spent, and says which. With no
arguments: inserts on embedded SQLite with 1, 2, 4, 8 and 16 files.

Only scratch directories that Filewise makes on the volumes are written to; they
are removed at the end, and by the next start if Filewise was killed. On an
existing server (--target) only databases and tablespaces that Filewise makes and
marks are written to; what a killed run leaves there "filewise clean --target URL"
removes. Ctrl-C once ends the running trial cleanly and keeps all finished ones;
twice stops at once.`,
		Example: `  filewise run
  filewise run inserts --files 1,4,16 --durability normal --budget 5m
  filewise run --volume a=/mnt/a --volume b=/mnt/b --placement round-robin
  filewise run --work 64MiB --commit-every 100 --goal verdicts
  filewise run --target postgres://ada@db/ --volume a=/mnt/a --volume b=/mnt/b --abort-if 'active>5'
  filewise run --engine mariadb --layout files=1,kind=per-table --layout files=8,kind=partitions`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			plan, err := f.plan(cmd, scenarioArg(args))
			if err != nil {
				return err
			}
			// A store that cannot be used is found before the set-up, one that does
			// not exist is made after it.
			if _, err := a.runs(cmd.Context()); err != nil {
				return err
			}
			r, err := setUp(cmd.Context(), plan, f.access(a, plan.Target))
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.close()) }()
			st, err := store.Open(cmd.Context(), a.storePath)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, st.Close()) }()
			return a.measure(cmd.Context(), r, st, store.Run{Plan: plan}, nil, nil)
		},
	}
	f.register(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

func scenarioArg(args []string) string {
	if len(args) == 0 {
		return defaultScenario
	}
	return args[0]
}

// completeChoices completes the values of flags that have a few. A command calls
// it after its flags are registered.
func completeChoices(cmd *cobra.Command) {
	for flag, values := range map[string][]string{
		"durability": {"full", "normal", "off"},
		"table":      {"shared", "per-connection"},
		"key":        {"sequential", "random"},
		"allocation": {"preallocated", "growing"},
		"placement":  {"one", "round-robin"},
		"goal":       {"recommend", "verdicts"},
		"measure":    {"workload", "lifecycle"},
		"indexes":    {"together", "apart"},
		"engine":     engineNames(),
	} {
		if cmd.Flags().Lookup(flag) != nil {
			completeFlag(cmd, flag, values...)
		}
	}
}

func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag, or done twice: a mistake of this program
	}
}

// access logs in by what the flags give.
func (f *planFlags) access(a *app, t filewise.Target) access {
	return func(ctx context.Context) (filewise.Address, error) { return a.login(ctx, t, f.secrets, &f.target) }
}
