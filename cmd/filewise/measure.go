package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/experiment"
	"filewise/machine"
	"filewise/probe"
	"filewise/report"
	"filewise/store"
)

// measure runs what a stored run still wants, shows it, and stores how it ended.
func (a *app) measure(ctx context.Context, r *rig, st *store.Store, run store.Run, done []filewise.Trial, anew *stopFlags, told *notices) (err error) {
	if run, err = a.begin(ctx, st, run, r); err != nil {
		return err
	}
	r.lock.SetRun(strconv.FormatInt(run.ID, 10))
	limited := run.Plan // what is given anew is for this time only
	if anew != nil {
		if err := anew.apply(&limited); err != nil {
			return err
		}
	}
	show, err := a.display(run, done)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	live, err := a.watched(run, done, st.Path(), show, stop)
	if err != nil {
		show.Close()
		return err
	}
	defer live.close()
	watch, err := newWatch(limited, r, live.hear)
	if err != nil {
		show.Close()
		return err
	}
	told.need(needsOf(run.Plan, r.scripts))
	runner := experiment.Runner{
		Plan: run.Plan, Workload: r.workload, Server: r.server, Clock: filewise.RealClock{},
		Probes: probes(run.Plan.Target), Record: a.recorder(st.Recorder(run.ID).Record, watch, told),
		Guard: told.guard(watch.guard), Await: live.await(told.await(watch.await)), Ended: watch.ended, Notify: live.hear, Calibrate: r.calibrator(run.Plan),
		Ceilings: r.storage.ceilings(),
	}
	done, decision, err := runner.Run(ctx, done)
	show.Close()
	err = a.finish(ctx, st, run, done, decision, err, told)
	live.ended(ctx, st)
	return err
}

// recorder stores trials, without secrets in the reasons of failures, and tells
// the watch of them.
func (a *app) recorder(record func(context.Context, filewise.Trial) error, w *watch, told *notices) func(context.Context, filewise.Trial) error {
	return func(ctx context.Context, t filewise.Trial) error {
		t.Reason = filewise.Hide(t.Reason, a.secrets...)
		t.Warnings = append(t.Warnings, clientWarnings(t)...)
		w.recorded(t)
		told.recorded(t)
		return record(ctx, t)
	}
}

// probes are those of this machine. Where the server is another one they say
// nothing about it, and are named for that.
func probes(t filewise.Target) []filewise.Probe {
	if t.Mode != filewise.External {
		return probe.System(t.Volumes)
	}
	all := probe.System(nil) // the server's directories are not this machine's
	if t.Address.Here() {
		return all
	}
	for i, p := range all {
		all[i] = clientProbe{p}
	}
	return all
}

// clientPrefix begins the names of probes that do not look at the server.
const clientPrefix = "client "

type clientProbe struct{ filewise.Probe }

// Name tells that it is not the server's.
func (p clientProbe) Name() string { return clientPrefix + p.Probe.Name() }

// clientWarnings are those about processors, of a client that is not the server.
func clientWarnings(t filewise.Trial) []filewise.Warning {
	var out []filewise.Warning
	for _, m := range t.Measures {
		var own []filewise.Delta
		for _, d := range m.Deltas {
			if name, ok := strings.CutPrefix(d.Probe, clientPrefix); ok {
				d.Probe = name
				own = append(own, d)
			}
		}
		for _, w := range probe.Warnings(own) {
			w.Code, w.Message = "client-"+w.Code, "On the client, which is not the server: "+w.Message
			out = append(out, w)
		}
	}
	return out
}

// volumesHere are the volumes that are directories of this machine.
func volumesHere(t filewise.Target) []filewise.Volume {
	if t.Mode == filewise.External {
		return nil
	}
	return t.Volumes
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
	run.Server = append(slices.Clone(run.Server), scriptFacts(r.scripts)...)
	t := run.Plan.Target
	run.Machine = append(machine.Facts(ctx, volumesHere(t)), r.storage.facts...)
	if t.Mode == filewise.External && !t.Address.Here() {
		for i := range run.Machine {
			run.Machine[i].Name = "client: " + run.Machine[i].Name
		}
	}
	run.Version = versionString()
	run.Warnings = slices.Concat(machine.Warnings(volumesHere(t)), scriptWarnings(r.scripts), findingWarnings(r.findings), labelWarnings(t, describe(r.engine)))
	run.Started = time.Now().UTC()
	if run.ID, err = st.CreateRun(ctx, run); err != nil {
		return run, err
	}
	return st.Run(ctx, run.ID)
}

// scriptFacts are those of all layouts, each once.
func scriptFacts(scripts []filewise.Script) []filewise.Fact {
	var out []filewise.Fact
	for _, s := range scripts {
		for _, f := range s.Facts {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
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
func (a *app) finish(ctx context.Context, st *store.Store, run store.Run, done []filewise.Trial, d experiment.Decision, cause error, told *notices) error {
	ctx = context.WithoutCancel(ctx)
	j, err := run.Plan.Judge(done)
	if err != nil {
		return errors.Join(cause, err)
	}
	state := store.Done
	switch {
	case filewise.CodeOf(cause) == filewise.CodeUsage: // a mistake in the study: to go on would meet it again
		state, d = store.Failed, experiment.Decision{Ending: experiment.Broken, Why: filewise.Hide(cause.Error(), a.secrets...)}
	case errors.Is(cause, context.Canceled), filewise.CodeOf(cause) == filewise.CodeStopped, filewise.CodeOf(cause) == filewise.CodeBusy:
		state = store.Interrupted
	case cause != nil || d.Ending == experiment.Broken:
		state = store.Failed
	}
	run.Ending, run.Why = d.Ending, d.Why
	shown, err := data(run, done, j)
	if err != nil {
		return errors.Join(cause, err)
	}
	summary := report.Headline(shown)
	if err := st.Finish(ctx, run.ID, store.Outcome{State: state, Ending: d.Ending, Why: d.Why, Verdict: summary}); err != nil {
		return errors.Join(cause, err)
	}
	if run, err = st.Run(ctx, run.ID); err != nil {
		return errors.Join(cause, err)
	}
	a.last = run
	if shown, err = data(run, done, j); err != nil {
		return errors.Join(cause, err)
	}
	told.ended(run, shown, cause)
	if err := a.printData(shown); err != nil {
		return errors.Join(cause, err)
	}
	if cause == nil && d.Ending == experiment.Broken {
		return filewise.Errorf(filewise.CodeTrials, fmt.Sprintf("filewise show %d lists every trial with its reason", run.ID), "%s", d.Why)
	}
	return cause
}
