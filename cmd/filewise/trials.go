package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"filewise/experiment"
	"filewise/verdict"
	"filewise/workload"
)

// Limits that keep sums of times and sizes far from overflow, and what is kept
// of a trial small.
const (
	maxTrialTime = 24 * time.Hour       // of a window, and of a warm-up
	maxBudget    = 366 * 24 * time.Hour // of a run
	maxSlices    = 6000                 // of a trial, for each connection
	maxBytes     = int64(1) << 60       // of a size
	maxBlocks    = 500                  // for more, the verdict has no boundaries
)

func (f *planFlags) setParams(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) error {
	p.Params = sc.Params
	if f.about.RowBytes > 0 && !sc.Phased {
		p.Params.RowBytes = f.about.RowBytes
	}
	if cmd.Flags().Changed("connections") {
		p.Params.Connections = f.connections
	}
	if cmd.Flags().Changed("commit-every") {
		p.Params.CommitEvery = f.commitEvery
	}
	if cmd.Flags().Changed("row-bytes") {
		n, err := bytesOf("row-bytes", f.rowBytes)
		if err != nil {
			return err
		}
		p.Params.RowBytes = int(n)
	}
	if cmd.Flags().Changed("table") {
		p.Params.Table = f.table
	}
	if cmd.Flags().Changed("key") {
		p.Params.Key = f.key
	}
	if err := f.scenarioFlags.apply(cmd, &p.Params); err != nil {
		return err
	}
	if f.custom != nil {
		custom, err := f.custom.For(p.Target.Engine)
		if err != nil {
			return err
		}
		p.Params.Custom = &custom
	}
	if sc.Filling > 0 && !cmd.Flags().Changed("rows") {
		bytes, err := f.totalBytes(cmd, sc)
		if err != nil {
			return err
		}
		p.Params.Rows = sc.RowsIn(bytes, p.Params)
	}
	_, err := sc.New(p.Params, 0)
	return err
}

func (f *planFlags) setWork(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) (err error) {
	if sc.Phased && !sc.Windowed { // its phases have their own
		return nil
	}
	set := cmd.Flags().Changed
	p.SliceLength = sliceLength
	switch {
	case f.work == "" && !set("work"):
		return f.setWindow(cmd, p)
	case set("window"):
		return badValue("work", f.work, "--window and --work exclude each other: measured time, or fixed work")
	case set("warm-up"):
		return badUse("warm-up", f.warmUp, "fixed work (--work) has no warm-up: leave it out")
	}
	p.Window, p.PilotWindow = 0, 0
	if p.Work, err = bytesOf("work", f.work); err != nil {
		return err
	}
	if least := int64(p.Params.RowBytes) * int64(p.Params.Connections); p.Work < least {
		return badValue("work", f.work, fmt.Sprintf("every connection needs at least one row: %s", humanize.IBytes(uint64(least))))
	}
	return nil
}

// setWindow sets the measured time of a trial, and slices of which there are
// not too many.
func (f *planFlags) setWindow(cmd *cobra.Command, p *experiment.Plan) error {
	const shortest = 20 * sliceLength
	switch {
	case f.window <= 0:
		return badValue("window", f.window, "give a time such as 2s, or fixed work by --work")
	case f.window < shortest:
		return badValue("window", f.window, fmt.Sprintf("the shortest window is %v", shortest))
	case f.window > maxTrialTime:
		return badValue("window", f.window, fmt.Sprintf("the longest window is %v", maxTrialTime))
	case cmd.Flags().Changed("warm-up") && (f.warmUp < 0 || f.warmUp > maxTrialTime):
		return badValue("warm-up", f.warmUp, fmt.Sprintf("give a time from 0 to %v, or leave it to the pilots", maxTrialTime))
	}
	all := f.window + max(f.warmUp, 0)
	p.SliceLength = sliceLength * ((all + maxSlices*sliceLength - 1) / (maxSlices * sliceLength))
	return nil
}

// pilotShare is the part of a trial's fixed work that forecasts its time: less
// would be mostly the slow beginning.
const pilotShare = 3

func (f *planFlags) setPilot(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	if p.Work > 0 && p.Measure == experiment.MeasureWorkload {
		least := int64(p.Params.RowBytes) * int64(p.Params.Connections)
		p.PilotWork = max(p.Work/pilotShare, min(least, p.Work))
	}
	return nil
}

func (f *planFlags) setJudging(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	if f.maxBlocks < verdict.FirstLook {
		return badValue("max-blocks", f.maxBlocks, fmt.Sprintf("a verdict needs at least %d blocks", verdict.FirstLook))
	}
	if f.maxBlocks > maxBlocks {
		return badValue("max-blocks", f.maxBlocks, fmt.Sprintf("a verdict can use at most %d blocks", maxBlocks))
	}
	if f.budget < 0 || f.budget > maxBudget {
		return badValue("budget", f.budget, "give a time such as 10m, at most a year, or 0 for none")
	}
	if least, _ := p.Duration(); p.Budget > 0 && least > p.Budget {
		return badValue("budget", p.Budget, fmt.Sprintf("pilots and the %d blocks that a verdict needs take at least %v: give more, or a shorter --window or fewer --files",
			verdict.FirstLook, least.Round(time.Second)))
	}
	return f.judge.apply(p)
}

func (f *planFlags) setSeed(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) (err error) {
	if f.seed == "" {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return fmt.Errorf("draw a seed: %w", err)
		}
		p.Seed = binary.LittleEndian.Uint64(b[:]) >> 33 // short enough to type again
		return nil
	}
	if p.Seed, err = strconv.ParseUint(f.seed, 10, 64); err != nil {
		return badValue("seed", strconv.Quote(f.seed), "give a whole number from 0 to 18446744073709551615")
	}
	return nil
}
