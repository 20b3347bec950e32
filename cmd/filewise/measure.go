package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"filewise"
	"filewise/display"
	"filewise/engine/all"
	"filewise/experiment"
	"filewise/hostlock"
	"filewise/machine"
	"filewise/probe"
	"filewise/report"
	"filewise/scratch"
	"filewise/store"
	"filewise/workload"
)

// rig is everything that a measuring run holds: it is set up before the first
// trial and torn down whatever happens.
type rig struct {
	engine   filewise.Engine
	workload filewise.Workload
	server   filewise.Server
	target   filewise.Target // with scratch directories as volumes
	scripts  []filewise.Script
	lock     *hostlock.Lock
	undo     []func() error
}

// prepare looks everything up and checks that the engine can do the plan.
// Nothing is touched.
func prepare(p experiment.Plan) (*rig, error) {
	e, err := all.Lookup(p.Target.Engine)
	if err != nil {
		return nil, err
	}
	sc, err := workload.Lookup(p.Scenario)
	if err != nil {
		return nil, err
	}
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return nil, err
	}
	scripts, err := script(e, p, p.Program(w))
	return &rig{engine: e, workload: w, scripts: scripts}, err
}

// setUp makes everything ready for the plan's first trial, or refuses it and
// leaves nothing. It comes before the store is made, so that a refused run
// leaves no store either.
func setUp(ctx context.Context, p experiment.Plan) (*rig, error) {
	r, err := prepare(p)
	if err != nil {
		return nil, err
	}
	if err := preflight(p, r.scripts); err != nil {
		return nil, err
	}
	if err := r.open(ctx, p, p.Scenario+" on "+p.Target.Engine); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// open takes the host's measuring lock, makes scratch directories and opens the
// server.
func (r *rig) open(ctx context.Context, p experiment.Plan, label string) error {
	lock, err := hostlock.Acquire(ctx, hostlock.Holder{What: label})
	if err != nil {
		return err
	}
	r.lock, r.undo = lock, append(r.undo, surviveBrokenPipe(), lock.Release)
	reg, err := scratch.Open()
	if err != nil {
		return err
	}
	r.target = p.Target
	r.target.Volumes = nil
	for _, v := range p.Target.Volumes {
		dir, err := reg.Create(v.Dir, label)
		if err != nil {
			return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "volume %s: %w", v.Name, err)
		}
		r.undo = append(r.undo, dir.Remove)
		earlier := r.target.OnStart
		r.target.OnStart = func(pid int) error {
			if earlier != nil {
				if err := earlier(pid); err != nil {
					return err
				}
			}
			return dir.AddProcess(pid)
		}
		r.target.Volumes = append(r.target.Volumes, filewise.Volume{Name: v.Name, Dir: dir.Path})
	}
	r.server, err = r.engine.Open(ctx, r.target)
	if err != nil {
		return err
	}
	r.undo = append(r.undo, r.server.Close)
	return nil
}

// close undoes what open did, in reverse, and returns every error.
func (r *rig) close() error {
	var errs []error
	for i := len(r.undo) - 1; i >= 0; i-- {
		errs = append(errs, r.undo[i]())
	}
	r.undo = nil
	return errors.Join(errs...)
}

// measure runs what a stored run still wants, shows it, and stores how it ended.
func (a *app) measure(ctx context.Context, r *rig, st *store.Store, run store.Run, done []filewise.Trial) (err error) {
	if run, err = a.begin(ctx, st, run, r); err != nil {
		return err
	}
	r.lock.SetRun(strconv.FormatInt(run.ID, 10))
	show, err := a.display(run, done)
	if err != nil {
		return err
	}
	runner := experiment.Runner{
		Plan: run.Plan, Workload: r.workload, Server: r.server, Clock: filewise.RealClock{},
		Probes: probe.System(run.Plan.Target.Volumes), Record: st.Recorder(run.ID).Record, Guard: guard(run.Plan.Target.Volumes), Notify: show.Notify,
	}
	done, decision, err := runner.Run(ctx, done)
	show.Close()
	return a.finish(ctx, st, run, done, decision, err)
}

