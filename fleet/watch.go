package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"filewise"
	"filewise/web"
)

// States say how orders stand.
func (c Campaigns) States(ctx context.Context, orders []string) (out []State, err error) {
	out = make([]State, len(orders))
	err = each(ctx, len(orders), func(ctx context.Context, i int) (err error) {
		out[i], err = c.state(ctx, orders[i])
		return err
	})
	return out, err
}

// state is what the workflow says, or has said in the end, and what its host has told since.
func (c Campaigns) state(ctx context.Context, id string) (s State, err error) {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	switch status := d.GetWorkflowExecutionInfo().GetStatus(); {
	case err != nil:
		return s, unreachable(err)
	case status == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return s, unreachable(c.GetWorkflow(ctx, id, "").Get(ctx, &s))
	case status == enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
		if s, err = c.query(ctx, id); err == nil {
			s.hear(c.data, d.GetPendingActivities())
		}
		return s, err
	}
	return c.query(ctx, id)
}

// hear is what the host has told of what it is doing now.
func (s *State) hear(data converter.DataConverter, pending []*workflowpb.PendingActivityInfo) {
	for _, a := range pending {
		var now Standing
		switch {
		case a.GetState() == enums.PENDING_ACTIVITY_STATE_SCHEDULED && time.Since(a.GetScheduledTime().AsTime()) > tellEvery:
			s.Standing.Doing = "it waits for its host's worker since " + a.GetScheduledTime().AsTime().Local().Format(time.DateTime)
		case a.GetHeartbeatDetails() != nil && data.FromPayloads(a.GetHeartbeatDetails(), &now) == nil && now.Trials >= s.Standing.Trials:
			s.Standing = now
		}
	}
}

// query is what a workflow says of itself, by any worker.
func (c Campaigns) query(ctx context.Context, id string) (s State, err error) {
	answer, err := c.QueryWorkflow(ctx, id, "", queryState)
	if err == nil {
		err = answer.Get(&s)
	}
	var nobody *serviceerror.QueryFailed
	var late *serviceerror.DeadlineExceeded
	if errors.As(err, &nobody) || errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded) {
		return s, filewise.Errorf(filewise.CodeStopped, "start one: filewise worker", "no worker is there that could say how %s stands: %w",
			id, err)
	}
	if err != nil {
		return s, unreachable(err)
	}
	return s, nil
}

// Words say how an order stands: "running on db1: 12 trials; 4 files: +6 % …".
func (s State) Words() string {
	out := fmt.Sprintf("%s on %s: %s, %s", s.Experiment, s.Host, s.Condition, filewise.Counted(s.Standing.Trials, "trial"))
	for _, more := range []string{s.Standing.Doing, s.Standing.Verdict, s.Error} {
		if more, _, _ = strings.Cut(more, "\n"); more != "" {
			out += "; " + strings.TrimSuffix(more, ".")
		}
	}
	return out
}

// Watched is the order as a live page shows it.
func (s State) Watched() web.Order {
	return web.Order{Campaign: s.Campaign, Experiment: s.Experiment, Host: s.Host, Condition: s.Condition, Doing: s.Standing.Doing,
		Trials: s.Standing.Trials, Verdict: s.Standing.Verdict, Error: s.Error, Layouts: s.Standing.Layouts}
}

// Watch is web.Config.Fleet: what all campaigns do. Temporal may come later. Orders that have
// ended are asked for once.
func Watch(address string) func(context.Context) (web.Fleet, error) {
	var c Campaigns
	over := map[string]State{}
	return func(ctx context.Context) (out web.Fleet, err error) {
		if c.Client == nil {
			if c, err = Dial(ctx, address, slog.New(slog.DiscardHandler)); err != nil {
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
		orders, err := c.Orders(ctx, "")
		if err != nil {
			return out, err
		}
		asked := slices.DeleteFunc(slices.Clone(orders), func(id string) bool { return over[id].Ended() })
		states, err := c.States(ctx, asked)
		if err != nil {
			return out, err
		}
		for i, id := range asked {
			over[id] = states[i]
		}
		for _, id := range orders {
			out.Orders = append(out.Orders, over[id].Watched())
		}
		return out, nil
	}
}
