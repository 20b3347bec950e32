package main

import (
	"context"
	"fmt"
	"math"

	"filewise"
	"filewise/engine/fake"
	"filewise/experiment"
	"filewise/verdict"
	"filewise/workload"
)

// maxBlocks is N_max of every experiment.
const maxBlocks = 20

// loadedBytes is what reused builds are loaded with: next to nothing.
const loadedBytes = 64

// whole takes a whole experiment through the real program — pilots, blocks in
// random order, life cycle of every trial, judgement after each — on the fake
// engine, in virtual time.
func whole(ctx context.Context, w world, seed, number uint64) (experiment.Judgement, error) {
	m := newMachine(w, seed, number)
	list, place := layoutsOf()
	plan := planOf(w, list, number)
	work, err := workload.NewInserts(plan.Params, plan.Seed)
	if err != nil {
		return experiment.Judgement{}, err
	}
	engine := fake.New(fake.Config{
		Seed: seed ^ number<<20, Peculiar: w.peculiar,
		Throughput: func(l filewise.Layout) float64 { return 1000 * math.Exp(w.effects[place[l.Name]]) },
		Disturb:    func(l filewise.Layout) float64 { return m.next(place[l.Name]) },
	})
	server, err := engine.Open(ctx, plan.Target)
	if err != nil {
		return experiment.Judgement{}, err
	}
	r := experiment.Runner{Plan: plan, Workload: work, Server: server, Clock: engine.Clock(), NoLatencies: true,
		Record: func(context.Context, filewise.Trial) error { return nil }}
	if w.probe > 0 {
		r.Calibrate = func(context.Context) (float64, error) { return m.calibration(), nil }
	}
	trials, _, err := r.Run(ctx, nil)
	if err != nil {
		return experiment.Judgement{}, fmt.Errorf("world %q, experiment %d: %w", w.name, number, err)
	}
	for i := range trials {
		if trials[i].State != filewise.Done {
			return experiment.Judgement{}, fmt.Errorf("world %q, experiment %d: a trial failed: %s", w.name, number, trials[i].Reason)
		}
		if w.forget {
			trials[i].Instance = ""
		}
	}
	return plan.Judge(trials)
}

func planOf(w world, list []filewise.Layout, number uint64) experiment.Plan {
	p := experiment.Plan{
		Scenario: "inserts", Layouts: list, Baseline: list[0].Name, Seed: number,
		Params: workload.Params{Connections: 1, RowBytes: 16, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential},
		Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Volumes: []filewise.Volume{{Name: "here", Dir: "/fake"}}},
		Rules:  verdict.NewestRules, Work: loadedBytes, Margin: 2, Confidence: 0.95, Goal: verdict.GoalRecommend, MaxBlocks: maxBlocks,
		Attempts: 1,
	}
	if w.builds > 0 {
		p.Preload, p.Instances = loadedBytes, w.builds
	}
	p.Calibrate = w.probe > 0
	return p
}
