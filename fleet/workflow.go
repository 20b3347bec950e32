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

// The names of a workflow's queries and signals.
const (
	queryState = "state"
	queryPart  = "part"
	control    = "control" // a signal: one of the words below

	wordPause, wordResume, wordStop = "pause", "resume", "stop"
)

// mostSteps is the number of steps after which a workflow begins a new history at the latest. Temporal suggests a new
// history after 4,096 events, of which a step has some 7, or after 4 MiB.
const mostSteps = 1000

// progress is the state of a running workflow.
type progress struct {
	State
	parts   [][]byte // of the bundle
	signals workflow.ReceiveChannel
	began   int // steps of earlier histories

	// version is the version of changeAhead when the workflow began. From 1 on, the host gets the request for a trial
	// while it measures the previous one. So it never waits, and its results come home on the way. From 2 on, the host's
	// first request is to open the run. A pause takes it back while the host measures something else. A new history begins
	// with what has come home.
	version workflow.Version
	ahead   *asking // the request made ahead; nil means none
	kept    int     // trials when the bundle was last requested
	brought bool    // something came home in the previous history
}

const changeAhead = "ahead"

// Experiment has one job measured, trial after trial, and returns its end. What comes next is decided by Plan.Next
// where it is measured.
func Experiment(ctx workflow.Context, s State) (State, error) { return start(ctx, s).run(ctx) }

func start(ctx workflow.Context, s State) *progress {
	e := &progress{State: s, signals: workflow.GetSignalChannel(ctx, control), began: s.Steps, brought: s.Bundle.Trials > 0}
	e.Bundle = Bundle{} // its parts are in the previous history
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

// long reports whether a new history has to begin.
func (e *progress) long(ctx workflow.Context) bool {
	return e.Steps-e.began >= mostSteps || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// step requests the next trial. It returns true if there is none any more.
func (e *progress) step(ctx workflow.Context) (over bool, err error) {
	e.Steps++
	n, a := e.Standing.Trials, e.ahead
	if e.ahead = nil; a == nil {
		a = e.begin(ctx, "Next", Request{Job: e.Job, After: n})
	}
	if e.version >= 1 && !e.due(n+1) && !e.long(ctx) {
		// When layouts take turns, several trials come at once, so the answer may bring no more than is known.
		e.ahead = e.begin(ctx, "Next", Request{Job: e.Job, After: max(n, a.After+1), Ahead: true})
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

// open has the host open the run, once the host measures nothing else.
func (e *progress) open(ctx workflow.Context) (over bool, err error) {
	s := e.Standing
	if err := e.ask(ctx, "Next", &s, Request{Job: e.Job, After: s.Trials, Open: true}); err != nil {
		return e.failed(ctx, err)
	}
	if s.Trials < e.Standing.Trials { // a stop has come before the run was open
		s = e.Standing
	}
	return e.heard(ctx, s), nil
}

// heard records an answer. It returns true if nothing is left to measure.
func (e *progress) heard(ctx workflow.Context, s Standing) (over bool) {
	e.Standing, e.Changed, e.Condition = s, workflow.Now(ctx), Running
	if s.Ended {
		e.Condition = Done
		e.home(ctx)
	}
	return s.Ended
}

// failed records that no answer has come. over is true if none will come any more.
func (e *progress) failed(ctx workflow.Context, err error) (over bool, _ error) {
	switch {
	case gone(err):
		e.lose()
		return true, nil
	case e.Stopping, temporal.IsCanceledError(err) && ctx.Err() == nil: // by a stop, or by a pause that may be over
		e.recall(ctx)
		return false, nil
	case temporal.IsCanceledError(err):
		return true, err
	}
	e.Condition, e.Error = Failed, cause(err)
	e.home(ctx)
	return true, nil
}

// bring has the host's results so far come home. It returns true if the host is lost.
func (e *progress) bring(ctx workflow.Context) (lost bool) {
	e.kept = e.Standing.Trials
	if _, err := e.export(ctx, mostKeptParts); gone(err) {
		e.lose()
		return true
	}
	return false
}

// leastKept is the number of trials from which a host's bundle comes home whenever it has grown by a quarter. So little
// more than a fifth is lost with a host that is lost for good. The bundle is read between two trials. mostKeptParts
// limits its parts.
const leastKept, mostKeptParts = 4, 4

func (e *progress) due(trials int) bool { return trials >= leastKept && 4*trials >= 5*e.kept }

// lose gives the host up as lost.
func (e *progress) lose() {
	e.Condition = Lost
	e.Error = "its host has not answered for " + e.Patience.String() + "; "
	if e.Bundle.Trials > 0 {
		e.Error += fmt.Sprintf("%d of its trials have come home, and ", e.Bundle.Trials)
	}
	e.Error += "all that it has measured is in its store"
}

// asking is a request to the host that has no answer yet.
type asking struct {
	answer workflow.Future
	cancel workflow.CancelFunc
	Request
}

// begin sends a request to the host.
func (e *progress) begin(ctx workflow.Context, what string, r Request) *asking {
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: queueOf(e.Host), ScheduleToStartTimeout: e.Patience, StartToCloseTimeout: 7 * 24 * time.Hour,
		HeartbeatTimeout: heartbeatWithin, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second},
	}))
	return &asking{workflow.ExecuteActivity(ctx, what, r), cancel, r}
}

