package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/own/backup"
	"filewise/results/archive"
	"filewise/run"
	"filewise/run/plan"
)

func (a *app) backupCommand() *cobra.Command {
	o := newOptions()
	var output string
	var g resultFlags
	var secret filewise.Address
	var goal backup.Goal
	var screen int
	cmd := &cobra.Command{
		Use:               "backup [RUN]",
		Short:             "Find the fastest backup of your database, and write its script",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := goal.Check(); err != nil {
				return err
			}
			o.Scenario = "dump"
			if len(args) == 0 {
				if o.Database.Value == "" {
					return filewise.Errorf(filewise.CodeUsage, "name it: --target URL --database NAME", "backup needs a database of yours")
				}
				race := backup.Race{Engines: registry(), Options: o, Screen: screen, Measure: func(made plan.Made, last bool) (run.Outcome, error) {
					if g.quiet = a.json; !last { // the output at the end is one document
						return a.runOne(cmd.Context(), made, &resultFlags{quiet: true})
					}
					return a.runOne(cmd.Context(), made, &g)
				}}
				made, err := race.Made()
				if err == nil {
					err = g.about(&made.Plan)
				}
				if err == nil { // the password prompt appears once
					made.Secret, err = a.login(cmd.Context(), made.Target, made.Secret, &o.TargetOptions)
				}
				if err != nil {
					return err
				}
				secret = made.Secret
				out, err := race.Run(made)
				if err != nil {
					return err
				}
				args = []string{strconv.FormatInt(out.Run.ID, 10)}
			}
			if err := a.prove(cmd.Context(), o, secret, args[0], output, goal); err != nil {
				return err
			}
			return g.end(a)
		},
	}
	registerOptions(cmd.Flags(), slices.DeleteFunc(o.OfDatabase(), func(r plan.Option) bool { return r.Name == "discard" })...)
	a.registerRun(cmd.Flags(), &g)
	cmd.Flags().StringVarP(&output, "output", "o", "", "`file` for the script (default filewise-RUN-backup.sh)")
	cmd.Flags().StringVar(&goal.Optimize, "optimize", "", "optimize `backup` (default), restore, or both (these also measure "+
		"restores of the leaders)")
	cmd.Flags().DurationVar(&goal.Within, "restore-within", 0, "exclude settings with a restore above this `time`; exit with 9 if "+
		"none is left")
	cmd.Flags().IntVar(&screen, "screen", 0, "compare all settings on --part first (SQL Server: or to NUL), then the `number` "+
		"fastest in full; --budget is for each")
	completeChoices(cmd)
	completeFlag(cmd, "optimize", backup.Optimizations...)
	return cmd
}

// prove tests the best setting of a run by a restore, and writes the setting's script.
func (a *app) prove(ctx context.Context, o *plan.Options, secret filewise.Address, ref, output string, goal backup.Goal) error {
	r, err := archive.Load(ctx, a.storePath, ref)
	if err != nil {
		return err
	}
	if r.Origin != nil {
		return run.Imported(r)
	}
	result, err := backup.Of(r, r.Thrown())
	if err != nil {
		return err
	}
	e, err := registry().Lookup(r.Plan.Target.Engine)
	if err != nil {
		return err
	}
	login := a.access(r.Plan.Target, nil, secret, &o.TargetOptions)
	if secret.Host == "" && secret.Scheme == "" {
		if login, err = a.accessAgain(&o.TargetOptions, r); err != nil {
			return err
		}
	}
	if err := result.Settle(ctx, a.options(e, login), goal); err != nil {
		return err
	}
	path := cmp.Or(output, fmt.Sprintf("filewise-%d-backup.sh", r.ID))
	files, err := result.Scripts(e, path, versionString())
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := a.write(f.Path, func(w io.Writer) error { _, err := io.WriteString(w, f.Text); return err }); err != nil {
			return err
		}
	}
	return cmp.Or(a.print(result, func(w *lineWriter) {
		for _, line := range result.Lines() {
			w.printf("%s\n", line)
		}
	}), result.Late())
}
