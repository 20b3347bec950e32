package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/fleet"
	"filewise/lab/workload"
	"filewise/run"
	"filewise/run/plan"
	"filewise/watch/notify"
)

func (a *app) runCommand() *cobra.Command {
	o := newOptions()
	var only []string
	var page pageFlags
	var g resultFlags
	cmd := &cobra.Command{
		Use:               "run [SCENARIO or FILE.yaml]",
		Short:             "Measure layouts against each other and give a verdict",
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

// runOne measures one experiment, and shows the result.
func (a *app) runOne(ctx context.Context, made plan.Made, g *resultFlags) (run.Outcome, error) {
	defer surviveBrokenPipe()()
	if err := g.fit(&made.Plan); err != nil {
		return run.Outcome{}, err
	}
	o := a.options(made.Engine, a.access(made.Target, made.Origin(), made.Secret, &made.Options.TargetOptions))
	o.Notify, o.Drivers = a.notifier(made.Receivers), fleet.Drivers(made.Options.Temporal.Value, versionString())
	o.Result = func(out run.Outcome) error {
		g.judgeRun(&out.Data)
		if g.quiet {
			return nil
		}
		return a.printData(out.Data)
	}
	return run.Run(ctx, made.Plan, o)
}

// options returns the options of every run of this command line.
func (a *app) options(e filewise.Engine, login run.Login) run.Options {
	return run.Options{
		Engine: e, Login: login, Clock: clock, Store: a.storePath, Version: versionString(), Hide: a.masked, Observe: a.observe,
		Warn: func(text string) { fmt.Fprintf(a.stderr, "filewise: warning: %s\n", text) },
		Abandon: func(message, remedy string) {
			a.reportError(filewise.Errorf(codeInterrupted, remedy, "%s", message), a.args)
			os.Exit(exitInterrupted)
		},
		Result: func(out run.Outcome) error { return a.printData(out.Data) },
	}
}

func scenarioArg(args []string) string {
	if len(args) == 0 {
		return plan.DefaultScenario
	}
	return args[0]
}

// completeChoices completes the values of flags with few values. A command calls it after registering its flags.
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
		_ = cmd.MarkFlagDirname("server-bin") // the flag exists
	}
	if cmd.Flags().Lookup("notify-on") != nil {
		_ = cmd.RegisterFlagCompletionFunc("notify-on", completeEvents) // the flag exists
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
		panic(err) // no such flag, or registered twice: a mistake in this program
	}
}

// oneStudy refuses a second or unknown argument. It may be the value of a flag that takes values only after =.
func oneStudy(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	last, behind := args[len(args)-1], ""
	cmd.Flags().Visit(func(fl *pflag.Flag) {
		if fl.NoOptDefVal != "" && fl.Value.Type() != "bool" && fl.Value.String() == fl.NoOptDefVal {
			behind = fmt.Sprintf("a value of --%s stands behind =: --%s=%s", fl.Name, fl.Name, last)
		}
	})
	if len(args) > 1 {
		return filewise.Errorf(filewise.CodeUsage, cmp.Or(behind, "see "+cmd.CommandPath()+" --help"),
			"%q is one argument too many: %s takes one scenario or study file", last, cmd.Name())
	}
	if _, file := studyArg(args); file || behind == "" {
		return nil
	}
	_, err := workload.Lookup(last)
	if err != nil {
		err = filewise.Errorf(filewise.CodeUsage, behind+"; "+filewise.RemedyOf(err), "%w", err)
	}
	return err
}
