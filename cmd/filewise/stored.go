package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/report"
	"filewise/store"
)

// stored is a run with its trials, read from the store.
type stored struct {
	run    store.Run
	trials []filewise.Trial
	limit  *stored // see discarded
}

// load reads a run by its number, or the newest by "last".
func (a *app) load(ctx context.Context, ref string) (s stored, err error) {
	st, err := store.OpenExisting(ctx, a.storePath)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return loadFrom(ctx, st, ref)
}

func loadFrom(ctx context.Context, st *store.Store, ref string) (s stored, err error) {
	id, err := st.Resolve(ctx, ref)
	if err != nil {
		return s, err
	}
	if s.run, err = st.Run(ctx, id); err != nil {
		return s, err
	}
	if s.trials, err = st.Trials(ctx, s.run.ID); err != nil {
		return s, err
	}
	s.limit, err = discarded(ctx, st, s.run)
	return s, err
}

// data judges the run anew from its trials.
func (s stored) data() (report.Data, error) {
	j, err := s.run.Plan.Judge(s.trials)
	if err != nil {
		return report.Data{}, err
	}
	d, err := data(s.run, s.trials, j)
	if err != nil || s.limit == nil {
		return d, err
	}
	limit, err := s.limit.data()
	d.Limit = &limit
	return d, err
}

func runArg(args []string) string {
	if len(args) == 0 {
		return "last"
	}
	return args[0]
}

// runs lists the stored runs; a store that does not exist has none.
func (a *app) runs(ctx context.Context) (runs []store.RunInfo, err error) {
	st, err := store.OpenExisting(ctx, a.storePath)
	if filewise.CodeOf(err) == filewise.CodeNotFound {
		return []store.RunInfo{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return st.Runs(ctx)
}

// completeRun completes the numbers of stored runs.
func (a *app) completeRun(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if most := strings.Count(cmd.Use, " "); len(args) >= most { // of what it takes
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	runs, err := a.runs(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	out := []string{"last\tthe newest run"}
	for _, r := range runs {
		out = append(out, fmt.Sprintf("%d\t%s on %s", r.ID, r.Scenario, r.Engine))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
