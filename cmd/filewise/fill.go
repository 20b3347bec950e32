package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/workload"
)

// fitLoaded sizes files that an engine fills one after the other so that loaded
// data, which transactions work on for the length of a window, reach the last one:
// unless the user says otherwise.
func (f *planFlags) fitLoaded(cmd *cobra.Command, p *experiment.Plan, l *filewise.Layout, sc workload.Scenario) error {
	sizer, ok := f.engine.(filewise.Sizer)
	if !ok || !sc.Phased || !sc.Windowed || l.Kind != filewise.KindSystem || cmd.Flags().Changed("size") {
		return nil
	}
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return err
	}
	bytes, err := sizer.LoadedBytes(p.Target, w.Program())
	if bytes > 0 {
		l.Data.Bytes = bytes
	}
	return err
}

// setFill sizes the work for engines that fill file after file: unless the user
// says otherwise, a trial has the fixed work that reaches every layout's last
// file. A window would end before, and N files be measured as one.
func (f *planFlags) setFill(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) error {
	if sc.Phased || cmd.Flags().Changed("work") || cmd.Flags().Changed("window") {
		return nil
	}
	filler, ok := f.engine.(filewise.Filler)
	if !ok {
		return nil
	}
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return err
	}
	var least int64
	for _, l := range p.Layouts {
		work, err := filler.FillWork(p.Target, l, w.Program())
		if err != nil {
			return refused(f.engine, l, err)
		}
		if work > 0 && (least == 0 || work < least) {
			least = work
		}
	}
	if least == 0 {
		return nil
	}
	if least -= p.Preload; least <= 0 {
		return badValue("preload", f.preload, "it fills the files already: make --size larger")
	}
	if f.warmUp >= 0 {
		return badUse("warm-up", f.warmUp, fmt.Sprintf("the work of a trial is fixed here (%s, to fill the files) and has no warm-up: leave it out, or give a --window", humanize.IBytes(uint64(least))))
	}
	p.Window, p.PilotWindow, p.Work = 0, 0, least
	return nil
}
