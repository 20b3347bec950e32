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
	"filewise/archive"
	"filewise/plan"
	"filewise/run"
	"filewise/tune"
	"filewise/verdict"
)

func (a *app) backupCommand() *cobra.Command {
	o := registry().New()
	var output string
	var g resultFlags
	var secret filewise.Address
	var goal tune.Goal
	cmd := &cobra.Command{
		Use:               "backup [RUN]",
		Short:             "Find the fastest backup of a database of yours, and write its script",
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
				made, err := registry().Make(o)
				if err == nil {
					err = g.about(&made.Plan)
				}
				if err != nil {
					return err
				}
				// A password is asked for once.
				if made.Secret, err = a.login(cmd.Context(), made.Target, made.Secret, &o.TargetOptions); err != nil {
					return err
				}
				secret = made.Secret
				if args, err = a.race(cmd.Context(), o, made, &g); err != nil {
					return err
				}
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
	cmd.Flags().StringVar(&goal.Optimize, "optimize", "", "what to choose by: backup, restore, or both; the last two measure restores of "+
		"the leaders, too (default backup)")
	cmd.Flags().DurationVar(&goal.Within, "restore-within", 0, "take no setting whose restore takes longer than this `time`, such as 30m; "+
		"exit code 9 if there is none")
	completeChoices(cmd)
	completeFlag(cmd, "optimize", tune.Optimizations...)
	return cmd
}

// race measures what reading alone takes, then the backups, and names their run.
func (a *app) race(ctx context.Context, o *plan.Options, made plan.Made, g *resultFlags) ([]string, error) {
	thrown := o.Clone()
	thrown.Discard, thrown.BackupOptions, thrown.Baseline = plan.Of(true), plan.Of([]string(nil)), plan.Opt[string]{}
	thrown.MaxBlocks, thrown.Notify = plan.Of(verdict.FirstLook), plan.Opt[[]string]{}
	if limit, err := registry().Make(thrown); err == nil { // one number of jobs is no comparison
		limit.Secret = made.Secret
		if _, err := a.runOne(ctx, limit, &resultFlags{quiet: true}); err != nil {
			return nil, err
		}
	}
	g.quiet = a.json // what is said in the end is one document
	out, err := a.runOne(ctx, made, g)
	return []string{strconv.FormatInt(out.Run.ID, 10)}, err
}

// prove tries the best setting of a run, and writes its script.
func (a *app) prove(ctx context.Context, o *plan.Options, secret filewise.Address, ref, output string, goal tune.Goal) error {
	r, err := archive.Load(ctx, a.storePath, ref)
	if err != nil {
		return err
	}
	if r.Origin != nil {
		return run.Imported(r)
	}
	result, err := tune.Of(r, r.Thrown())
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
