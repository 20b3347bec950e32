package fleet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// A workflow's queries and signals.
const (
	queryState = "state"
	queryPart  = "part"
	control    = "control" // a signal: one of the words below

	wordPause, wordResume, wordStop = "pause", "resume", "stop"
)

// mostSteps is the number after which a workflow begins a new history at the latest: Temporal suggests it after 4,096
// events, of which a step has some 7, or 4 MiB.
const mostSteps = 1000

// progress is a workflow on its way.
type progress struct {
	State
	parts [][]byte // of the bundle
	told  workflow.ReceiveChannel
	began int // steps of the histories before

	// Of changeAhead, when the workflow began. From 1 on the host gets the request for a trial while it measures the
	// one before. So it never waits, and what it has comes home on the way. From 2 on the host's first request is to
	// open the run, which a pause takes back while the host measures something else. A new history begins with what
	// has come home.
	version workflow.Version
	ahead   *asking // nil means nothing is
	kept    int     // trials at the bundle's last request
	brought bool    // something came home in the history before
}

const changeAhead = "ahead"

// Experiment has one order measured, trial after trial, and returns its end. What comes next is decided by Plan.Next
// where it is measured.
func Experiment(ctx workflow.Context, s State) (State, error) { return start(ctx, s).run(ctx) }

func start(ctx workflow.Context, s State) *progress {
	e := &progress{State: s, told: workflow.GetSignalChannel(ctx, control), began: s.Steps, brought: s.Bundle.Trials > 0}
	e.Bundle = Bundle{} // of which the parts are in the history before
	if e.Condition == "" {
		e.Condition = Waiting
	}
	return e
}

func (e *progress) run(ctx workflow.Context) (State, error) {
	if err := errors.Join(workflow.SetQueryHandler(ctx, queryState, func() (State, error) { return e.State, nil }),
		workflow.SetQueryHandler(ctx, queryPart, e.part)); err != nil {
		return e.State, err
	}
	if e.version = workflow.GetVersion(ctx, changeAhead, workflow.DefaultVersion, 2); e.version >= 2 && e.brought && e.bring(ctx) {
		return e.State, nil
	}
	for {
		e.drain()
		switch {
		case e.Stopping:
			e.Condition = Stopped
			e.home(ctx)
			return e.State, nil
		case e.Pausing:
			e.pause(ctx)
			continue
		case e.long(ctx) && e.ahead == nil:
			return e.State, workflow.NewContinueAsNewError(ctx, Experiment, e.State)
		}
		ask := e.step
		if e.version >= 2 && e.Condition == Waiting {
			ask = e.open
		}
		if over, err := ask(ctx); over || err != nil {
			return e.State, err
		}
	}
}

// long reports whether a new history is to be begun.
func (e *progress) long(ctx workflow.Context) bool {
	return e.Steps-e.began >= mostSteps || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// step requests the next trial. True means there is none any more.
func (e *progress) step(ctx workflow.Context) (over bool, err error) {
	e.Steps++
	n, a := e.Standing.Trials, e.ahead
	if e.ahead = nil; a == nil {
		a = e.begin(ctx, "Next", Request{Order: e.Order, After: n})
	}
	if e.version >= 1 && !e.due(n+1) && !e.long(ctx) {
		// Of trials that take turns several come at once, so that the answer may bring no more than is known.
		e.ahead = e.begin(ctx, "Next", Request{Order: e.Order, After: max(n, a.After+1), Ahead: true})
	}
	var s Standing
	if err := e.await(ctx, a, &s); err != nil {
		return e.failed(ctx, err)
	}
	if e.heard(ctx, s) {
		return true, nil
	}
	if e.version >= 1 && e.ahead == nil && e.due(s.Trials) && !e.Stopping {
		return e.bring(ctx), nil
	}
	return false, nil
}

// open has the host open the run, once it measures nothing else.
func (e *progress) open(ctx workflow.Context) (over bool, err error) {
	s := e.Standing
	if err := e.ask(ctx, "Next", &s, Request{Order: e.Order, After: s.Trials, Open: true}); err != nil {
		return e.failed(ctx, err)
	}
	if s.Trials < e.Standing.Trials { // a stop has come before it was open
		s = e.Standing
	}
	return e.heard(ctx, s), nil
}

// heard books an answer. True means nothing is left to measure.
func (e *progress) heard(ctx workflow.Context, s Standing) (over bool) {
	e.Standing, e.Changed, e.Condition = s, workflow.Now(ctx), Running
	if s.Ended {
		e.Condition = Done
		e.home(ctx)
	}
	return s.Ended
}

// failed books that there is no answer; over: there will be none any more.
func (e *progress) failed(ctx workflow.Context, err error) (over bool, _ error) {
	switch {
	case gone(err):
		e.lose()
		return true, nil
	case e.Stopping, temporal.IsCanceledError(err) && ctx.Err() == nil: // by a stop, or a pause that may be over
		e.recall(ctx)
		return false, nil
	case temporal.IsCanceledError(err):
		return true, err
	}
	e.Condition, e.Error = Failed, cause(err)
	e.home(ctx)
	return true, nil
}

// bring has what the host has so far come home. True means the host is lost.
func (e *progress) bring(ctx workflow.Context) (lost bool) {
	e.kept = e.Standing.Trials
	if _, err := e.export(ctx, mostKeptParts); gone(err) {
		e.lose()
		return true
	}
	return false
}

// From leastKept trials on a host's bundle comes home whenever it has grown by a quarter. So hardly more than a fifth
// goes with a host that is lost for good. It is read between two trials.
const leastKept, mostKeptParts = 4, 4

func (e *progress) due(trials int) bool { return trials >= leastKept && 4*trials >= 5*e.kept }

// lose gives the host up.
func (e *progress) lose() {
	e.Condition = Lost
	e.Error = "its host has not answered for " + e.Patience.String() + "; "
	if e.Bundle.Trials > 0 {
		e.Error += fmt.Sprintf("%d of its trials have come home, and ", e.Bundle.Trials)
	}
	e.Error += "what it has is in its own store"
}

// asking holds a request to the host without an answer yet.
type asking struct {
	answer workflow.Future
	cancel workflow.CancelFunc
	Request
}

// begin sends the host a request.
func (e *progress) begin(ctx workflow.Context, what string, r Request) *asking {
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queueOf(e.Host), ScheduleToStartTimeout: e.Patience, StartToCloseTimeout: 7 * 24 * time.Hour,
		HeartbeatTimeout: heartbeatWithin, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
	}))
	return &asking{workflow.ExecuteActivity(ctx, what, r), cancel, r}
}