// await waits for the answer, and handles signals in the meantime.
func (e *progress) await(ctx workflow.Context, a *asking, to any) error {
	defer a.cancel()
	for !a.answer.IsReady() {
		workflow.NewSelector(ctx).AddFuture(a.answer, func(workflow.Future) {}).
			AddReceive(e.signals, func(c workflow.ReceiveChannel, _ bool) { e.hear(c) }).Select(ctx)
		if e.Stopping || e.Pausing && a.Open {
			a.cancel()
		}
		if e.ahead != nil && (e.Stopping || e.Pausing) {
			e.ahead.cancel()
		}
	}
	return a.answer.Get(ctx, to)
}

// ask sends a request to the host, and waits for the answer.
func (e *progress) ask(ctx workflow.Context, what string, to any, r Request) error {
	return e.await(ctx, e.begin(ctx, what, r), to)
}

// recall takes back the request made ahead, and returns once the host has released it.
func (e *progress) recall(ctx workflow.Context) {
	if a := e.ahead; a != nil {
		e.ahead = nil
		a.cancel()
		_ = a.answer.Get(ctx, nil) // whatever the answer was
	}
}

// drain handles the signals sent so far.
func (e *progress) drain() {
	for e.signals.Len() > 0 {
		e.hear(e.signals)
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

// pause releases the host until a signal ends the pause.
func (e *progress) pause(ctx workflow.Context) {
	e.Condition = Paused
	e.recall(ctx)
	if err := e.ask(ctx, "Close", nil, Request{Job: e.Job}); err != nil {
		e.Error = cause(err) // the run ends by itself if its next trial is not requested
	}
	for e.Pausing && !e.Stopping {
		workflow.NewSelector(ctx).AddReceive(e.signals, func(c workflow.ReceiveChannel, _ bool) { e.hear(c) }).Select(ctx)
	}
	e.Error, e.Condition = "", Waiting
}

// mostParts limits the parts of a bundle in a history.
const mostParts = 40

// home takes the bundle into the workflow's history, so that it can be fetched even if the host is gone. A second stop
// ends the wait for it.
func (e *progress) home(ctx workflow.Context) {
	e.Ending = true
	defer func() { e.Ending = false }()
	e.recall(ctx)
	if e.Standing.Run == 0 {
		return // nothing was begun
	}
	stopping := e.Stopping
	e.Stopping = false // otherwise it would cancel the present request
	defer func() { e.Stopping = stopping }()
	switch fits, err := e.export(ctx, mostParts); {
	case err != nil:
		e.Error = joined(e.Error, "its bundle could not be read: "+cause(err))
	case !fits:
		e.Error = joined(e.Error, "its bundle is too large for Temporal: filewise export --bundle on the host writes it")
	}
}

// export takes the present bundle, if it has no more than most parts.
func (e *progress) export(ctx workflow.Context, most int) (fits bool, err error) {
	for range 3 {
		var first Part
		var parts [][]byte
		for i := 0; i == 0 || i < first.Parts; i++ {
			var p Part
			if err := e.ask(ctx, "Export", &p, Request{Job: e.Job, Part: i}); err != nil {
				return true, err
			}
			if i == 0 {
				first = p
			}
			if first.Parts > most {
				return false, nil
			}
			if p.SHA256 != first.SHA256 {
				break // the bundle was written again
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

// gone reports whether no worker has taken a task within the host's patience.
func gone(err error) bool {
	var t *temporal.TimeoutError
	return errors.As(err, &t) && t.TimeoutType() == enums.TIMEOUT_TYPE_SCHEDULE_TO_START
}

// cause returns the worker's error message, without the names of Temporal's layers.
func cause(err error) string {
	var app *temporal.ApplicationError
	switch {
	case strings.Contains(err.Error(), "Encoded failure"): // the SDK's text for an encrypted failure
		return "its text is encrypted: give " + KeyVariable + " as all workers have it"
	case errors.As(err, &app):
		return app.Message()
	}
	return err.Error()
}

// Host holds what a worker's host offers, in its memo, for as long as Temporal runs.
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
