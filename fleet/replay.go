package fleet

import (
	"context"
	"errors"
	"log/slog"
	"time"

	enums "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// answerWithin limits the time that a worker may take to report a job's state. Temporal takes minutes to notice dead workers,
// and would wait for them.
const answerWithin = 10 * time.Second

// ask queries a workflow through any worker. If no worker answers, it replays the workflow here, from its history.
func (c Campaigns) ask(ctx context.Context, id, query string, to any, arg ...any) (replayed *progress, err error) {
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if !c.silent.Load() {
		answer, err := c.QueryWorkflow(within, id, "", query, arg...)
		if err == nil {
			err = answer.Get(to)
		}
		var refused *serviceerror.QueryFailed // from a worker
		if err == nil || ctx.Err() != nil || errors.Is(err, errKey) || errors.As(err, &refused) {
			return nil, unreachable(err)
		}
		c.silent.Store(true)
	}
	e, err := c.replay(ctx, id)
	return e, unreachable(err)
}

// replay returns a workflow's state from its history.
func (c Campaigns) replay(ctx context.Context, id string) (e *progress, err error) {
	var events historypb.History
	for h := c.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); h.HasNext(); {
		event, err := h.Next()
		if err != nil {
			return nil, err
		}
		events.Events = append(events.Events, event)
	}
	return replayed(&events, c.how)
}

// replayed returns the state after a history.
func replayed(h *historypb.History, how worker.WorkflowReplayerOptions) (e *progress, err error) {
	how.DisableDeadlockDetection = true
	r, err := worker.NewWorkflowReplayerWithOptions(how)
	if err != nil {
		return nil, err
	}
	r.RegisterWorkflowWithOptions(func(ctx workflow.Context, s State) (State, error) {
		e = start(ctx, s)
		return e.run(ctx)
	}, workflow.RegisterOptions{Name: typeExperiment})
	err = r.ReplayWorkflowHistory(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), h)
	if e != nil || len(h.GetEvents()) == 0 {
		return e, err
	}
	e = new(progress) // no worker has begun the workflow
	begun := h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
	if err := how.DataConverter.FromPayloads(begun.GetInput(), &e.State); err != nil {
		return nil, err
	}
	e.Condition = Waiting
	return e, nil
}

// unanswered records that there is no worker that could add more.
func (s *State) unanswered(heard time.Time) {
	if s.Ended() {
		return
	}
	s.Standing.Doing = "no worker answers"
	if !heard.IsZero() {
		s.Standing.Doing += "; it was heard of last at " + heard.Local().Format(time.DateTime)
	}
}
