package run

import (
	"context"
	"strings"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/report"
	"filewise/results/store"
	"filewise/watch/notify"
	"filewise/watch/web"
)

// Options holds a run's inputs in addition to its plan. Only the engine has to be given, and the login if the plan's
// target is an external server.
type Options struct {
	Engine  filewise.Engine
	Login   Login
	Store   string         // file of the results. Empty means the user's
	Version string         // of Filewise, stored with the run
	Clock   filewise.Clock // nil means the real one
	// Budget extends a run that Resume goes on with. 0 means it has the plan's.
	Budget time.Duration
	// AbortIf and Maintenance stand in for the plan's, for this time only.
	AbortIf, Maintenance []string
	// Hide takes secrets out of what is stored, sent and handed to the observer. May be nil.
	Hide func(string) string
	// Notify sends the run's notifications. Nil means none. Warn gets what could not be sent, a line at a time. May
	// be nil.
	Notify *notify.Notifier
	Warn   func(string)
	// Observe returns an observer once the run is stored, before its next trial. The data end there; by the monitor
	// the run can be paused and stopped. May be nil.
	Observe func(report.Data, *web.Monitor) Observer
	// Before is called before each trial, before all else; it may wait, and its error ends the run. May be nil.
	Before func(context.Context) error
	// Drivers reaches a plan's drivers, and is nil if such plans cannot be run. The function that it returns lets go
	// of them.
	Drivers func(context.Context, experiment.Plan, filewise.Server) (experiment.Drivers, func(), error)
	// Result gets the run's outcome, before its environment is closed. Its error is the run's. May be nil.
	Result func(Outcome) error
}

// Observer looks at a run while it is measured.
type Observer interface {
	Notify(experiment.Event) // must not block
	Close()                  // no trial will be measured any more
}

// Outcome is a run's result.
type Outcome struct {
	Run  store.Run // ID 0: it ended before it was stored
	Data report.Data
	// Over reports why nothing was left to measure. Empty means the run was measured.
	Over string
}

func (o Options) hide(text string) string {
	if o.Hide == nil {
		return text
	}
	return o.Hide(text)
}

func (o Options) clock() filewise.Clock {
	if o.Clock == nil {
		return filewise.RealClock{}
	}
	return o.Clock
}

func (o Options) observe(d report.Data, m *web.Monitor) Observer {
	if o.Observe == nil {
		return nobody{}
	}
	return o.Observe(d, m)
}

// before has a trial wait for Before, and then for what else it waits for.
func (o Options) before(then func(context.Context, time.Duration) error) func(context.Context, time.Duration) error {
	if o.Before == nil {
		return then
	}
	return func(ctx context.Context, expected time.Duration) error {
		if err := o.Before(ctx); err != nil {
			return err
		}
		return then(ctx, expected)
	}
}

// drivers returns the plan's drivers. Nil means this process puts the load on the server.
func (o Options) drivers(ctx context.Context, p experiment.Plan, s filewise.Server) (experiment.Drivers, func(), error) {
	switch {
	case len(p.Drivers) == 0:
		return nil, func() {}, nil
	case o.Drivers == nil:
		return nil, nil, filewise.Errorf(filewise.CodeUsage, "leave --drivers out here, or use \"filewise run\"",
			"a plan with drivers (%s) can only be run or resumed", strings.Join(p.Drivers, ", "))
	}
	return o.Drivers(ctx, p, s)
}

func (o Options) result(out Outcome) error {
	if o.Result == nil {
		return nil
	}
	return o.Result(out)
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Notify(experiment.Event) {}
func (nobody) Close()                  {}

// limited returns the plan with the limits that stand in for its own.
func (o Options) limited(p experiment.Plan) experiment.Plan {
	if o.AbortIf != nil {
		p.AbortIf = o.AbortIf
	}
	if o.Maintenance != nil {
		p.Maintenance = o.Maintenance
	}
	return p
}
