package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/notify"
	"filewise/store"
	"filewise/workload"
)

const defaultScenario = "inserts"

func (a *app) runCommand() *cobra.Command {
	var f planFlags
	var only []string
	var page pageFlags
	cmd := &cobra.Command{
		Use:   "run [SCENARIO or FILE.yaml]",
		Short: "Measure layouts against each other and give a verdict",
		Long: `Run measures layouts against each other, block after block in random order, until
it is decided which is best or the budget is spent, and says which. With no
arguments: inserts on embedded SQLite with 1, 2, 4, 8 and 16 files.

Only scratch directories that Filewise makes on the volumes are written to; they
are removed at the end, and by the next start if Filewise was killed. On an
existing server (--target) only databases and tablespaces that Filewise makes and
marks are written to; what a killed run leaves there "filewise clean --target URL"
removes. Ctrl-C once ends the running trial cleanly and keeps all finished ones;
twice stops at once.

A study file (FILE.yaml) says what the flags say, for one experiment or for
several, which run one after the other; "filewise init" writes one. Flags and
FILEWISE_ variables that are given beside it go before it, in every experiment.
One that fails does not keep the others from being run.`,
		Example: `  filewise run
  filewise run inserts --files 1,4,16 --durability normal --budget 5m
  filewise run --volume a=/mnt/a --volume b=/mnt/b --placement round-robin
  filewise run --work 64MiB --commit-every 100 --goal verdicts
  filewise run --target postgres://ada@db/ --volume a=/mnt/a --volume b=/mnt/b --abort-if 'active>5'
  filewise run --engine mariadb --layout files=1,kind=per-table --layout files=8,kind=partitions
  filewise run study.yaml --budget 5m`,
		Args:              oneStudy,
		ValidArgsFunction: completeScenarioOrFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if file, ok := studyArg(args); ok {
				defer a.closePage()
				return a.runStudy(cmd, file, only, func() error { return a.openPage(&page) })
			}
			if err := onlyInStudies(only); err != nil {
				return err
			}
			plan, err := f.plan(cmd, scenarioArg(args))
			if err != nil {
				return err
			}
			if err := a.openPage(&page); err != nil {
				return err
			}
			defer a.closePage()
			return a.runOne(cmd.Context(), &f, plan)
		},
	}
	registerOnly(cmd, &only)
	f.register(cmd.Flags())
	page.register(cmd.Flags())
	completeChoices(cmd)
	return cmd
}

// runOne sets one experiment up and measures it.
func (a *app) runOne(ctx context.Context, f *planFlags, plan experiment.Plan) (err error) {
	// A store that cannot be used is found before the set-up, one that does
	// not exist is made after it.
	if _, err := a.runs(ctx); err != nil {
		return err
	}
	told, err := a.announce(ctx, &f.notify, plan)
	if err != nil {
		return err
	}
	defer func() { told.close(ctx, err) }()
	r, err := setUp(ctx, plan, f.access(a, plan.Target))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	st, err := store.Open(ctx, a.storePath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return a.measure(ctx, r, st, store.Run{Plan: plan}, nil, nil, told)
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
	for flag, values := range choices() {
		if cmd.Flags().Lookup(flag) != nil {
			completeFlag(cmd, flag, values...)
		}
	}
	if cmd.Flags().Lookup("server-bin") != nil {
		_ = cmd.MarkFlagDirname("server-bin") // which is there
	}
	if cmd.Flags().Lookup("notify-on") != nil {
		_ = cmd.RegisterFlagCompletionFunc("notify-on", completeEvents) // which is there
	}
}

// completeEvents completes the last of a list of events.
func completeEvents(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	before := word[:strings.LastIndex(word, ",")+1]
	var out []string
	for _, e := range notify.Events {
		if given := strings.Split(before, ","); !slices.Contains(given, string(e)) {
			out = append(out, before+string(e))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// choices are the values of flags that have a few.
func choices() map[string][]string {
	return map[string][]string{
		"durability": {"full", "normal", "off"}, "storage-limit": {storageAuto, storageOff},
		"table":      {"shared", "per-connection"},
		"key":        {"sequential", "random"},
		"allocation": {"preallocated", "growing"},
		"placement":  {"one", "round-robin"},
		"goal":       {"recommend", "verdicts"},
		"measure":    {"workload", "lifecycle"},
		"indexes":    {"together", "apart"},
		"mode":       {workload.ModeSingle, workload.ModeConcurrent, workload.ModeBoth},
		"connect":    {workload.ConnectPooled, workload.ConnectPerStatement},
		"index":      {workload.IndexNone, workload.IndexKey},
		"cache":      {workload.CacheWarm, string(filewise.CacheBufferCold), string(filewise.CacheStorageCold)},
		"data":       {workload.DataOrdered, workload.DataGrown},
		"cycle":      {workload.CycleFill, workload.CycleSort, workload.CycleJoin},
		"engine":     engineNames(),
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

// oneStudy refuses a second argument: that may be the value of a flag which takes one
// only behind =.
func oneStudy(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return nil
	}
	remedy := "see " + cmd.CommandPath() + " --help"
	cmd.Flags().Visit(func(fl *pflag.Flag) {
		if fl.NoOptDefVal != "" && fl.Value.Type() != "bool" && fl.Value.String() == fl.NoOptDefVal {
			remedy = fmt.Sprintf("a value of --%s stands behind =: --%s=%s", fl.Name, fl.Name, args[len(args)-1])
		}
	})
	return filewise.Errorf(filewise.CodeUsage, remedy, "%q is one argument too many: %s takes one scenario or study file", args[len(args)-1], cmd.Name())
}
