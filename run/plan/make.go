package plan

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// Made holds a plan, and what the plan does not store.
type Made struct {
	experiment.Plan
	Engine filewise.Engine // the engine of the plan's target
	// Options are the options of the plan, without values from variables that are for other runs.
	Options *Options
	// Secret is the address of an external target, or of the plan's origin, with the secrets in its URL.
	Secret    filewise.Address
	Receivers Receivers
}

// Make returns the plan that the options describe. It touches nothing. Values from environment variables that the plan
// cannot use are ignored, since they may be for other runs.
func (all Engines) Make(o *Options) (Made, error) {
	o = o.Clone()
	for {
		m := &maker{engines: all, o: o.Clone()}
		err := m.make()
		var idle unfit
		if errors.As(err, &idle) && (o.forget(idle.name) || o.forget(idle.or)) {
			continue
		}
		return Made{Plan: m.plan, Engine: m.Engine, Options: m.o, Secret: m.Secret, Receivers: m.receivers}, err
	}
}

// maker holds a plan in preparation.
type maker struct {
	engines Engines
	o       *Options
	sc      workload.Scenario
	Chosen
	receivers Receivers
	plan      experiment.Plan
	work      filewise.Program // set by setParams
	// cores returns the number of cores of the server, or why it is not known. Nil means not asked yet.
	cores func() (int, error)
	sized bool // --size is the engine's usual one for the scenario
}

// fixed reports whether the amount of work is fixed, so that no window limits it.
func (m *maker) fixed() bool { return m.work.First().Ops > 0 }

func (m *maker) make() (err error) {
	if m.o.Scenario == "" {
		m.o.Scenario = DefaultScenario
	}
	if m.sc, err = workload.Lookup(m.o.Scenario); err != nil {
		return err
	}
	if err := m.o.ofOthers(m.sc); err != nil {
		return err
	}
	if err := m.published(); err != nil {
		return err
	}
	if err := checkChoices(m.o.Table()); err != nil {
		return err
	}
	o := m.o
	if m.sc.Window > 0 && !o.Window.Given() {
		o.Window.Value = m.sc.Window
	}
	window := o.Window.Value
	m.plan = experiment.Plan{
		Scenario: m.sc.Name, MaxBlocks: o.MaxBlocks.Value, Budget: o.Budget.Value, Attempts: defaultAttempts,
		SkipFailing: o.Skip.Value, Conditional: true, Window: window, WarmUp: o.WarmUp.Value,
		PilotWindow: min(max(defaultPilotWindow, m.sc.Window/2), window),
	}
	for _, step := range []func() error{
		m.setTarget, m.publishedHere, m.setUsual, m.setLimits, m.setVolumes, m.setParams, m.setLayouts, m.setPreload, m.setWork, m.setFill,
		m.setPhases, m.setMeasure, m.setPilot,
		m.setStops, m.setNotify, m.setStorageLimit, m.setJudging, m.setChecks, m.setSeed, m.setPublished, m.setInterleaved, m.setObserve,
		m.setDrivers, m.setLadder, m.setReach,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if !o.Budget.Given() {
		m.plan.BudgetMost = budgetStretch * m.plan.Budget
	}
	m.plan.Command = o.command(m.plan)
	return nil
}

// command returns the command line that repeats the plan, including the seed.
func (o *Options) command(p experiment.Plan) []string {
	out := []string{"filewise", "run", p.Scenario}
	table := o.Table()
	slices.SortFunc(table, func(a, b Option) int { return strings.Compare(a.Name, b.Name) })
	for _, row := range table {
		reported := row.Name == "engine" && p.Target.Mode == filewise.External // the URL names the engine
		if row.To.Given() && !row.Unrepeated && !reported {
			out = append(out, row.flags()...)
		}
	}
	if p.Target.Mode == filewise.External {
		out = append(out, o.Again(p.Target)...)
	}
	if p.Origin() != nil {
		out = append(out, o.signIn()...)
	}
	for _, v := range p.Target.Volumes { // absolute, so that it works from any directory
		if v.Dir != "" || len(p.Target.Volumes) > 1 {
			out = append(out, "--volume", v.Name+"="+v.Dir)
		}
	}
	return append(out, "--seed", strconv.FormatUint(p.Seed, 10))
}

// flags returns the option as command-line arguments.
func (o Option) flags() []string {
	var out []string
	_, isSwitch := o.To.Pointer().(*bool)
	for _, text := range o.To.Texts() {
		if o.Alone != "" || isSwitch { // their value follows =
			out = append(out, "--"+o.Name+"="+text)
			continue
		}
		out = append(out, "--"+o.Name, text)
	}
	return out
}
