package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"filewise"
	"filewise/watch/web"
)

func (c Campaigns) States(ctx context.Context, jobs []string) (out []State, err error) {
	out = make([]State, len(jobs))
	c.silent.Store(false) // a worker may have come in the meantime
	err = each(ctx, len(jobs), func(ctx context.Context, i int) (err error) {
		out[i], err = c.state(ctx, jobs[i])
		return err
	})
	return out, err
}

// Readable returns the jobs' states, also of jobs that cannot be read without their key.
func (c Campaigns) Readable(ctx context.Context, jobs []string) ([]State, error) {
	out := make([]State, len(jobs))
	c.silent.Store(false)
	err := each(ctx, len(jobs), func(ctx context.Context, i int) (err error) {
		out[i], err = c.state(ctx, jobs[i])
		if errors.Is(err, errKey) || errors.Is(err, converter.ErrEncodingIsNotSupported) {
			out[i], err = State{Job: named(jobs[i]), Condition: Unread, Error: err.Error()}, nil
		}
		return err
	})
	return out, err
}

// state returns the workflow's answer, or its last one, updated by what its host has reported since.
func (c Campaigns) state(ctx context.Context, id string) (s State, err error) {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	switch status := d.GetWorkflowExecutionInfo().GetStatus(); {
	case err != nil:
		return s, unreachable(err)
	case status == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return s, unreachable(c.GetWorkflow(ctx, id, "").Get(ctx, &s))
	case status != enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return c.cut(ctx, id, status)
	}
	var heard time.Time
	e, err := c.ask(ctx, id, queryState, &s)
	if e != nil {
		s, heard = e.State, e.Changed
	}
	for _, a := range d.GetPendingActivities() {
		s.hear(c.how, a)
		if last := a.GetLastHeartbeatTime(); last != nil && last.AsTime().After(heard) {
			heard = last.AsTime()
		}
	}
	if e != nil {
		s.unanswered(heard)
	}
	return s, err
}

// cut returns the state of a job whose workflow a user has ended on Temporal.
func (c Campaigns) cut(ctx context.Context, id string, status enums.WorkflowExecutionStatus) (s State, err error) {
	e, err := c.replay(ctx, id)
	if e == nil {
		return s, unreachable(err)
	}
	s = e.State
	s.Condition, s.Ending = Failed, false
	s.Error = joined(s.Error, "its workflow was ended on Temporal ("+strings.ToLower(status.String())+")")
	return s, nil
}

// hear updates the state with the host's report of what it does now, or why it does nothing.
func (s *State) hear(how worker.WorkflowReplayerOptions, a *workflowpb.PendingActivityInfo) {
	var now Standing
	var busy *temporal.ApplicationError
	if details := a.GetHeartbeatDetails(); details != nil && how.DataConverter.FromPayloads(details, &now) == nil &&
		now.Trials >= s.Standing.Trials {
		s.Standing = now
	}
	switch waits := a.GetState() == enums.PENDING_ACTIVITY_STATE_SCHEDULED; {
	case waits && errors.As(how.FailureConverter.FailureToError(a.GetLastFailure()), &busy):
		s.Standing.Doing = "it waits: " + busy.Message()
	case waits && time.Since(a.GetScheduledTime().AsTime()) > tellEvery:
		s.Standing.Doing = "it waits for its host's worker since " + a.GetScheduledTime().AsTime().Local().Format(time.DateTime)
	}
}

// Words describes a job's state: "running on db1: 12 trials; 4 files: +6 % …".
func (s State) Words() string {
	condition := s.Condition
	switch goes := condition == Running || condition == Waiting; { // until what it measures has ended
	case goes && s.Stopping:
		condition = "stopping"
	case goes && s.Pausing:
		condition = "pausing"
	}
	out := fmt.Sprintf("%s on %s: %s, %s", s.Experiment, s.Host, condition, filewise.Counted(s.Standing.Trials-s.Standing.Uncounted, "trial"))
	for _, more := range []string{s.Standing.Doing, s.Standing.Verdict} {
		if more, _, _ = strings.Cut(more, "\n"); more != "" {
			out += "; " + strings.TrimRight(more, ".:")
		}
	}
	if s.Error != "" { // the last lines have the reason, and what to do
		out += "; " + strings.ReplaceAll(s.Error, "\n", "\n  ")
	}
	return out
}

// Watched returns the job in the form for a live page.
func (s State) Watched() web.Job {
	return web.Job{Campaign: s.Campaign, Experiment: s.Experiment, Host: s.Host, Condition: s.Condition, Doing: s.Standing.Doing,
		Trials: s.Standing.Trials, Uncounted: s.Standing.Uncounted, Verdict: s.Standing.Verdict, Error: s.Error, Layouts: s.Standing.Layouts}
}

// Watch returns a function that reports what all campaigns do. It serves as web.Config.Fleet. Temporal may come later.
// Jobs that have ended are read once.
func Watch(address string) func(context.Context) (web.Fleet, error) {
	var c Campaigns
	over := map[string]State{}
	return func(ctx context.Context) (out web.Fleet, err error) {
		if c.Client == nil {
			if c, err = Dial(ctx, address, nil); err != nil {
				return out, err
			}
		}
		hosts, err := c.Hosts(ctx)
		if err != nil {
			return out, err
		}
		for _, h := range hosts {
			out.Hosts = append(out.Hosts, web.Worker{Host: h.Host, Labels: h.Labels, Working: h.Working})
		}
		jobs, err := c.Jobs(ctx, "")
		if err != nil {
			return out, err
		}
		asked := slices.DeleteFunc(slices.Clone(jobs), func(id string) bool { return over[id].Ended() })
		states, err := c.Readable(ctx, asked)
		if err != nil {
			return out, err
		}
		for i, id := range asked {
			over[id] = states[i]
		}
		for _, id := range jobs {
			out.Jobs = append(out.Jobs, over[id].Watched())
		}
		return out, nil
	}
}
