package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/verdict"
	"filewise/workload"
)

// ofDesign are the flags of what an article's design has fixed.
var ofDesign = []string{
	"files", "size", "layout", "added-later", "allocation", "growth", "connections", "window", "work", "warm-up", "rows", "mode", "connect", "index",
	"warehouses", "users", "rate", "repeat", "batch", "data", "preload", "instances", "measure", "max-blocks", "goal", "aa", "calibrate", "cells",
}

// published makes the article's design the scenario's own defaults, where it is
// asked for.
func (f *planFlags) published(cmd *cobra.Command, sc workload.Scenario) (workload.Scenario, error) {
	if !f.asPublished {
		if cmd.Flags().Changed("scale") && slices.Contains(sc.Flags, "as-published") && !slices.Contains(sc.Flags, "warehouses") {
			return sc, badUse("scale", f.scale, "it is the size of --as-published: add that, or give sizes by --size and --rows")
		}
		return sc, nil
	}
	if sc.Design == nil {
		return sc, filewise.Errorf(filewise.CodeUsage, "leave it out", "--as-published: scenario %s repeats no article's design%w", sc.Name, notFor{flag: "as-published"})
	}
	for _, flag := range ofDesign {
		if cmd.Flags().Changed(flag) {
			return sc, filewise.Errorf(filewise.CodeUsage, "leave one of them out", "--as-published has fixed what --%s says%w", flag, notFor{flag, "as-published"})
		}
	}
	if !cmd.Flags().Changed("scale") { // given, so that the command that repeats it has it
		if err := cmd.Flags().Set("scale", strconv.FormatFloat(sc.Design.Scale, 'g', -1, 64)); err != nil {
			return sc, fmt.Errorf("set the usual scale: %w", err)
		}
	}
	if !(f.scale > 0 && f.scale <= 100) {
		return sc, badValue("scale", f.scale, fmt.Sprintf("give a number above 0, such as %g; 1 is the original's size", sc.Design.Scale))
	}
	return sc.AsPublished(f.scale), nil
}

// publishedArms are the layouts of the article's design: every number of files
// with each of its allocations, and its data files under backup files.
func (f *planFlags) publishedArms(arms []arm, sc workload.Scenario) []arm {
	if !f.asPublished {
		return arms
	}
	d := sc.Design
	if d.DataFiles > 0 && !f.about.StripesAsFiles {
		for i := range arms {
			arms[i].Data.Files = d.DataFiles
		}
	}
	if len(d.Allocations) < 2 {
		return arms
	}
	var out []arm
	for i, allocation := range d.Allocations {
		for _, a := range arms {
			a.Data.Allocation, a.allocationGiven = allocation, true
			a.Name += ", " + string(allocation)
			a.Rank = a.Rank*len(d.Allocations) + i
			out = append(out, a)
		}
	}
	return out
}

// ownNumbers are the scenario's own numbers of files, for an engine that cannot do
// the article's; nil: it is not about those.
func (f *planFlags) ownNumbers(sc workload.Scenario) []int {
	own, err := workload.Lookup(sc.Name)
	if err != nil || !f.asPublished || slices.Equal(own.Files, sc.Files) {
		return nil
	}
	return own.Files
}

// longScale is the scale above which a run may take hours.
const longScale = 0.001

// setPublished comes last: the article's order, repeats and work in place of what
// was planned.
func (f *planFlags) setPublished(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) error {
	if !f.asPublished {
		return nil
	}
	runs := sc.Design.RunsOf(p.Params)
	p.AsPublished = &experiment.AsPublished{Repeats: runs.Repeats, Drop: runs.Drop, Scale: f.scale}
	p.MaxBlocks, p.Goal = runs.Repeats, verdict.GoalVerdicts
	if !cmd.Flags().Changed("budget") { // the design has its own end
		p.Budget = 0
	}
	if p.Instances > 0 || slices.Contains(sc.Flags, "instances") {
		p.Instances = 1
	}
	if sc.Design.Work > 0 {
		least := int64(p.Params.RowBytes) * int64(p.Params.Connections)
		p.Work = workload.Scaled(sc.Design.Work, f.scale, least)
		p.Window, p.WarmUp = 0, 0
	}
	if sc.Design.Window > 0 { // no pilots fix it
		p.WarmUp = sc.Design.Window / 2
	}
	p.PilotWindow, p.PilotWork = 0, 0
	if f.scale > longScale { // hours: finer slices would fill the store
		p.SliceLength = time.Second
	}
	return nil
}

// orderWords say in which order trials come.
func orderWords(p experiment.Plan) string {
	a := p.AsPublished
	if a == nil {
		order := "each in random order"
		if p.Cells > 0 {
			order = "each a session with turns in random order"
		}
		return fmt.Sprintf("Trials: pilots first, then at most %d blocks, %s; a layout that cannot be the best any more is dropped", p.MaxBlocks, order)
	}
	times := "once"
	if a.Repeats > 1 {
		times = strconv.Itoa(a.Repeats) + " times"
	}
	return fmt.Sprintf("Trials, as published at scale %g: each layout is run %s, one layout after the other; nothing is randomised", a.Scale, times)
}

// printRuns lists the runs of an article's design, layout by layout.
func printRuns(w *lineWriter, p experiment.Plan) {
	for _, l := range p.Layouts {
		times := "1 run"
		if n := p.AsPublished.Repeats; n > 1 {
			times = strconv.Itoa(n) + " runs"
		}
		w.printf("  %s: %s\n", l.Name, times)
	}
}
