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

// Options holds a run's inputs in addition to its plan. Only the engine is required, and the login if the plan's target
// is an external server.
type Options struct {
	Engine  filewise.Engine
	Login   Login
	Store   string         // path of the results. Empty means the user's store
	Version string         // of Filewise, stored with the run
	Clock   filewise.Clock // nil means the real one
	// Budget extends a run that Resume continues. 0 means the plan's budget stays.
	Budget time.Duration
	// AbortIf and Maintenance replace the plan's, for this process only.
	AbortIf, Maintenance []string
	// Hide removes secrets from stored, sent and observed texts. It may be nil.
	Hide func(string) string
	// Notify sends the run's notifications. Nil means none. Warn gets messages that could not be sent, one line per call.
	// It may be nil.
	Notify *notify.Notifier
	Warn   func(string)
	// Abandon ends this process at once, because a volume that does not answer holds an interrupted run. It is given an
	// error's message and remedy. It may be nil.
	Abandon func(message, remedy string)
	// Observe returns an observer. It is called after the run is stored and before its next trial. The data are the run's
	// so far; the monitor can pause and stop the run. Observe may be nil.
	Observe func(report.Data, *web.Monitor) Observer
	// Before is called first before each trial. It may wait, and its error ends the run. It may be nil.
	Before func(context.Context) error
	// Drivers connects to a plan's drivers, and returns a function that releases them. If Drivers is nil, plans with
	// drivers cannot be run.
	Drivers func(context.Context, experiment.Plan, filewise.Server) (experiment.Drivers, func(), error)
	// Result gets the run's outcome before the environment is closed. Its error becomes the run's error. It may be nil.
	Result func(Outcome) error
}

// Observer watches a run while it is measured.
type Observer interface {
	Notify(experiment.Event) // must not block
	Close()                  // called after the last trial
}

// Outcome is a run's result.
type Outcome struct {
	Run  store.Run // if ID is 0, the run ended before it was stored
	Data report.Data
	// Over is the reason why nothing was left to measure. Empty means the run was measured.
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
		return ignore{}
	}
	return o.Observe(d, m)
}

// before calls Before ahead of a trial, and then waits for the other reasons to delay a trial.
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

// ignore is an observer that ignores everything.
type ignore struct{}

func (ignore) Notify(experiment.Event) {}
func (ignore) Close()                  {}

// limited returns the plan with AbortIf and Maintenance replaced by the options, if set.
func (o Options) limited(p experiment.Plan) experiment.Plan {
	if o.AbortIf != nil {
		p.AbortIf = o.AbortIf
	}
	if o.Maintenance != nil {
		p.Maintenance = o.Maintenance
	}
	return p
}
