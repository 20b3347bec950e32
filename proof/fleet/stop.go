//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/store"
)

// stopped starts another campaign, kills the stopping command again and again, and compares the results with the plan.
// Every job must end with its trials so far, and the plan must have each of them.
func (g *ground) stopped(ctx context.Context, o options) (err error) {
	const name = "stopped"
	text, err := os.ReadFile(g.study())
	if err != nil {
		return err
	}
	study := filepath.Join(g.dir, name+".yaml") // its trials last, so that it is stopped on the way
	if err := os.WriteFile(study, bytes.Replace(text, []byte("window: 500ms"), []byte("window: 5s"), 1), 0o600); err != nil {
		return err
	}
	waits := g.command(ctx, name, "campaign", study, "--name", name)
	if err := waits.Start(); err != nil {
		return err
	}
	defer func() {
		_ = waits.Process.Kill() // it may have ended
		_ = waits.Wait()         // reports that jobs were stopped
	}()
	var runs []store.RunInfo
	said, home := "", filepath.Join(g.dir, name, "store.db")
	fetched := func(ended bool) func() bool {
		return func() bool {
			out, failed := g.command(ctx, name, "campaign", "fetch", name).CombinedOutput()
			said = string(out)
			runs, err = archive.List(ctx, home)
			return failed == nil && err == nil && len(runs) > 0 &&
				!(ended && slices.ContainsFunc(runs, func(r store.RunInfo) bool { return r.State == store.Running }))
		}
	}
	if err := until(ctx, "no trial of the campaign to stop comes home", fetched(false)); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	r := rand.New(rand.NewPCG(o.seed, 1))
	kills := 0
	for ; kills < max(o.kills/5, 3); kills++ {
		stop := g.command(ctx, name, "campaign", "stop", name)
		if err := stop.Start(); err != nil {
			return err
		}
		time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
		_ = stop.Process.Kill() // it may have ended
		_ = stop.Wait()
	}
	if out, err := g.command(ctx, name, "campaign", "stop", name).CombinedOutput(); err != nil {
		return fmt.Errorf("campaign stop: %w: %s", err, out)
	}
	if err := until(ctx, "what was stopped does not end", fetched(true)); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return stoppedEarly(ctx, home, runs, kills)
}

// stoppedEarly compares the results that have come home with the plan.
func stoppedEarly(ctx context.Context, home string, runs []store.RunInfo, kills int) error {
	trials, early := 0, 0
	for _, info := range runs {
		run, err := archive.Load(ctx, home, fmt.Sprint(info.ID))
		if err != nil {
			return err
		}
		if err := placed(run); err != nil {
			return err
		}
		trials += len(run.Trials)
		if _, d := run.Plan.Next(run.Trials); d.Ending == experiment.GoesOn {
			early++
		}
	}
	if early == 0 {
		return errors.New("the campaign had ended before it was stopped")
	}
	fmt.Printf("campaign stop, killed %d times: %d of %d runs ended early, with %d trials in all, each where its plan has it\n", kills, early,
		len(runs), trials)
	return nil
}
