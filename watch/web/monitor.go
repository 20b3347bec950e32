package web

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/experiment"
	"filewise/lab/probe"
	"filewise/results/report"
)

// Monitor follows a run of this process, and can pause and stop it. It does work only when it gets a request. It is
// safe for concurrent use.
type Monitor struct {
	store     string
	preflight []filewise.Warning
	stop      func()

	mu       sync.Mutex // never held for long, since the run waits for it
	version  uint64
	data     report.Data // its slices only grow
	notes    []Line
	trial    running
	waiting  string
	stopping bool
	resumed  chan struct{} // closed when the pause ends. Nil means no pause

	making  sync.Mutex // held while progress is computed
	made    Progress
	madeFor uint64

	course soFar
}

// running holds the state of the running trial.
type running struct {
	cell            filewise.Cell
	stage           string
	started         time.Time // zero means no trial runs
	operation, unit string
	live            *drive.Live
	probes          *probe.Live
}

// NewMonitor returns a monitor for a run of a store. d holds the run's earlier trials and the preflight's warnings.
// stop ends the run cleanly.
func NewMonitor(d report.Data, store string, stop func()) *Monitor {
	m := &Monitor{store: store, stop: stop, version: newVersion(), data: d, preflight: d.Judgement.Warnings}
	if j, err := d.Plan.Judge(d.Trials); err == nil {
		m.data.Judgement = m.judged(j)
	}
	return m
}

// judged adds the preflight's warnings to a newer judgement.
func (m *Monitor) judged(j experiment.Judgement) experiment.Judgement {
	j.Warnings = append(slices.Clone(m.preflight), j.Warnings...)
	return j
}

// Notify receives an event. It never waits, and takes microseconds however many clients there are.
func (m *Monitor) Notify(e experiment.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e.Kind {
	case experiment.EventWaiting:
		m.trial, m.waiting = running{}, e.Waits()
		m.note(e.Waits())
	case experiment.EventDesign:
		m.data.Plan = *e.Plan
		m.note(e.Why)
	case experiment.EventStage:
		m.waiting = ""
		if m.trial.started.IsZero() || m.trial.cell != e.Cell {
			m.trial = running{cell: e.Cell, started: time.Now()}
		}
		t := &m.trial
		t.stage = e.Stage
		if e.Live != nil || e.Probes != nil {
			t.live, t.probes, t.operation, t.unit = e.Live, e.Probes, e.Operation, e.Unit
		}
	case experiment.EventRecorded:
		m.version++
		m.data.Trials = append(m.data.Trials, *e.Trial)
		m.data.Judgement = m.judged(e.Judgement)
		m.trial = running{}
	}
}

// note adds a line to the log. The caller holds the lock.
func (m *Monitor) note(text string) {
	m.notes = append(m.notes, Line{At: time.Now(), Text: text})
	m.notes = m.notes[max(0, len(m.notes)-logLines):]
	m.version++
}

// End sets the final state of the run, as stored.
func (m *Monitor) End(d report.Data) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version++
	m.data, m.trial, m.waiting = d, running{}, ""
}

// Pause keeps further trials from starting.
func (m *Monitor) Pause() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.resumed == nil && !m.stopping {
		m.resumed = make(chan struct{})
		m.note("pause asked for: no further trial starts")
	}
}

// Resume ends the pause.
func (m *Monitor) Resume() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.resumed != nil {
		close(m.resumed)
		m.resumed = nil
		m.note("resumed")
	}
}

// Stop ends the run cleanly, as Ctrl-C does.
func (m *Monitor) Stop() {
	m.mu.Lock()
	if !m.stopping {
		m.stopping = true
		m.note("stop asked for: the running trial ends, and is not recorded")
	}
	m.mu.Unlock()
	m.stop()
}

// Await returns when the run is not paused. During a pause it calls waiting once. Its error is the context's.
func (m *Monitor) Await(ctx context.Context, waiting func(experiment.Event)) error {
	for {
		m.mu.Lock()
		resumed := m.resumed
		m.mu.Unlock()
		if resumed == nil {
			return ctx.Err()
		}
		waiting(experiment.Event{Kind: experiment.EventWaiting, Why: "paused by the live page, until it is resumed there"})
		select {
		case <-resumed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Status returns the current state. It leaves out the Progress if the client has it already.
func (m *Monitor) Status(ctx context.Context, known uint64) Status {
	m.mu.Lock()
	s := Status{Store: m.store, Run: m.data.RunID, Version: m.version}
	d, notes, trial := m.data, m.notes, m.trial
	s.Now = &Now{PID: os.Getpid(), Waiting: m.waiting, Pausing: m.resumed != nil, Stopping: m.stopping}
	m.mu.Unlock()
	if s.Version != known {
		p := m.progress(d, notes, s.Version)
		s.Progress = &p
	}
	if !d.Ended.IsZero() {
		s.Now = nil
	} else if !trial.started.IsZero() {
		m.look(ctx, s.Now, d, trial)
	}
	return s
}

// progress returns the progress, which is computed once for each version.
func (m *Monitor) progress(d report.Data, notes []Line, version uint64) Progress {
	m.making.Lock()
	defer m.making.Unlock()
	if m.madeFor != version {
		m.made, m.madeFor = ProgressOf(d), version
		m.made.Log = merged(m.made.Log, notes)
	}
	return m.made
}

// look fills in what the running trial is doing.
func (m *Monitor) look(ctx context.Context, n *Now, d report.Data, t running) {
	now := time.Now()
	n.Cell, n.Place, n.Stage, n.Operation, n.Unit = t.cell, report.Place(d, t.cell), t.live.Stage(t.stage), t.operation, t.unit
	n.Seconds = now.Sub(t.started).Seconds()
	if t.live != nil {
		if x := t.live.Throughput(now); x > 0 && t.live.Phase() != drive.PhaseOver {
			n.Throughput = &x
		}
		c := m.course.of(t.live)
		n.Course = &c
		n.Earlier = earlier(d.Trials, t.cell.Layout, t.operation)
	}
	if t.probes != nil {
		if deltas, since, ok := t.probes.Deltas(ctx); ok {
			n.Counters, n.CountersSeconds = counters(deltas, since), since.Seconds()
		}
	}
}

// merged returns the last lines of two logs in the order of time.
func merged(a, b []Line) []Line {
	out := make([]Line, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && !a[0].At.After(b[0].At) {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out[max(0, len(out)-logLines):]
}
