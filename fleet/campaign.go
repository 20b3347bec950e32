package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"golang.org/x/sync/errgroup"

	"filewise"
)

// Campaigns is a connection to the campaigns of a Temporal server.
type Campaigns struct {
	client.Client
	how    worker.WorkflowReplayerOptions // converts what is sent to Temporal
	silent *atomic.Bool                   // no worker has answered
}

// Present describes a host that has worked for campaigns.
type Present struct {
	Offer
	Working bool   `json:"working"`          // a worker has polled for work in the last minutes and has not announced its end
	Unread  string `json:"unread,omitempty"` // why the host's offer cannot be read
}

// Hosts returns all hosts that workers have offered, sorted by name.
func (c Campaigns) Hosts(ctx context.Context) ([]Present, error) {
	var out []Present
	err := c.list(ctx, "WorkflowType='"+typeHost+"' AND ExecutionStatus='Running'", func(id string, memo *commonpb.Memo) {
		var p Present
		if err := c.how.DataConverter.FromPayload(memo.GetFields()[memoOffer], &p.Offer); err != nil {
			p.Host, p.Unread = strings.TrimPrefix(id, hostPrefix), err.Error()
		}
		out = append(out, p)
	})
	if err != nil {
		return nil, err
	}
	err = each(ctx, len(out), func(ctx context.Context, i int) error {
		d, err := c.DescribeTaskQueue(ctx, queueOf(out[i].Host), enums.TASK_QUEUE_TYPE_ACTIVITY)
		if err != nil {
			return unreachable(err)
		}
		out[i].Working = slices.ContainsFunc(d.GetPollers(), func(w *taskqueue.PollerInfo) bool {
			return alive(w) && (out[i].Left == "" || w.GetIdentity() != out[i].Left)
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b Present) int { return cmp.Compare(a.Host, b.Host) })
	return out, nil
}

// alive reports whether a worker has polled in the last minutes.
func alive(w *taskqueue.PollerInfo) bool {
	return time.Since(w.GetLastAccessTime().AsTime()) < 2*time.Minute
}

// each calls do n times, several at once.
func each(ctx context.Context, n int, do func(context.Context, int) error) error {
	eg, ctx := errgroup.WithContext(ctx)
	eg.SetLimit(16)
	for i := range n {
		eg.Go(func() error { return do(ctx, i) })
	}
	return eg.Wait()
}

// list calls do with the ID and the memo of every workflow that a query finds.
func (c Campaigns) list(ctx context.Context, query string, do func(id string, memo *commonpb.Memo)) error {
	var token []byte
	for {
		page, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: token})
		if err != nil {
			return unreachable(err)
		}
		for _, e := range page.GetExecutions() {
			do(e.GetExecution().GetWorkflowId(), e.GetMemo())
		}
		if token = page.GetNextPageToken(); len(token) == 0 {
			return nil
		}
	}
}

func unreachable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, errKey) || errors.Is(err, converter.ErrEncodingIsNotSupported) { // this process has no key at all
		return filewise.Errorf(filewise.CodeUsage, "give workers and clients the same key, "+KeyVariable, "what Temporal has cannot be "+
			"read: %w", err)
	}
	var forgotten *serviceerror.NotFound
	if errors.As(err, &forgotten) {
		return filewise.Errorf(filewise.CodeNotFound, "give the same command again: hosts go on with what their stores have, and what they have "+
			"comes home again", "Temporal has forgotten this job: it keeps what has ended for the retention of its namespace: %w", err)
	}
	var remedy string
	var denied *serviceerror.PermissionDenied
	var unknown *serviceerror.NamespaceNotFound
	switch {
	case errors.As(err, &denied):
		remedy = "give an API key or certificate that may do this (docs/fleet.md, Secrets)"
	case errors.As(err, &unknown):
		remedy = "correct TEMPORAL_NAMESPACE, or make it: temporal operator namespace create --namespace " + unknown.Namespace
	default:
		return filewise.Errorf(filewise.CodeStopped, "start Temporal again: campaigns continue", "Temporal does not answer: %w", err)
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "Temporal refuses this: %w", err)
}

// Study is a campaign's study.
type Study struct {
	File        string
	Text        []byte
	Experiments []string
	Seeded      []string            // experiments with a seed; the others' seeds follow from their names
	Engines     map[string]string   // engine that the host must have, by experiment; empty for an existing server
	Volumes     map[string][]string // names of the volumes that the layouts are on, by experiment
	Scripts     map[string]string   // texts of files with SQL, by path in the study
	// Secrets holds texts that Temporal must not get.
	Secrets []filewise.Secret
}

