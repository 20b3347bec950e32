package fleet

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"filewise"
	"filewise/fleet/drivers"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/report"
	"filewise/results/store"
	"filewise/run"
	"filewise/run/plan"
	"filewise/watch/web"
)

// Site holds a host's settings for measuring.
type Site struct {
	Offer
	// Make plans a job's experiment as "run" on this host would.
	Make func(Job) (plan.Made, error)
	// Options returns the options of a plan's run.
	Options func(plan.Made) run.Options
	// Engine and Login open a driver's target, with this host's own password.
	Engine func(string) (filewise.Engine, error)
	Login  func(filewise.Target) run.Login
	// Hide removes secrets from what Temporal gets.
	Hide func(string) string
	// Say reports to the user who started the worker.
	Say func(string)
}

// The times of a worker. Temporal notices within heartbeatWithin that a worker is dead. A run waits for the request of
// its next trial for idleFor. Then it releases the host, and after a later request it resumes as after any interrupt.
// Trials go on without a request until Share is over: a request costs Temporal some 10 ms of CPU, so it bears many
// hosts however short their trials are.
const (
	Share = 5 * time.Second

	heartbeatWithin = 20 * time.Second
	heartbeatEvery  = 5 * time.Second
	tellEvery       = 10 * time.Second // between heartbeats to Temporal, which report what the host is doing
	idleFor         = time.Minute
	stopWithin      = 2 * time.Minute // to end a trial, and remove what it has built
)

// Request is a workflow's request to a host.
type Request struct {
	Job   Job  `json:"order"`
	After int  `json:"after,omitempty"` // number of trials that the workflow has counted, or will have when the request's turn comes
	Ahead bool `json:"ahead,omitempty"` // the previous trial is still being measured
	Open  bool `json:"open,omitempty"`  // no trial is requested yet
	Part  int  `json:"part,omitempty"`  // number of the bundle's part
}

// bench holds the activities of a host. One run is open at a time.
type bench struct {
	site   Site
	idle   time.Duration
	share  time.Duration
	driver *drivers.Driver

	mu     sync.Mutex
	open   *measuring
	faulty map[string]time.Time // by job, since when a fault that may pass has stopped it
	bundle struct {             // the bundle that was read last
		name   string
		trials int
		sum    string
		bytes  []byte
	}
}

// Next measures until more trials are stored than the workflow has counted, and its share is over. It returns the run's
// standing. Stored trials are not measured again, so a repeated request does no harm. A request to open the run returns
// once the run waits for the request of its first trial.
func (b *bench) Next(ctx context.Context, r Request) (Standing, error) {
	m, err := b.begin(r.Job)
	if err != nil {
		return Standing{}, b.unanswered(r.Job, err)
	}
	beat := time.NewTicker(heartbeatEvery)
	defer beat.Stop()
	t := &turn{Request: r}
	defer m.release(t)
	for {
		s, changed, err := m.grant(t, b.share)
		switch {
		case err != nil:
			return s, b.unanswered(r.Job, err)
		case changed == nil:
			b.passed(r.Job)
			return s, nil
		}
		select {
		case <-changed:
		case <-beat.C:
			activity.RecordHeartbeat(ctx, m.now())
		case <-ctx.Done():
			if unheard(context.Cause(ctx)) || !m.mayEnd(t) {
				return s, ctx.Err()
			}
			m.close()
			return m.now(), nil // so that its results come home
		}
	}
}

// unheard reports whether a request's heartbeats did not reach Temporal. Then no end was requested, and the trial goes
// on.
func unheard(cause error) bool {
	var unknown *serviceerror.NotFound // the request was given up in the meantime, and is repeated
	return away(cause) || errors.As(cause, &unknown)
}

// Close ends a job's run cleanly, if it is open. Next resumes it.
func (b *bench) Close(_ context.Context, r Request) error {
	b.mu.Lock()
	m := b.open
	b.mu.Unlock()
	if m != nil && m.name == r.Job.Name() {
		m.close()
	}
	return nil
}

// begin returns the job's run. If the run is not open, begin opens it, new or as it was left.
func (b *bench) begin(o Job) (*measuring, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open != nil && !b.open.over() {
		if b.open.name == o.Name() {
			return b.open, nil
		}
		return nil, filewise.Errorf(filewise.CodeBusy, "", "the host measures %q", b.open.name)
	}
	if b.driver != nil && b.driver.Busy() {
		return nil, filewise.Errorf(filewise.CodeBusy, "", "the host is a driver of a run")
	}
	made, err := b.site.Make(o)
	if err != nil {
		return nil, err
	}
	naming := plan.Naming{Name: o.Name(), Tags: append([]string{"campaign=" + o.Campaign, hostTag + b.site.Host}, b.site.Labels...)}
	if err := naming.Apply(&made.Plan); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &measuring{name: o.Name(), host: b.site.Host, idle: b.idle, cancel: cancel,
		permit: make(chan struct{}, 1), done: make(chan struct{}), changed: make(chan struct{})}
	opts := b.site.Options(made)
	opts.Before, opts.Observe, opts.Result = m.before, m.observe, nil
	go m.run(ctx, made, opts)
	b.open = m
	return m, nil
}

