package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/fleet"
	"filewise/notify"
	"filewise/plan"
	"filewise/run"
)

func (a *app) runCommand() *cobra.Command {
	o := registry().New()
	var only []string
	var page pageFlags
	var g resultFlags
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
				return a.keepPage(cmd.Context(), a.runStudy(cmd, o, file, only, &g, func() error { return a.openPage(&page) }))
			}
			if err := onlyInStudies(only); err != nil {
				return err
			}
			o.Scenario = scenarioArg(args)
			made, err := registry().Make(o)
			if err != nil {
				return err
			}
			if err := a.openPage(&page); err != nil {
				return err
			}
			defer a.closePage()
			if _, err = a.runOne(cmd.Context(), made, &g); err == nil {
				err = g.end(a)
			}
			return a.keepPage(cmd.Context(), err)
		},
	}
	registerOnly(cmd, &only)
	registerOptions(cmd.Flags(), o.Table()...)
	page.register(cmd.Flags())
	a.registerRun(cmd.Flags(), &g)
	completeChoices(cmd)
	return cmd
}

// runOne measures one experiment, and shows what came of it.
func (a *app) runOne(ctx context.Context, made plan.Made, g *resultFlags) (run.Outcome, error) {
	defer surviveBrokenPipe()()
	if err := g.parse(layoutNames(made.Plan.Layouts, made.Plan.AA)); err != nil {
		return run.Outcome{}, err
	}
	if err := g.names.Apply(&made.Plan); err != nil {
		return run.Outcome{}, err
	}
	o := a.options(made.Engine, a.access(made.Target, made.Origin(), made.Secret, &made.Options.TargetOptions))
	o.Notify, o.Drivers = a.notifier(made.Told), fleet.Drivers(made.Options.Temporal.Value, versionString())
	o.Result = func(out run.Outcome) error {
		g.judgeRun(&out.Data)
		if g.quiet {
			return nil
		}
		return a.printData(out.Data)
	}
	return run.Run(ctx, made.Plan, o)
}

// options are those of every run of this command line.
func (a *app) options(e filewise.Engine, login run.Login) run.Options {
	return run.Options{
		Engine: e, Login: login, Store: a.storePath, Version: versionString(), Hide: a.masked, Observe: a.observe,
		Warn:   func(text string) { fmt.Fprintf(a.stderr, "filewise: warning: %s\n", text) },
		Result: func(out run.Outcome) error { return a.printData(out.Data) },
	}
}

func scenarioArg(args []string) string {
	if len(args) == 0 {
		return plan.DefaultScenario
	}
	return args[0]
}

// completeChoices completes the values of flags that have a few. A command calls
// it after its flags are registered.
func completeChoices(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(fl *pflag.Flag) {
		if row := rowOf(fl); row != nil && len(row.Choices) > 0 {
			completeFlag(cmd, fl.Name, row.Choices...)
		}
	})
	if cmd.Flags().Lookup("engine") != nil {
		completeFlag(cmd, "engine", registry().Names()...)
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

func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag, or done twice: a mistake of this program
	}
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
	return filewise.Errorf(filewise.CodeUsage, remedy, "%q is one argument too many: %s takes one scenario or study file", args[len(args)-1],
		cmd.Name())
}