// secret returns an error if the study holds what Temporal must not get.
func (s Study) secret() error {
	all := slices.AppendSeq([]string{string(s.Text)}, maps.Values(s.Scripts))
	for _, secret := range s.Secrets {
		if secret != "" && slices.ContainsFunc(all, func(text string) bool { return strings.Contains(text, string(secret)) }) {
			return filewise.Errorf(filewise.CodeUsage, "name a variable in its place, ${NAME}, which each worker has in its own environment; "+
				"leave it out of comments and SQL", "%s holds a secret, and Temporal would keep it", s.File)
		}
	}
	return nil
}

// Start has every experiment measured on each of the hosts or, if any is set, on one host that fits. It returns all
// jobs' IDs. Jobs started before under this name go on unchanged; n counts the new ones.
func (c Campaigns) Start(ctx context.Context, name string, s Study, hosts []Present, any bool, patience time.Duration) (ids []string, n int,
	err error) {
	if err := s.secret(); err != nil {
		return nil, 0, err
	}
	on := func(string) ([]string, error) {
		return filewise.Each(hosts, func(p Present) string { return p.Host }), nil
	}
	if any {
		known, err := c.Jobs(ctx, name)
		if err != nil && filewise.CodeOf(err) != filewise.CodeNotFound {
			return nil, 0, err
		}
		on = s.anyOf(name, known, hosts)
	}
	var jobs []Job
	for _, experiment := range s.Experiments {
		names, err := on(experiment)
		if err != nil {
			return nil, 0, err
		}
		for _, host := range names {
			o := Job{Campaign: name, Experiment: experiment, Host: host, File: s.File, Study: s.Text, Scripts: s.Scripts,
				Patience: patience}
			if !slices.Contains(s.Seeded, experiment) {
				o.Seed = seedOf(name, experiment)
			}
			if err := o.check(); err != nil {
				return nil, 0, err
			}
			jobs, ids = append(jobs, o), append(ids, o.id())
		}
	}
	var begun atomic.Int64
	err = each(ctx, len(jobs), func(ctx context.Context, i int) error {
		is, err := c.begin(ctx, jobs[i], enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
		if is {
			begun.Add(1)
		}
		return unreachable(err)
	})
	return ids, int(begun.Load()), err
}

// anyOf returns a function that chooses an experiment's host. If a known job has a host, it is that one. Otherwise it
// is a host that works, has the engine and, if any host has the volumes by name, has these too. Such hosts take turns.
// The first one follows from the campaign's name, so that not all campaigns begin with the same host.
func (s Study) anyOf(campaign string, known []string, hosts []Present) func(string) ([]string, error) {
	turn := map[string]int{} // by engine
	first, _ := strconv.Atoi(seedOf(campaign, ""))
	return func(experiment string) ([]string, error) {
		engine := s.Engines[experiment]
		turn[engine]++ // counts known experiments too, so that the others keep their hosts
		for _, id := range known {
			if host, ok := strings.CutPrefix(id, Job{Campaign: campaign, Experiment: experiment}.id()); ok {
				return []string{host}, nil
			}
		}
		fit := slices.DeleteFunc(slices.Clone(hosts), func(p Present) bool {
			return !p.Working || engine != "" && !slices.Contains(p.Engines, engine)
		})
		if len(fit) == 0 {
			return nil, filewise.Errorf(filewise.CodeNotFound, "start its worker: \"filewise campaign list\" lists them", "none of %s "+
				"has a worker there and what experiment %q needs (%s)", filewise.Counted(len(hosts), "host"), experiment,
				cmp.Or(engine, "an existing server"))
		}
		named := slices.DeleteFunc(slices.Clone(fit), func(p Present) bool {
			return slices.ContainsFunc(s.Volumes[experiment], func(name string) bool { return p.Volumes[name] == "" })
		})
		if len(named) > 0 { // otherwise all hosts have the study's directories
			fit = named
		}
		return []string{fit[(first+turn[engine])%len(fit)].Host}, nil
	}
}

// begin starts a job. It returns false if the job was started before. If Temporal is overloaded or away, it
// retries.
func (c Campaigns) begin(ctx context.Context, o Job, again enums.WorkflowIdReusePolicy) (begun bool, err error) {
	for tries := 0; ; tries++ {
		_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: o.id(), TaskQueue: queue,
			WorkflowIDReusePolicy: again, WorkflowExecutionErrorWhenAlreadyStarted: true,
		}, typeExperiment, State{Job: o})
		var there *serviceerror.WorkflowExecutionAlreadyStarted
		switch {
		case errors.As(err, &there):
			return tries > 0, nil // by an earlier try, whose answer was lost
		case err == nil || !away(err) || tries == mostTries:
			return err == nil, err
		}
		if err := (filewise.RealClock{}).Sleep(ctx, askAgain); err != nil {
			return false, err
		}
	}
}