// await waits for the answer, and listens at the same time.
func (e *progress) await(ctx workflow.Context, a *asking, to any) error {
	defer a.cancel()
	for !a.answer.IsReady() {
		workflow.NewSelector(ctx).AddFuture(a.answer, func(workflow.Future) {}).
			AddReceive(e.told, func(c workflow.ReceiveChannel, _ bool) { e.hear(c) }).Select(ctx)
		if e.Stopping || e.Pausing && a.Open {
			a.cancel()
		}
		if e.ahead != nil && (e.Stopping || e.Pausing) {
			e.ahead.cancel()
		}
	}
	return a.answer.Get(ctx, to)
}

// ask has the host do something.
func (e *progress) ask(ctx workflow.Context, what string, to any, r Request) error {
	return e.await(ctx, e.begin(ctx, what, r), to)
}

// recall takes back the request made ahead, and returns when the host has let go of it.
func (e *progress) recall(ctx workflow.Context) {
	if a := e.ahead; a != nil {
		e.ahead = nil
		a.cancel()
		_ = a.answer.Get(ctx, nil) // whatever it was
	}
}

// drain receives the signals sent so far.
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

// pause gives the host back until a signal ends it.
func (e *progress) pause(ctx workflow.Context) {
	e.Condition = Paused
	e.recall(ctx)
	if err := e.ask(ctx, "Close", nil, Request{Order: e.Order}); err != nil {
		e.Error = cause(err) // it ends by itself if the next trial is not requested
	}
	for e.Pausing && !e.Stopping {
		workflow.NewSelector(ctx).AddReceive(e.told, func(c workflow.ReceiveChannel, _ bool) { e.hear(c) }).Select(ctx)
	}
	e.Error, e.Condition = "", Waiting
}

// mostParts bounds the size of a bundle that a history takes.
const mostParts = 40

// home takes the bundle into the workflow's history, where it can be fetched also when the host is gone. To stop once
// more ends the wait for it.
func (e *progress) home(ctx workflow.Context) {
	e.Ending = true
	defer func() { e.Ending = false }()
	e.recall(ctx)
	if e.Standing.Run == 0 {
		return // nothing was begun
	}
	stopping := e.Stopping
	e.Stopping = false // which would cancel the present request
	defer func() { e.Stopping = stopping }()
	switch fits, err := e.export(ctx, mostParts); {
	case err != nil:
		e.Error = joined(e.Error, "its bundle could not be had: "+cause(err))
	case !fits:
		e.Error = joined(e.Error, "its bundle is too large for Temporal: filewise export --bundle on the host writes it")
	}
}

// export takes the bundle as it is now, if it has no more parts than that.
func (e *progress) export(ctx workflow.Context, most int) (fits bool, err error) {
	for range 3 {
		var first Part
		var parts [][]byte
		for i := 0; i == 0 || i < first.Parts; i++ {
			var p Part
			if err := e.ask(ctx, "Export", &p, Request{Order: e.Order, Part: i}); err != nil {
				return true, err
			}
			if i == 0 {
				first = p
			}
			if first.Parts > most {
				return false, nil
			}
			if p.SHA256 != first.SHA256 {
				break // it was written again
			}
			parts = append(parts, p.Bytes)
		}
		if len(parts) == first.Parts {
			e.parts, e.Bundle = parts, first.Bundle
			return true, nil
		}
	}
	return true, errors.New("it was rewritten during the attempt, again and again")
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

// gone reports that no worker has taken a task within the host's patience.
func gone(err error) bool {
	var t *temporal.TimeoutError
	return errors.As(err, &t) && t.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// cause returns the worker's error, without the names of Temporal's layers.
func cause(err error) string {
	var app *temporal.ApplicationError
	switch {
	case strings.Contains(err.Error(), "Encoded failure"): // so Temporal's SDK, for its text
		return "its text is encrypted: give " + KeyVariable + " as all workers have it"
	case errors.As(err, &app):
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
