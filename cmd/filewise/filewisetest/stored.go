// Package filewisetest checks from outside what a filewise process has done: the runs that it stored, the processes
// that it started, and the files that it left. The commands' tests and proof/attack share these checks.
package filewisetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/store"
)

// Until polls until so returns true.
func Until(deadline time.Duration, so func() (bool, error)) error {
	start := time.Now()
	end := start.Add(deadline)
	for {
		asked := time.Now()
		ok, err := so()
		if ok || err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("it has not come to that in %v", deadline)
		}
		// Each poll takes a process or a database. Polling rarely leaves most of the CPU to what is waited for.
		rarely := 100 * time.Millisecond
		if time.Since(start) > 10*time.Second {
			rarely = 250 * time.Millisecond
		}
		time.Sleep(min(max(5*time.Millisecond, 4*time.Since(asked)), rarely))
	}
}

// Newest reads the newest run of a store as the next filewise would. Its ID is 0 if there is none.
func Newest(path string) (run store.Run, trials []filewise.Trial, err error) {
	ctx := context.Background()
	st, err := store.OpenExisting(ctx, path)
	if err == nil {
		var id int64
		id, err = st.Resolve(ctx, store.Last)
		if err == nil {
			run, err = st.Run(ctx, id)
		}
		if err == nil {
			trials, err = st.Trials(ctx, id)
		}
		err = errors.Join(err, st.Close())
	}
	if err != nil && filewise.CodeOf(err) == filewise.CodeNotFound {
		return store.Run{}, nil, nil
	}
	return run, trials, err
}

// AsPlanned checks that every trial was the plan's next one after the trials before, so that none is missing, out of
// order or measured twice. It reports whether the plan is complete.
func AsPlanned(plan experiment.Plan, trials []filewise.Trial) (complete bool, err error) {
	for i, t := range trials {
		then := plan // with the designs that it had left by then: pilots of the next one have later positions
		if rung := t.Cell.Position / max(len(plan.Layouts), 1); t.Cell.Pilot && rung < len(plan.Rungs) {
			then.Rungs = plan.Rungs[:rung]
		}
		want, d := then.Next(trials[:i])
		if d.Ending != experiment.GoesOn {
			return false, fmt.Errorf("trial %d was measured after the end: %s", i+1, d.Why)
		}
		if t.Cell != want {
			return false, fmt.Errorf("trial %d is %+v, expected %+v", i+1, t.Cell, want)
		}
	}
	_, d := plan.Next(trials)
	return d.Ending != experiment.GoesOn, nil
}
