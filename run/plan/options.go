package plan

import (
	"context"
	"slices"

	"filewise"
	"filewise/lab/workload"
)

// Options holds all settings of an experiment. New returns the defaults.
type Options struct {
	// Scenario is the scenario to measure. Empty means the default one.
	Scenario string
	// Inspect reads the number of cores of a server given by URL. Nil means it is not read.
	Inspect func(context.Context, filewise.Engine, filewise.Target) (filewise.Inspection, error)
	TargetOptions
	PlaceOptions
	LayoutOptions
	WorkOptions
	ScenarioOptions
	JudgeOptions
	CheckOptions
	StopOptions
	DriverOptions
	NotifyOptions

	// Custom is the SQL of scenario custom, for which there is no flag. Nil means there is none.
	Custom *workload.Custom

	engine string // the default engine, if known
}

// DefaultScenario is measured if no scenario is named.
const DefaultScenario = "inserts"

// New returns options with their defaults.
func New() *Options {
	o := &Options{}
	o.Table()
	return o
}

// New returns options with their defaults. The default engine is the first.
func (all Engines) New() *Options {
	o := &Options{engine: all[0].Name()}
	o.Table()
	return o
}

// Table returns a row for every option. The rows point into o.
func (o *Options) Table() []Option {
	return slices.Concat(o.TargetOptions.Table(o.engine), o.PlaceOptions.Table(), o.LayoutOptions.Table(), o.WorkOptions.Table(),
		o.ScenarioOptions.Table(), o.JudgeOptions.Table(), o.CheckOptions.Table(), o.StopOptions.Table(),
		o.DriverOptions.Table(), o.NotifyOptions.Table())
}

// Clone returns a copy of the options. Changes to the copy do not affect the original.
func (o *Options) Clone() *Options {
	c := *o // values are replaced, never altered in place
	return &c
}

// forget resets an option to its default if a variable has set it. It reports whether a variable had.
func (o *Options) forget(name string) bool {
	row := Find(o.Table(), name)
	if row == nil || row.To.Source() != Variable {
		return false
	}
	row.To.Forget()
	return true
}
