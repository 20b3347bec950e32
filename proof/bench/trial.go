//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/internal/process"
	"filewise/lab/experiment"
	"filewise/lab/probe"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/store"
)

// maxTrial is the most that Filewise itself may cost a trial: 1 % of a window of a second.
const maxTrial = 10.0 // ms

// spent holds the time of one trial in parts, in milliseconds.
type spent struct{ total, stored float64 }

// trialRows runs an experiment of the default's shape in virtual time. Its measured windows take no time, so the rest
// is Filewise's own cost.
func trialRows(ctx context.Context, blocks int) ([]row, error) {
	dir, err := os.MkdirTemp("", "filewise-bench-")
	if err != nil {
		return nil, err
	}
	var trials []spent
	all, err := bySelf(func() (_ float64, err error) {
		trials, err = fakeExperiment(ctx, dir, blocks)
		return float64(len(trials)), err
	})
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, err
	}
	var total []float64
	var mean, stored float64
	for _, t := range trials {
		total = append(total, t.total)
		mean, stored = mean+t.total/all.ops, stored+t.stored/all.ops
	}
	slices.Sort(total)
	median := middle(total)
	return []row{
		{fmt.Sprintf("trial, median of %d", len(total)), millis(median), "< " + millis(maxTrial), median < maxTrial},
		{what: "trial, mean and 95th percentile", value: millis(mean) + ", " + millis(total[(len(total)-1)*95/100])},
		{what: "of the mean, until it was on the storage", value: millis(stored)},
		{what: "of the mean, planning, driving, checking, judging", value: millis(mean - stored)},
		{what: "processor time of a trial, mean", value: millis(cpuPerOp(all) / 1e3)},
	}, nil
}

func millis(ms float64) string { return fmt.Sprintf("%.1f ms", ms) }

// fakeExperiment returns each trial's cost.
func fakeExperiment(ctx context.Context, dir string, blocks int) (took []spent, err error) {
	plan, err := fakePlan(dir, blocks)
	if err != nil {
		return nil, err
	}
	work, err := workload.NewInserts(plan.Params, plan.Seed)
	if err != nil {
		return nil, err
	}
	engine := fake.New(fake.Config{Seed: plan.Seed, Noise: 0.05})
	server, err := engine.Open(ctx, plan.Target)
	if err != nil {
		return nil, err
	}
	st, id, err := newRun(ctx, dir, plan)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	defer func() { err = errors.Join(err, st.Close(), server.Close()) }()
	took, trials, err := timed(ctx, st.Recorder(id), &experiment.Runner{Plan: plan, Workload: work, Server: server,
		Clock: engine.Clock(), Probes: probe.System(plan.Target.Volumes)})
	if err != nil {
		return nil, err
	}
	for _, t := range trials {
		if t.State != filewise.Done {
			return nil, fmt.Errorf("a trial of %s failed: %s", t.Cell.Layout, t.Reason)
		}
	}
	if want := 3 * len(plan.Layouts); len(took) < want {
		return nil, fmt.Errorf("the experiment ended after %d trials, too few to estimate what one costs", len(took))
	}
	return took, nil
}

// timed runs the experiment, and takes the time of its trials from one event to the next.
func timed(ctx context.Context, rec *store.Recorder, runner *experiment.Runner) (took []spent, trials []filewise.Trial, err error) {
	var stored float64
	last := time.Now()
	since := func(t time.Time) float64 { return time.Since(t).Seconds() * 1e3 }
	runner.Record = func(ctx context.Context, t filewise.Trial) error {
		start := time.Now()
		defer func() { stored = since(start) }()
		return rec.Record(ctx, t)
	}
	runner.Notify = func(e experiment.Event) {
		if e.Kind == experiment.EventRecorded {
			took, last = append(took, spent{since(last), stored}), time.Now()
		}
	}
	trials, _, err = runner.Run(ctx, nil)
	return took, trials, err
}

// fakePlan returns a plan with the default's layouts, connections, slices and pilots. All layouts are equally good, and
// the margin is too small to be resolved, so it goes on for many blocks.
func fakePlan(dir string, blocks int) (experiment.Plan, error) {
	inserts, err := workload.Lookup("inserts")
	if err != nil {
		return experiment.Plan{}, err
	}
	p := experiment.Plan{
		Scenario: inserts.Name, Params: inserts.Params, Seed: 1, Baseline: filewise.FilesName(1),
		Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "main", Dir: dir}}},
		Window: time.Second, WarmUp: -1, PilotWindow: 2 * time.Second, SliceLength: 100 * time.Millisecond,
		Margin: 0.01, Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: blocks, Attempts: 1,
	}
	for _, n := range inserts.Files {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: inserts.Bytes, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	return p, nil
}

func newRun(ctx context.Context, dir string, plan experiment.Plan) (*store.Store, int64, error) {
	st, err := store.Open(ctx, filepath.Join(dir, "filewise.db"))
	if err != nil {
		return nil, 0, err
	}
	owner, err := process.Self()
	if err == nil {
		var id int64
		if id, err = st.CreateRun(ctx, store.Run{Started: time.Now().UTC(), State: store.Running, Owner: owner, Plan: plan}); err == nil {
			return st, id, nil
		}
	}
	return nil, 0, errors.Join(err, st.Close())
}