// unanswered returns the error for what stops a job. Faults that may pass are waited for as long as the job's host
// is.
func (b *bench) unanswered(o Job, err error) error {
	if !mayPass(err) {
		return b.refused(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.faulty == nil {
		b.faulty = map[string]time.Time{}
	}
	since, again := b.faulty[o.id()]
	if !again {
		b.faulty[o.id()] = time.Now()
	} else if time.Since(since) > o.Patience {
		delete(b.faulty, o.id())
		return b.refused(err)
	}
	return b.later(err)
}

// passed records that the job goes on.
func (b *bench) passed(o Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.faulty, o.id())
}

// mayPass reports whether an error comes from a server that does not answer, such as one that is starting, or from
// storage that is full or failing.
func mayPass(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) || slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO}, func(fault error) bool {
		return errors.Is(err, fault)
	})
}

// later returns an error after which the same request is repeated.
func (b *bench) later(err error) error {
	return temporal.NewApplicationErrorWithOptions(b.site.Hide(err.Error()), string(filewise.CodeOf(err)),
		temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign}) // expected: no worker logs it
}

// refused returns an error in the form for the workflow. If waiting may help, the request is retried.
func (b *bench) refused(err error) error {
	switch code := filewise.CodeOf(err); {
	case code == filewise.CodeBusy || code == filewise.CodeStopped || errors.Is(err, context.Canceled):
		return b.later(err)
	default:
		text := b.site.Hide(err.Error())
		if remedy := filewise.RemedyOf(err); remedy != "" {
			text += "\n→ " + b.site.Hide(remedy)
		}
		return temporal.NewNonRetryableApplicationError(text, string(code), nil)
	}
}

// measuring is a run of package run that stops before each trial until the trial is requested.
type measuring struct {
	name   string
	host   string
	cancel context.CancelFunc
	permit chan struct{}
	done   chan struct{}
	idle   time.Duration

	data report.Data // so far; has one writer at a time

	mu      sync.Mutex
	at      Standing
	waiting bool // the run waits before a trial
	holder  *turn
	told    int // trials that the previous holder has counted
	stood   int // trials when the run waited last
	ended   bool
	err     error
	changed chan struct{} // closed if any of these changes
}

// turn is a request that is being answered.
type turn struct {
	Request
	since time.Time // when the run was allowed to go on for it
}

func (m *measuring) alter(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
	close(m.changed)
	m.changed = make(chan struct{})
}

// grant lets the run go on if it waits and the request's turn has come. changed is nil if the run waits with more
// trials than the workflow has counted, and the share is over.
func (m *measuring) grant(t *turn, share time.Duration) (s Standing, changed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	holds := m.holder == t
	if t.Ahead && !holds {
		t.After = max(t.After, m.told)
	}
	switch {
	case t.Open && m.waiting:
		return m.at, nil, nil
	case t.Open && !m.ended:
		return m.at, m.changed, nil
	case m.ended || m.stood > t.After && (!holds && (!t.Ahead || m.holder == nil) || holds && m.waiting && time.Since(t.since) >= share):
		return m.at, nil, m.err
	case m.waiting && (holds || !t.Ahead || m.holder == nil && m.at.Trials >= t.After):
		if !holds {
			m.holder, t.since = t, time.Now()
		}
		m.waiting = false
		m.permit <- struct{}{}
	}
	return m.at, m.changed, nil
}

// release lets the request that was made ahead go on.
func (m *measuring) release(t *turn) {
	m.mu.Lock()
	held := m.holder == t
	m.mu.Unlock()
	if held {
		m.alter(func() { m.holder, m.told = nil, m.at.Trials })
	}
}

// mayEnd reports whether the trial is measured for this request, which may then end the trial.
func (m *measuring) mayEnd(t *turn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !t.Ahead || m.holder == t
}

// now returns the run's standing, with its present work.
func (m *measuring) now() Standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at
}

// before waits until the next trial is requested. It is run.Options.Before.
func (m *measuring) before(ctx context.Context) error {
	m.alter(func() { m.waiting, m.stood = true, m.at.Trials })
	late := time.NewTimer(m.idle)
	defer late.Stop()
	select {
	case <-m.permit:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return filewise.Errorf(filewise.CodeStopped, "", "no one has asked for the next trial for %v", m.idle)
	}
}

// observe shows the run to the workflow. It is run.Options.Observe.
func (m *measuring) observe(d report.Data, _ *web.Monitor) run.Observer {
	m.data = d
	m.alter(func() { m.at.Run = d.RunID; m.at.count(d.Trials) })
	return m
}

