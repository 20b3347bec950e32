package main

import (
	"context"
	"errors"
	"fmt"

	"filewise"
	"filewise/cmd/filewise/filewisetest"
	"filewise/lab/experiment"
	"filewise/results/store"
)

var (
	until  = filewisetest.Until
	treeOf = filewisetest.Tree
)

// readRun reads a run as the next filewise would.
func readRun(path string, id int64) (plan experiment.Plan, trials []filewise.Trial, err error) {
	ctx := context.Background()
	st, err := store.OpenExisting(ctx, path)
	if err != nil {
		return plan, nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	r, err := st.Run(ctx, id)
	if err != nil {
		return plan, nil, err
	}
	trials, err = st.Trials(ctx, id)
	return r.Plan, trials, err
}

// inOrder checks that every trial was the plan's next, so none is missing, out of order or measured twice, and that
// each is whole. It reports whether the plan is complete.
func inOrder(plan experiment.Plan, trials []filewise.Trial) (complete bool, err error) {
	for i, t := range trials {
		if experiment.Void(t) { // the machine stood still: it was measured again
			continue
		}
		if t.State != filewise.Done {
			return false, fmt.Errorf("trial %d failed: %s", i+1, t.Reason)
		}
		if !whole(plan, t) {
			return false, fmt.Errorf("trial %d is not whole: %+v", i+1, t)
		}
	}
	return filewisetest.AsPlanned(plan, trials)
}

// whole: all operations are measured, work with its slices.
func whole(plan experiment.Plan, t filewise.Trial) bool {
	operations, sliced := 1, true
	if plan.Measure == experiment.MeasureLifecycle {
		operations, sliced = 4, false
	}
	for _, m := range t.Measures {
		if m.Work <= 0 || sliced && len(m.Slices) == 0 {
			return false
		}
	}
	return len(t.Measures) == operations && len(t.Files) > 0 && t.Elapsed > 0
}
