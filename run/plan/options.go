package plan

import (
	"context"
	"slices"

	"filewise"
	"filewise/lab/workload"
)

// Options holds all settings of an experiment. New has the usual ones.
type Options struct {
	// Scenario is the measured scenario. Empty means the usual one.
	Scenario string
	// Inspect looks at a server by URL, for its cores. Nil means nobody does.
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

	// Custom is the SQL of scenario custom, for which there is no flag. Nil means none.
	Custom *workload.Custom

	engine string // the usual one, if it is known
}

// DefaultScenario is measured if none is named.
const DefaultScenario = "inserts"

// New returns options of which none is set.
func New() *Options {
	o := &Options{}
	o.Table()
	return o
}

// New returns options of which none is set; their usual engine is the first.
func (all Engines) New() *Options {
	o := &Options{engine: all[0].Name()}
	o.Table()
	return o
}

// Table has a row for every option, which points into o.
func (o *Options) Table() []Option {
	return slices.Concat(o.TargetOptions.Table(o.engine), o.PlaceOptions.Table(), o.LayoutOptions.Table(), o.WorkOptions.Table(),
		o.ScenarioOptions.Table(), o.JudgeOptions.Table(), o.CheckOptions.Table(), o.StopOptions.Table(),
		o.DriverOptions.Table(), o.NotifyOptions.Table())
}

// Clone returns the same options, which can be altered without altering these.
func (o *Options) Clone() *Options {
	c := *o // no value is altered in place
	return &c
}

// forget resets an option that a variable has set to its usual value. False means no variable has.
func (o *Options) forget(name string) bool {
	row := Find(o.Table(), name)
	if row == nil || row.To.Source() != Variable {
		return false
	}
	row.To.Forget()
	return true
}
