package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/workload"
)

// maxInstances bounds the builds that lie side by side, with a copy each.
const maxInstances = 20

// setPreload sets what every build is loaded with, and how many of each layout
// there are.
func (f *planFlags) setPreload(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) (err error) {
	set := cmd.Flags().Changed
	if !set("preload") {
		if set("instances") && !sc.Phased {
			return badUse("instances", f.instances, "without --preload every trial has a build of its own: add --preload, or leave it out")
		}
		return nil
	}
	external := p.Target.Mode == filewise.External // which is loaded anew for every trial
	if !f.about.Reset && !external {
		return filewise.Errorf(filewise.CodePreflight, "leave --preload out; builds are then made anew for every trial",
			"%s cannot restore a loaded build: %w", p.Target.Engine, filewise.ErrUnsupported)
	}
	if external && set("instances") {
		return badUse("instances", f.instances, "on an existing server every trial builds and loads its database anew: leave it out")
	}
	if f.instances < 1 || f.instances > maxInstances {
		return badValue("instances", f.instances, fmt.Sprintf("give 1 to %d; with one, the verdict is for that build only", maxInstances))
	}
	if p.Preload, err = bytesOf("preload", f.preload); err != nil {
		return err
	}
	if !external {
		p.Instances = f.instances
	}
	if p.Preload >= p.Layouts[0].Data.Bytes {
		return badValue("preload", f.preload, "it has to fit into --size, with room for the work")
	}
	return nil
}

// setMeasure sets what a trial measures. The life cycle needs a server, and
// fixed work that leaves something to write and to recover.
func (f *planFlags) setMeasure(cmd *cobra.Command, p *experiment.Plan, _ workload.Scenario) (err error) {
	if p.Measure, err = choice("measure", f.measure, experiment.MeasureWorkload, experiment.MeasureLifecycle); err != nil {
		return err
	}
	if p.Measure == experiment.MeasureWorkload {
		return nil
	}
	switch {
	case p.Target.Mode == filewise.External:
		return filewise.Errorf(filewise.CodePreflight, "measure it on a private server: --engine "+p.Target.Engine+" instead of --target",
			"an existing server is its owner's and is never stopped, so its life cycle is not timed: %w", filewise.ErrUnsupported)
	case !f.about.Lifecycle:
		return filewise.Errorf(filewise.CodePreflight, "measure it on an engine with a server that Filewise may stop, such as --engine mariadb",
			"%s has no life cycle to time: %w", p.Target.Engine, filewise.ErrUnsupported)
	case p.Target.Durability == filewise.DurabilityOff:
		return badValue("durability", p.Target.Durability, "a crash would lose commits, and the check would fail: use full or normal with --measure lifecycle")
	case cmd.Flags().Changed("window"):
		return badValue("window", f.window, "the life cycle is timed after fixed work: give --work, or leave both out")
	}
	if p.Work == 0 {
		p.Work = p.Layouts[0].Data.Bytes / 2
	}
	p.Window, p.PilotWindow = 0, 0
	return nil
}
