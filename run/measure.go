package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"filewise"
	"filewise/archive"
	"filewise/experiment"
	"filewise/hostlock"
	"filewise/internal/process"
	"filewise/report"
	"filewise/store"
)

// measurement is a run that is being measured.
type measurement struct {
	Options
	env   *Environment
	store *store.Store
	told  *notices
}

// measure takes the trials that a run, new or resumed, still wants, and stores them and
// how it ended.
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
	m.told.need(m.env.needs())
	if err := m.env.takeDump(ctx, watch); err != nil {
		live.observer.Close()
		out, err := m.finish(ctx, run, done, experiment.Decision{}, err)
		live.ended(ctx, m.store)
		return out, err
	}
	runner := m.env.runner(watch)
	runner.Plan, runner.Drivers = run.Plan, crew
	runner.Probes, runner.Ceilings, runner.Notify = probes(run.Plan.Target), m.env.ceilings(), live.hear
	runner.Guard, runner.Await = m.told.guard(watch.guard), m.before(live.await(m.told.await(watch.await)))
	runner.Record = m.recorder(run.ID, watch)
	done, decision, err := runner.Run(ctx, done)
	live.observer.Close()
	out, err := m.finish(ctx, run, done, decision, err)
	live.ended(ctx, m.store)
	return out, err
}

// runner measures the plan's trials, watched, and stores none.
func (env *Environment) runner(w *watch) *experiment.Runner {
	return &experiment.Runner{
		Plan: env.Plan, Workload: env.Workload, Server: env.Server, Clock: w.clock, Parallel: runtime.NumCPU(),
		Guard: w.guard, Await: w.await, Ended: w.ended, Calibrate: env.calibrator(),
		Record: func(_ context.Context, t filewise.Trial) error { w.recorded(t); return nil },
	}
}

// recorder stores trials, without secrets in the reasons of failures, and tells the watch
// and people of them.
func (m *measurement) recorder(id int64, w *watch) func(context.Context, filewise.Trial) error {
	to := m.store.Recorder(id)
	return func(ctx context.Context, t filewise.Trial) error {
		t.Reason = m.hide(t.Reason)
		t.Warnings = append(t.Warnings, clientWarnings(t)...)
		w.recorded(t)
		m.told.recorded(t)
		return to.Record(ctx, t)
	}
}

// Unstored measures a plan, stores nothing, and returns its trials.
func Unstored(ctx context.Context, p experiment.Plan, o Options) (trials []filewise.Trial, d experiment.Decision, err error) {
	env, err := SetUp(ctx, o.Engine, p, o.Login)
	if err != nil {
		return nil, d, err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	return env.Unstored(ctx, o, func(experiment.Event) {})
}

// Unstored measures the plan in an environment that is set up, as the function does.
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
	if filewise.CodeOf(cause) == filewise.CodeUsage { // a mistake in the study: to go on would meet it again
		d = experiment.Decision{Ending: experiment.Broken, Why: m.hide(cause.Error())}
	}
	run.Ending, run.Why = d.Ending, d.Why
	if out.Data, err = archive.Data(run, done, j); err != nil {
		return out, errors.Join(cause, err)
	}
	end := store.Outcome{State: state, Ending: d.Ending, Why: d.Why, Verdict: report.Verdict(out.Data)}
	if err := m.store.Finish(ctx, run.ID, end); err != nil {
		return out, errors.Join(cause, err)
	}
	if out.Run, err = m.store.Run(ctx, run.ID); err != nil {
		return out, errors.Join(cause, err)
	}
	if out.Data, err = archive.Data(out.Run, done, j); err != nil {
		return out, errors.Join(cause, err)
	}
	m.told.ended(out, cause)
	if err := m.result(out); err != nil {
		return out, errors.Join(cause, err)
	}
	if cause == nil && d.Ending == experiment.Broken {
		cause = filewise.Errorf(filewise.CodeTrials, fmt.Sprintf("filewise show %d lists every trial with its reason", run.ID), "%s", d.Why)
	}
	return out, cause
}

// stateAfter is the state of a run that ended by a decision, or by an error.
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

// Measured is a run with the process that measures it.
type Measured struct {
	Run   int64 // 0: of another store
	Owner process.Identity
}

func (m Measured) String() string {
	if m.Run == 0 {
		return fmt.Sprintf("the run of %v", m.Owner)
	}
	return fmt.Sprintf("run %d (%v)", m.Run, m.Owner)
}

// Measuring finds the run that is being measured: the one that ref names, the one of the
// store that runs, or the one that holds this host's measuring lock.
func Measuring(ctx context.Context, path, ref string) (Measured, error) {
	if ref != "" {
		s, err := archive.Load(ctx, path, ref)
		if err != nil {
			return Measured{}, err
		}
		if s.State != store.Running {
			return Measured{}, filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "run %d is not being measured: it is %s",
				s.ID, s.State)
		}
		return Measured{s.ID, s.Owner}, nil
	}
	holder, held, err := hostlock.Current(ctx)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return Measured{}, err
	}
	running, elsewhere, err := running(ctx, path)
	if err != nil {
		return Measured{}, err
	}
	for _, r := range running {
		if len(running) == 1 || held && r.Owner.PID == holder.PID {
			return r, nil
		}
	}
	switch {
	case len(running) == 0 && (!held || holder.PID <= 0) && len(elsewhere) > 0:
		return elsewhere[0], nil // which nobody can stop from here, as is said of it
	case held && holder.PID <= 0: // a number that the kernel has no word for here
		return Measured{}, filewise.Errorf(filewise.CodeBusy, "stop it there", "what is measured on this host is measured in another container")
	case len(running) > 1:
		names := filewise.Each(running, func(m Measured) string { return fmt.Sprint(m.Run) })
		return Measured{}, filewise.Errorf(filewise.CodeUsage, "name one: "+strings.Join(names, ", "), "%d runs are being measured", len(running))
	case !held:
		return Measured{}, filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "nothing is being measured on this host")
	}
	id, err := process.Of(holder.PID)
	if err != nil {
		return Measured{}, filewise.Errorf(filewise.CodeNotFound, "try again", "process %d, which measured, cannot be found: %w", holder.PID, err)
	}
	// The number may just have been given to another process.
	if again, held, err := hostlock.Current(ctx); err != nil || !held || again.PID != holder.PID {
		return Measured{}, errors.Join(filewise.Errorf(filewise.CodeNotFound, "filewise list shows the runs", "the run has just ended"), err)
	}
	return Measured{0, id}, nil
}

// running are the runs of the store that are being measured; elsewhere are those by processes
// that cannot be seen from here.
func running(ctx context.Context, path string) (here, elsewhere []Measured, err error) {
	infos, err := archive.List(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	for _, info := range infos {
		if info.State != store.Running {
			continue
		}
		s, err := archive.Load(ctx, path, strconv.FormatInt(info.ID, 10))
		if err != nil {
			return nil, nil, err
		}
		switch m := (Measured{info.ID, s.Owner}); {
		case s.State != store.Running:
		case s.Owner.Status() == process.Alive:
			here = append(here, m)
		default:
			elsewhere = append(elsewhere, m)
		}
	}
	return here, elsewhere, nil
}
