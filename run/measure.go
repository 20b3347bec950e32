package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/report"
	"filewise/results/store"
)

// measurement holds the state of a run in progress.
type measurement struct {
	Options
	env     *Environment
	store   *store.Store
	notices *notices
}

// measure runs the trials that a new or resumed run still needs, and stores them and how the run ended.
func (m *measurement) measure(ctx context.Context, run store.Run, done []filewise.Trial) (Outcome, error) {
	crew, leave, err := m.drivers(ctx, run.Plan, m.env.Server)
	if err != nil {
		return Outcome{}, err
	}
	defer leave()
	if run, err = m.begin(ctx, run); err != nil {
		return Outcome{}, err
	}
	m.env.lock.SetRun(strconv.FormatInt(run.ID, 10))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	live, err := m.live(run, done, stop)
	if err != nil {
		return Outcome{Run: run}, err
	}
	defer live.close()
	watch, err := newWatch(m.env, m.limited(run.Plan), m.clock(), live.hear)
	if err != nil {
		live.observer.Close()
		return Outcome{Run: run}, err
	}
	m.notices.need(m.env.needs())
	if err := m.env.takeDump(ctx, watch); err != nil {
		live.observer.Close()
		out, err := m.finish(ctx, run, done, experiment.Decision{}, err)
		live.ended(ctx, m.store)
		return out, err
	}
	runner := m.env.runner(watch)
	runner.Plan, runner.Drivers = run.Plan, crew
	runner.Probes, runner.Ceilings, runner.Notify = probes(run.Plan.Target), m.env.ceilings(), live.hear
	runner.Guard, runner.Await = m.notices.guard(watch.guard), m.before(live.await(m.notices.await(watch.await)))
	runner.Record, runner.Redesign = m.recorder(run.ID, watch), m.redesign(&run, runner)
	runner.Left = m.left
	runner.Unchanged = func(ctx context.Context) error { return m.unchanged(ctx, run, true) }
	runner.Fix = func(ctx context.Context, p experiment.Plan) error {
		run.Plan = p
		return m.store.Redesign(ctx, run.ID, p, run.Server)
	}
	done, decision, err := runner.Run(ctx, done)
	live.observer.Close()
	out, err := m.finish(ctx, run, done, decision, err)
	live.ended(ctx, m.store)
	return out, err
}

// runner returns a runner that measures the plan's trials under watch, and stores none.
func (env *Environment) runner(w *watch) *experiment.Runner {
	return &experiment.Runner{
		Plan: env.Plan, Workload: env.Workload, Server: env.Server, Clock: w.clock, Parallel: runtime.NumCPU(),
		Guard: w.guard, Await: w.await, Ended: w.ended, Calibrate: env.calibrator(),
		Stopped: env.stopped(),
		Record:  func(_ context.Context, t filewise.Trial) error { w.recorded(t); return nil },
	}
}

// recorder returns a function that stores trials, and passes them to the watch and to notifications. Secrets are hidden
// in warnings and in reasons of failures.
func (m *measurement) recorder(id int64, w *watch) func(context.Context, filewise.Trial) error {
	to := m.store.Recorder(id)
	return func(ctx context.Context, t filewise.Trial) error {
		t.Reason = m.hide(t.Reason)
		for i := range t.Warnings {
			t.Warnings[i].Message = m.hide(t.Warnings[i].Message)
		}
		t.Warnings = append(t.Warnings, clientWarnings(t)...)
		w.recorded(t)
		m.notices.recorded(t)
		return to.Record(ctx, t)
	}
}

// left warns that a run, whose results are stored, has left something behind.
func (o Options) left(err error) {
	if o.Warn != nil {
		o.Warn(o.hide(err.Error()) + ": run “filewise clean” once the cause is gone")
	}
}

// Unstored measures a plan and returns its trials without storing them.
func Unstored(ctx context.Context, p experiment.Plan, o Options) (trials []filewise.Trial, d experiment.Decision, err error) {
	env, err := SetUp(ctx, o.Engine, p, o.Login, "")
	if err != nil {
		return nil, d, err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	return env.Unstored(ctx, o, func(experiment.Event) {})
}

// Unstored measures the plan in an environment that is set up, and returns its trials without storing them.
func (env *Environment) Unstored(ctx context.Context, o Options, notify func(experiment.Event)) (trials []filewise.Trial,
	d experiment.Decision, err error) {
	_, _, err = o.drivers(ctx, env.Plan, nil)
	if err != nil {
		return nil, d, err
	}
	w, err := newWatch(env, env.Plan, o.clock(), notify)
	if err == nil {
		err = env.takeDump(ctx, w)
	}
	if err != nil {
		return nil, d, err
	}
	runner := env.runner(w)
	runner.Notify = notify
	return runner.Run(ctx, nil)
}

// finish stores how the run ended, also when it was interrupted.
func (m *measurement) finish(ctx context.Context, run store.Run, done []filewise.Trial, d experiment.Decision, cause error) (Outcome,
	error) {
	ctx = context.WithoutCancel(ctx)
	out := Outcome{Run: run}
	j, err := run.Plan.Judge(done)
	if err != nil {
		return out, errors.Join(cause, err)
	}
	state := stateAfter(d, cause)
	if filewise.CodeOf(cause) == filewise.CodeUsage { // a mistake in the study, which a resumed run would meet again
		d = experiment.Decision{Ending: experiment.Broken, Why: m.hide(cause.Error())}
	}
	run.Ending, run.Why = d.Ending, d.Why
	if out.Data, err = archive.Data(run, done, j); err != nil {
		return out, errors.Join(cause, err)
	}
	end := store.Outcome{State: state, Ending: d.Ending, Why: d.Why, Verdict: report.Verdict(out.Data), Decisions: j.Decisions()}
	if err := m.store.Finish(ctx, run.ID, end); err != nil {
		return out, errors.Join(cause, err)
	}
	if out.Run, err = m.store.Run(ctx, run.ID); err != nil {
		return out, errors.Join(cause, err)
	}
	if out.Data, err = archive.Data(out.Run, done, j); err != nil {
		return out, errors.Join(cause, err)
	}
	m.notices.ended(out, cause)
	if err := m.result(out); err != nil {
		return out, errors.Join(cause, err)
	}
	if cause == nil && d.Ending == experiment.Broken {
		cause = filewise.Errorf(filewise.CodeTrials, fmt.Sprintf("filewise show %d lists every trial with its reason", run.ID), "%s", d.Why)
	}
	return out, cause
}

// stateAfter returns the state of a run that ended by a decision, or by an error.
func stateAfter(d experiment.Decision, cause error) store.State {
	switch code := filewise.CodeOf(cause); {
	case code == filewise.CodeUsage:
		return store.Failed
	case errors.Is(cause, context.Canceled), code == filewise.CodeStopped, code == filewise.CodeBusy:
		return store.Interrupted
	case cause != nil || d.Ending == experiment.Broken:
		return store.Failed
	}
	return store.Done
}
