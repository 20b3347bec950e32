package fleet

import (
	"errors"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// What a workflow is asked and told.
const (
	queryState = "state"
	queryPart  = "part"
	control    = "control" // a signal: one of the words below

	wordPause, wordResume, wordStop = "pause", "resume", "stop"
)

// mostSteps are those after which a workflow begins a new history: some 6 events each, and
// 10,000 is where Temporal warns.
const mostSteps = 1000

// progress is a workflow on its way.
type progress struct {
	State
	parts [][]byte // of the bundle
	told  workflow.ReceiveChannel
}

// Experiment has one order measured, trial after trial, and returns how it ended. What comes
// next is decided by Plan.Next where it is measured.
func Experiment(ctx workflow.Context, s State) (State, error) {
	e := &progress{State: s, told: workflow.GetSignalChannel(ctx, control)}
	if e.Condition == "" {
		e.Condition = Waiting
	}
	if err := errors.Join(workflow.SetQueryHandler(ctx, queryState, func() (State, error) { return e.State, nil }),
		workflow.SetQueryHandler(ctx, queryPart, e.part)); err != nil {
		return e.State, err
	}
	for began := e.Steps; ; {
		e.drain()
		switch {
		case e.Stopping:
			e.Condition = Stopped
			return e.home(ctx), nil
		case e.Pausing:
			e.pause(ctx)
			continue
		case e.Steps-began >= mostSteps || workflow.GetInfo(ctx).GetContinueAsNewSuggested():
			return e.State, workflow.NewContinueAsNewError(ctx, Experiment, e.State)
		}
		if over, err := e.step(ctx); over || err != nil {
			return e.State, err
		}
	}
}

// step asks for the next trial; true: there is none any more.
func (e *progress) step(ctx workflow.Context) (over bool, err error) {
	e.Steps++
	var s Standing
	switch err := e.ask(ctx, "Next", &s, Request{Order: e.Order, After: e.Standing.Trials}); {
	case e.Stopping && temporal.IsCanceledError(err):
		return false, nil
	case gone(err):
		e.Condition = Lost
		e.Error = "its host has not answered for " + e.Patience.String() + "; what it has is in its own store"
		return true, nil
	case temporal.IsCanceledError(err):
		return true, err
	case err != nil:
		e.Condition, e.Error = Failed, cause(err)
		e.home(ctx)
		return true, nil
	}
	e.Standing, e.Changed, e.Condition = s, workflow.Now(ctx), Running
	if s.Ended {
		e.Condition = Done
		e.home(ctx)
	}
	return s.Ended, nil
}

// ask has the host do something, and listens meanwhile.
func (e *progress) ask(ctx workflow.Context, what string, to any, r Request) error {
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queueOf(e.Host), ScheduleToStartTimeout: e.Patience, StartToCloseTimeout: 7 * 24 * time.Hour,
		HeartbeatTimeout: heartbeatWithin, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
	}))
	defer cancel()
	answer := workflow.ExecuteActivity(ctx, what, r)
	for !answer.IsReady() {
		workflow.NewSelector(ctx).AddFuture(answer, func(workflow.Future) {}).
			AddReceive(e.told, func(c workflow.ReceiveChannel, _ bool) { e.hear(c) }).Select(ctx)
		if e.Stopping {
			cancel()
		}
	}
	return answer.Get(ctx, to)
}

// drain hears what was said so far.
func (e *progress) drain() {
	for e.told.Len() > 0 {
		e.hear(e.told)
	}
}

func (e *progress) hear(c workflow.ReceiveChannel) {
	var word string
	if !c.ReceiveAsync(&word) {
		return
	}
	switch word {
	case wordPause:
		e.Pausing = true
	case wordResume:
		e.Pausing = false
	case wordStop:
		e.Stopping = true
	}
}

// pause gives the host back until somebody says otherwise.
func (e *progress) pause(ctx workflow.Context) {
	e.Condition = Paused
	if err := e.ask(ctx, "Close", nil, Request{Order: e.Order}); err != nil {
		e.Error = cause(err) // it ends by itself where nobody asks for the next trial
	}
	for e.Pausing && !e.Stopping {
		workflow.NewSelector(ctx).AddReceive(e.told, func(c workflow.ReceiveChannel, _ bool) { e.hear(c) }).Select(ctx)
	}
	e.Error = ""
}

// mostParts is how large a bundle may be that a history takes.
const mostParts = 40

// home takes the bundle into the workflow's history, where it can be fetched also when the
// host is gone.
func (e *progress) home(ctx workflow.Context) State {
	if e.Standing.Run == 0 {
		return e.State // nothing was begun
	}
	stopping := e.Stopping
	e.Stopping = false // which would cancel what is asked now
	defer func() { e.Stopping = stopping }()
	for tries := 0; tries < 3; tries++ {
		e.parts = nil
		var first Part
		for i := 0; i == 0 || i < first.Parts; i++ {
			var p Part
			if err := e.ask(ctx, "Export", &p, Request{Order: e.Order, Part: i}); err != nil {
				e.Error = joined(e.Error, "its bundle could not be had: "+cause(err))
				return e.State
			}
			if i == 0 {
				first = p
			}
			if p.SHA256 != first.SHA256 || first.Parts > mostParts {
				break // it was written anew, or is too large
			}
			e.parts = append(e.parts, p.Bytes)
		}
		switch {
		case first.Parts > mostParts:
			e.parts, e.Error = nil, joined(e.Error, "its bundle is too large for Temporal: filewise export --bundle on the host writes it")
			return e.State
		case len(e.parts) == first.Parts:
			e.Bundle = first.Bundle
			return e.State
		}
	}
	e.parts = nil
	return e.State
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func (e *progress) part(i int) ([]byte, error) {
	if i < 0 || i >= len(e.parts) {
		return nil, errors.New("there is no such part")
	}
	return e.parts[i], nil
}

// gone tells that no worker has taken a task within the host's patience.
func gone(err error) bool {
	var t *temporal.TimeoutError
	return errors.As(err, &t) && t.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// cause is what the worker said, without the names of Temporal's layers.
func cause(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	return err.Error()
}

// Host remembers what a worker's host offers, which is its memo, for as long as Temporal runs.
func Host(ctx workflow.Context, o Offer) error {
	offers := workflow.GetSignalChannel(ctx, signalOffer)
	for range mostSteps {
		if err := workflow.UpsertMemo(ctx, map[string]any{memoOffer: o}); err != nil {
			return err
		}
		offers.Receive(ctx, &o)
	}
	return workflow.NewContinueAsNewError(ctx, Host, o)
}

const (
	signalOffer = "offer"
	memoOffer   = "offer"
)