// mostTries and askAgain limit the tries of a start without an answer to a minute or two.
const mostTries, askAgain = 10, 2 * time.Second

// away reports whether a retry may help.
func away(err error) bool {
	var gone *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	var much *serviceerror.ResourceExhausted
	return errors.As(err, &gone) || errors.As(err, &late) || errors.As(err, &much) || errors.Is(err, context.DeadlineExceeded)
}

// seedOf returns a seed that is the same for anyone who starts the campaign again.
func seedOf(campaign, experiment string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(campaign + "\x00" + experiment)) // never fails
	return strconv.FormatUint(h.Sum64()>>33, 10)
}

// Jobs returns the IDs of a campaign's jobs, by experiment and host. Without a name, it returns all campaigns'
// jobs. Temporal lists new jobs with a delay.
func (c Campaigns) Jobs(ctx context.Context, campaign string) ([]string, error) {
	prefix := campaignPrefix
	if campaign != "" {
		if err := (Job{Campaign: campaign, Experiment: "e", Host: "h"}).check(); err != nil {
			return nil, err
		}
		prefix = idOf(campaign)
	}
	var ids []string
	query := fmt.Sprintf("WorkflowType='%s' AND WorkflowId STARTS_WITH '%s'", typeExperiment, prefix)
	err := c.list(ctx, query, func(id string, _ *commonpb.Memo) { ids = append(ids, id) })
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 && campaign != "" {
		return nil, filewise.Errorf(filewise.CodeNotFound, "\"filewise campaign list\" lists them; what has ended Temporal keeps for the "+
			"retention of its namespace only", "there is no campaign %q", campaign)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil // a job that was continued as new is listed several times
}

// Ended reports whether the job has ended, so that nothing more will come.
func (s State) Ended() bool {
	return !s.Ending && (s.Condition == Done || s.Condition == Stopped || s.Condition == Failed || s.Condition == Lost)
}

// Tell pauses, resumes or stops jobs that have not ended, and returns their number. Resuming also restarts jobs
// that failed or were lost, if a worker of their host is there; such a job goes on with the host's store.
func (c Campaigns) Tell(ctx context.Context, jobs []string, word string) (n int, err error) {
	all, err := c.States(ctx, jobs)
	if err != nil {
		return 0, err
	}
	if word == wordResume {
		if n, err = c.again(ctx, all); err != nil {
			return n, err
		}
	}
	all = slices.DeleteFunc(all, State.Ended)
	var heard atomic.Int64
	err = each(ctx, len(all), func(ctx context.Context, i int) error {
		var ended *serviceerror.NotFound
		err := c.SignalWorkflow(ctx, all[i].id(), "", control, word)
		if errors.As(err, &ended) {
			return nil
		}
		if err == nil {
			heard.Add(1)
		}
		return unreachable(err)
	})
	return n + int(heard.Load()), err
}

// again restarts the jobs that have ended without being measured, and returns their number.
func (c Campaigns) again(ctx context.Context, all []State) (n int, err error) {
	all = slices.DeleteFunc(slices.Clone(all), func(s State) bool { return !s.Ended() || s.Condition != Failed && s.Condition != Lost })
	if len(all) == 0 {
		return 0, nil
	}
	hosts, err := c.Hosts(ctx)
	if err != nil {
		return 0, err
	}
	for _, s := range all {
		if !slices.ContainsFunc(hosts, func(p Present) bool { return p.Host == s.Host && p.Working }) {
			continue
		}
		begun, err := c.begin(ctx, s.Job, enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
		if err != nil {
			return n, unreachable(err)
		}
		if begun {
			n++
		}
	}
	return n, nil
}

// Wait returns once all jobs have ended, and reports each that has. Temporal may be away in the meantime.
func (c Campaigns) Wait(ctx context.Context, jobs []string, report func(State)) error {
	for _, id := range jobs {
		for {
			var end State
			err := c.GetWorkflow(ctx, id, "").Get(ctx, &end)
			var cut *temporal.WorkflowExecutionError // ended by a user on Temporal
			if errors.As(err, &cut) {
				end, err = c.state(ctx, id)
			}
			if err == nil {
				report(end)
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !away(err) {
				return unreachable(err)
			}
			if err := (filewise.RealClock{}).Sleep(ctx, askAgain); err != nil {
				return err
			}
		}
	}
	return nil
}
