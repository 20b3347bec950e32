//go:build linux

package main

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"filewise/cmd/filewise/filewisetest"
	"filewise/lab/experiment"
	"filewise/results/store"
)

// stoodStill stops a run for more than a second at random moments. The run must finish by itself, and no trial may
// count if the stop fell into its window.
func stoodStill(p *place) error {
	c, err := p.start(nil, runArgs(sqliteRun...)...)
	if err != nil {
		return err
	}
	for range 3 {
		p.wait(2 * time.Second)
		if over(c) {
			break
		}
		if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(1200 * time.Millisecond)
		if err := c.Process.Signal(syscall.SIGCONT); err != nil {
			return err
		}
	}
	code, err := c.exit()
	if err != nil || code != 0 {
		return errors.Join(err, fmt.Errorf("exit code %d\n%.2000s", code, c.stderr.Bytes()))
	}
	s, err := p.stored()
	if err != nil {
		return err
	}
	for _, t := range s.trials {
		for _, m := range t.Measures {
			for _, d := range m.Deltas {
				if d.Probe == experiment.ProbeStill && d.Name == "machine" && !experiment.Void(t) {
					return fmt.Errorf("a trial counts in which the machine stood still for %v s", d.Value)
				}
			}
		}
	}
	complete, err := filewisetest.AsPlanned(s.run.Plan, s.trials)
	if err != nil || !complete || s.run.State != store.Done {
		return fmt.Errorf("complete %v, state %s: %w", complete, s.run.State, err)
	}
	return p.tidy()
}
