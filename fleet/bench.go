package fleet

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"filewise"
	"filewise/fleet/drivers"
	"filewise/internal/fault"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/run"
	"filewise/run/plan"
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

// mayPass reports whether an error comes from a server that does not answer, such as one that is starting, or from a
// fault of the host. A directory that an account may not use stays so.
func mayPass(err error) bool {
	var network *net.OpError
	_, known := fault.Of(err)
	return errors.As(err, &network) || known && !errors.Is(err, filewise.ErrVolume) && !errors.Is(err, fs.ErrPermission)
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
