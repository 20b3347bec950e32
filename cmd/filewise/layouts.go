package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/workload"
)

// maxLayouts bounds an experiment: more layouts need more trials for each.
const maxLayouts = 32

// setLayouts makes a layout of every number of files, equal in everything else.
func (f *planFlags) setLayouts(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) error {
	kind, err := f.layoutKind()
	if err != nil {
		return err
	}
	// InnoDB's files of tables and partitions always grow, by steps of its own.
	ownGrowth := kind == filewise.KindPerTable || kind == filewise.KindPartitions
	if ownGrowth && !cmd.Flags().Changed("allocation") {
		f.allocation = string(filewise.Growing)
	}
	spread, err := f.spread(cmd, p, sc)
	if err != nil {
		return err
	}
	if ownGrowth && !cmd.Flags().Changed("growth") {
		spread.Growth = 0
	}
	files := f.files
	if len(files) == 0 {
		files = sc.Files
	}
	if len(files) < 2 || len(files) > maxLayouts {
		return badValue("files", strings.Trim(fmt.Sprint(files), "[]"), fmt.Sprintf("layouts are compared with each other: give 2 to %d different numbers of files, such as 1,4,8", maxLayouts))
	}
	for i, n := range files {
		if n < 1 {
			return badValue("files", n, "every number of files must be at least 1")
		}
		if slices.Contains(files[:i], n) {
			return badValue("files", n, "each number of files may be given once")
		}
		s := spread
		s.Files = n
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Kind: kind, Data: s, Rank: n})
	}
	return nil
}

// spread is what the layouts have in common.
func (f *planFlags) spread(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) (s filewise.Spread, err error) {
	s.Bytes = sc.Bytes
	if f.about.Bytes > 0 {
		s.Bytes = f.about.Bytes
	}
	if cmd.Flags().Changed("size") {
		if s.Bytes, err = bytesOf("size", f.size); err != nil {
			return s, err
		}
	}
	if s.Allocation, err = choice("allocation", f.allocation, filewise.Preallocated, filewise.Growing); err != nil {
		return s, err
	}
	if s.Allocation == filewise.Growing {
		if s.Growth, err = bytesOf("growth", f.growth); err != nil {
			return s, err
		}
	} else if cmd.Flags().Changed("growth") {
		return s, badValue("growth", f.growth, "preallocated files do not grow: add --allocation growing, or leave it out")
	}
	s.Placement = filewise.PlaceOne
	if len(p.Target.Volumes) > 1 {
		s.Placement = filewise.PlaceRoundRobin
	}
	if cmd.Flags().Changed("placement") {
		s.Placement, err = choice("placement", f.placement, filewise.PlaceOne, filewise.PlaceRoundRobin)
	}
	return s, err
}

// layoutKind is the kind of layout asked for, or the engine's usual one.
func (f *planFlags) layoutKind() (filewise.Kind, error) {
	if f.kind == "" {
		return f.about.Kinds[0], nil
	}
	return choice("kind", f.kind, f.about.Kinds...)
}

func describe(e filewise.Engine) filewise.Description {
	if d, ok := e.(filewise.Describer); ok {
		return d.Describe()
	}
	return filewise.Description{Kinds: []filewise.Kind{""}}
}
