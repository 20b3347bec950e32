package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/workload"
)

// checkFlags are the flags by which a run tests and steadies itself.
type checkFlags struct {
	aa, calibrate bool
	cells         int
}

func (f *checkFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&f.aa, "aa", false, "measure the baseline twice, the second time under another name: a difference that is found there is one of the machine")
	fs.BoolVar(&f.calibrate, "calibrate", false, "time some synced writes on the first volume right before each trial, and adjust throughput for them: saves trials where the storage drifts")
	fs.IntVar(&f.cells, "cells", 0, "make a block a session of so many `ROUNDS`, in which all layouts are there at once and take turns of window/ROUNDS in fresh random order: saves time where the machine drifts (2 or more; the shortest turn is 200ms)")
}

// setChecks comes after the baseline is known.
func (f *checkFlags) setChecks(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) (err error) {
	if f.calibrate && p.Target.Mode == filewise.External {
		return badUse("calibrate", f.calibrate, "it writes to the volumes itself, which are those of the server here: leave it out")
	}
	p.Calibrate = f.calibrate
	if !f.aa {
		return nil
	}
	if len(p.Layouts) >= maxLayouts {
		return badValue("aa", f.aa, "it is one layout more than can be compared: give fewer")
	}
	if *p, err = p.WithAA(); err != nil {
		return filewise.Errorf(filewise.CodeUsage, "give that layout another name", "--aa: %w", err)
	}
	return nil
}

// setCells comes after all that says what a trial measures.
func (f *checkFlags) setCells(cmd *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	if !cmd.Flags().Changed("cells") {
		return nil
	}
	if f.cells == 0 {
		return badValue("cells", f.cells, "give 2 or more rounds, or leave it out")
	}
	p.Cells = f.cells
	return p.CheckCells()
}
