package fleet

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/report"
	"filewise/run"
	"filewise/run/plan"
	"filewise/watch/web"
)

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
	counted int // trials that the previous holder has counted
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
		t.After = max(t.After, m.counted)
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
		m.alter(func() { m.holder, m.counted = nil, m.at.Trials })
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
	s.Trials, s.Uncounted = len(trials), 0
	for _, t := range trials {
		if t.Cell.Pilot || t.State != filewise.Done {
			s.Uncounted++
		}
	}
}

// estimates returns the estimates of the first operation, which covers all operations if there are several.
func estimates(d report.Data) (out []web.Estimate) {
	for _, l := range report.Operations(d)[0].Layouts {
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