// Notify receives stages, and stored trials.
func (m *measuring) Notify(e experiment.Event) {
	switch e.Kind {
	case experiment.EventStage:
		doing := report.Place(m.data, e.Cell) + ", " + e.Cell.Layout + ": " + e.Stage
		m.mu.Lock()
		defer m.mu.Unlock()
		m.at.Doing = doing // a heartbeat reports it
	case experiment.EventRecorded:
		m.data.Trials, m.data.Judgement = append(m.data.Trials, *e.Trial), e.Judgement
		layouts, verdict := estimates(m.data), report.Verdict(m.data)
		m.alter(func() {
			m.at.count(m.data.Trials)
			m.at.Doing, m.at.Layouts = "", layouts
			m.at.Verdict = verdict
		})
	}
}

// count updates the standing from the stored trials.
func (s *Standing) count(trials []filewise.Trial) {
	s.Trials, s.Beside = len(trials), 0
	for _, t := range trials {
		if t.Cell.Pilot || t.State != filewise.Done {
			s.Beside++
		}
	}
}

// estimates returns the estimates of the first family, which covers all families if there are several.
func estimates(d report.Data) (out []web.Estimate) {
	for _, l := range report.Families(d)[0].Layouts {
		if !l.Baseline {
			out = append(out, web.Estimate{Layout: l.Name, Text: l.Text, Mark: l.Mark, Percent: l.Percent, Low: l.PercentLow, High: l.PercentHigh})
		}
	}
	return out
}

// Close implements run.Observer.
func (m *measuring) Close() {}

func (m *measuring) over() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

// close ends the run cleanly, and waits for its end.
func (m *measuring) close() {
	m.cancel()
	<-m.done
}

// run measures the plan, or resumes the run that has its name.
func (m *measuring) run(ctx context.Context, made plan.Made, o run.Options) {
	defer close(m.done)
	defer m.cancel()
	out, err := m.measure(ctx, made, o)
	m.alter(func() {
		m.ended, m.err, m.at.Doing = true, err, ""
		if out.Run.ID != 0 {
			m.at.Run, m.at.Verdict, m.at.Why = out.Run.ID, out.Run.Verdict, out.Run.Why
			m.at.count(out.Data.Trials)
		}
		m.at.Ended = err == nil
	})
}

func (m *measuring) measure(ctx context.Context, made plan.Made, o run.Options) (run.Outcome, error) {
	ref, err := own(ctx, o.Store, m.name, m.host)
	if filewise.CodeOf(err) == filewise.CodeNotFound {
		return run.Run(ctx, made.Plan, o)
	}
	if err != nil {
		return run.Outcome{}, err
	}
	r, _, err := run.Unfinished(ctx, o.Store, ref)
	if err != nil {
		return run.Outcome{}, err
	}
	return run.Resume(ctx, r, o)
}

// own returns the number of the run with this name that this host has measured. The store may also hold another host's
// run with the name: fetched, or measured by a second worker into the same store. If there is none, the error has
// CodeNotFound.
func own(ctx context.Context, path, name, host string) (ref string, err error) {
	runs, err := archive.List(ctx, path)
	if err != nil {
		return "", err
	}
	for _, r := range slices.Backward(runs) {
		if r.Name == name && r.Origin == nil && slices.Contains(r.Tags, hostTag+host) {
			return strconv.FormatInt(r.ID, 10), nil
		}
	}
	return "", filewise.Errorf(filewise.CodeNotFound, "", "host %s has measured no run %q", host, name)
}

const hostTag = "host="

// find returns the job's run from the host's store.
func (b *bench) find(ctx context.Context, o Job) (archive.Run, error) {
	made, err := b.site.Make(o)
	if err != nil {
		return archive.Run{}, err
	}
	path := b.site.Options(made).Store
	ref, err := own(ctx, path, o.Name(), b.site.Host)
	if err != nil {
		return archive.Run{}, err
	}
	return archive.Load(ctx, path, ref)
}

// partBytes is the size of a bundle's part in one answer. Temporal takes 2 MiB, in base64.
const partBytes = 512 << 10

// Export returns a part of the bundle of a job's run.
func (b *bench) Export(ctx context.Context, r Request) (Part, error) {
	found, err := b.find(ctx, r.Job)
	if err != nil {
		return Part{}, b.refused(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := &b.bundle
	if kept.name != r.Job.Name() || kept.trials != len(found.Trials) || r.Part == 0 {
		by := store.Manifest{Version: b.site.Version, Exported: time.Now(), Host: b.site.Host}
		if kept.bytes, kept.sum, err = bundleOf(found, by); err != nil {
			return Part{}, b.refused(err)
		}
		kept.name, kept.trials = r.Job.Name(), len(found.Trials)
	}
	p := Part{Bundle{kept.sum, (len(kept.bytes) + partBytes - 1) / partBytes, kept.trials}, r.Part, nil}
	if r.Part >= p.Parts {
		return p, b.refused(filewise.Errorf(filewise.CodeInternal, "", "the bundle has no part %d", r.Part))
	}
	p.Bytes = kept.bytes[r.Part*partBytes : min((r.Part+1)*partBytes, len(kept.bytes))]
	return p, nil
}
