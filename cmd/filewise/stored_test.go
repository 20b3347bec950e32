package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/experiment"
	"filewise/store"
)

// until polls until it is so.
func until(deadline time.Duration, so func() (bool, error)) error {
	end := time.Now().Add(deadline)
	for {
		ok, err := so()
		if ok || err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("it has not come to that in %v", deadline)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

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

// storedTrials is the number of trials of the newest run, pilots included; 0
// while there is no run.
func storedTrials(path string) (n int, err error) {
	ctx := context.Background()
	st, err := store.OpenExisting(ctx, path)
	if filewise.CodeOf(err) == filewise.CodeNotFound && err != nil {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	id, err := st.Resolve(ctx, store.Last)
	if filewise.CodeOf(err) == filewise.CodeNotFound && err != nil {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	trials, err := st.Trials(ctx, id)
	return len(trials), err
}

// inOrder checks that every trial is the one that the plan wanted after those
// before it, so none is missing, out of order or measured twice, and that each is
// whole. It tells whether the plan wants no more.
func inOrder(plan experiment.Plan, trials []filewise.Trial) (complete bool, err error) {
	for i, t := range trials {
		if t.State != filewise.Done {
			return false, fmt.Errorf("trial %d failed: %s", i+1, t.Reason)
		}
		if !whole(plan, t) {
			return false, fmt.Errorf("trial %d is not whole: %+v", i+1, t)
		}
	}
	return asPlanned(plan, trials)
}

// asPlanned is inOrder for trials of which some have failed.
func asPlanned(plan experiment.Plan, trials []filewise.Trial) (complete bool, err error) {
	for i, t := range trials {
		want, d := plan.Next(trials[:i])
		if d.Ending != experiment.GoesOn {
			return false, fmt.Errorf("trial %d was measured after the end: %s", i+1, d.Why)
		}
		if t.Cell != want {
			return false, fmt.Errorf("trial %d is %+v, want %+v", i+1, t.Cell, want)
		}
	}
	_, d := plan.Next(trials)
	return d.Ending != experiment.GoesOn, nil
}

// whole: all families are measured, work with its slices.
func whole(plan experiment.Plan, t filewise.Trial) bool {
	families, sliced := 1, true
	if plan.Measure == experiment.MeasureLifecycle {
		families, sliced = 4, false
	}
	for _, m := range t.Measures {
		if m.Work <= 0 || sliced && len(m.Slices) == 0 {
			return false
		}
	}
	return len(t.Measures) == families && len(t.Files) > 0 && t.Elapsed > 0
}