// begin stores the run, new or resumed, with what it runs on.
func (a *app) begin(ctx context.Context, st *store.Store, run store.Run, r *rig) (store.Run, error) {
	if run.ID != 0 {
		return st.Resume(ctx, run.ID)
	}
	var err error
	if run.Server, err = r.server.Facts(ctx); err != nil {
		return run, fmt.Errorf("facts of the server: %w", err)
	}
	run.Machine = machine.Facts(ctx, run.Plan.Target.Volumes)
	run.Version = versionString()
	run.Warnings = append(machine.Warnings(run.Plan.Target.Volumes), scriptWarnings(r.scripts)...)
	if note := describe(r.engine).Note; note != "" && run.Plan.Target.Mode != filewise.Embedded {
		run.Warnings = append(run.Warnings, filewise.Warning{Code: "engine-scope", Message: note + ".", Remedy: "Measure the engine that you want to know about."})
	}
	run.Started = time.Now().UTC()
	if run.ID, err = st.CreateRun(ctx, run); err != nil {
		return run, err
	}
	return st.Run(ctx, run.ID)
}

// scriptWarnings are those of all layouts, each code and message once.
func scriptWarnings(scripts []filewise.Script) []filewise.Warning {
	var out []filewise.Warning
	seen := make(map[filewise.Warning]bool)
	for _, s := range scripts {
		for _, w := range s.Warnings {
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// finish stores how the run ended and prints what it found. The verdict is
// printed also when the run was interrupted.
func (a *app) finish(ctx context.Context, st *store.Store, run store.Run, done []filewise.Trial, d experiment.Decision, cause error) error {
	ctx = context.WithoutCancel(ctx)
	j, err := run.Plan.Judge(done)
	if err != nil {
		return errors.Join(cause, err)
	}
	state := store.Done
	switch {
	case errors.Is(cause, context.Canceled):
		state = store.Interrupted
	case cause != nil || d.Ending == experiment.Broken:
		state = store.Failed
	}
	summary := ""
	if len(j.Sentences) > 0 {
		summary = j.Sentences[0]
	}
	if err := st.Finish(ctx, run.ID, store.Outcome{State: state, Ending: d.Ending, Why: d.Why, Verdict: summary}); err != nil {
		return errors.Join(cause, err)
	}
	if run, err = st.Run(ctx, run.ID); err != nil {
		return errors.Join(cause, err)
	}
	if err := a.printRun(run, done, j); err != nil {
		return errors.Join(cause, err)
	}
	if cause == nil && d.Ending == experiment.Broken {
		return filewise.Errorf(filewise.CodeTrials, fmt.Sprintf("filewise show %d lists every trial with its reason", run.ID), "%s", d.Why)
	}
	return cause
}

// data is a run as the report package wants it.
func data(run store.Run, trials []filewise.Trial, j experiment.Judgement) (report.Data, error) {
	sc, err := workload.Lookup(run.Plan.Scenario)
	if err != nil {
		return report.Data{}, err
	}
	d := report.Data{
		RunID: run.ID, Version: run.Version, Started: run.Started, State: string(run.State), Plan: run.Plan,
		Scenario: sc, Trials: trials, Judgement: j, Machine: run.Machine, Server: run.Server,
	}
	d.Judgement.Warnings = append(append([]filewise.Warning(nil), run.Warnings...), j.Warnings...)
	if run.Ended != nil {
		d.Ended = *run.Ended
	}
	return d, nil
}

// printRun writes the result to stdout, as text or JSON.
func (a *app) printRun(run store.Run, trials []filewise.Trial, j experiment.Judgement) error {
	d, err := data(run, trials, j)
	if err != nil {
		return err
	}
	return a.printData(d)
}

func (a *app) printData(d report.Data) error {
	if a.json {
		return report.JSON(a.stdout, d)
	}
	width, _ := terminal(a.stdout)
	return report.Terminal(a.stdout, d, report.TerminalOptions{Color: coloured(a.stdout), Width: width})
}

// display shows the run on stderr while it is measured, so that stdout holds
// the result alone.
func (a *app) display(run store.Run, done []filewise.Trial) (*display.Display, error) {
	d, err := data(run, done, experiment.Judgement{})
	if err != nil {
		return nil, err
	}
	_, live := terminal(a.stderr)
	return display.New(a.stderr, d, display.Options{Live: live && os.Getenv("TERM") != "dumb", Color: coloured(a.stderr),
		Size: func() (int, int) { return size(a.stderr) }}), nil
}
