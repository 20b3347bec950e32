package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// Worlds that go through the real Runner: interleaved blocks on the fake engine in virtual time. In the typical block,
// no layout differs.

// sessionWorld is a machine for interleaved blocks.
type sessionWorld struct {
	name string
	make func(r *rand.Rand) fake.Config // layouts 1 to k, named by rank
}

// Interleaved blocks have four turns of 300 ms for each layout.
const (
	sessionRounds = 4
	sessionWindow = sessionRounds * 300 * time.Millisecond
	sessionSlice  = 100 * time.Millisecond
)

// turnNoise is the standard deviation of a turn, on the log scale.
const turnNoise = 0.02

func sessionWorlds() []sessionWorld {
	noisy := func(r *rand.Rand) func(l, before filewise.Layout) float64 {
		return func(_, _ filewise.Layout) float64 { return turnNoise * r.NormFloat64() }
	}
	return []sessionWorld{
		{"sessions: noise of 2 % a turn", func(r *rand.Rand) fake.Config { return fake.Config{Turn: noisy(r)} }},
		{"sessions: turns are disturbed alike, AR(1) of 0.8, 5 %", func(r *rand.Rand) fake.Config {
			state := 0.05 * r.NormFloat64()
			return fake.Config{Turn: func(_, _ filewise.Layout) float64 {
				state = 0.8*state + 0.6*0.05*r.NormFloat64()
				return state + 0.01*r.NormFloat64()
			}}
		}},
		{"sessions: two files slow the next turn by 3 %", func(r *rand.Rand) fake.Config {
			return fake.Config{Turn: func(_, before filewise.Layout) float64 {
				y := 0.01 * r.NormFloat64()
				if before.Rank == 2 {
					y -= 0.03
				}
				return y
			}}
		}},
		{"sessions: the machine freezes 8 s every 30 s", func(r *rand.Rand) fake.Config {
			phase := time.Duration(r.Int64N(int64(30 * time.Second)))
			return fake.Config{Turn: noisy(r), Freeze: func(_ filewise.Layout, now time.Time) time.Duration {
				return max(0, 8*time.Second-(now.Sub(fake.Epoch)+phase)%(30*time.Second))
			}}
		}},
		// Each layout does 1,000 operations a second from rest to rest: in the work alone, or with 0.8 ms per operation in
		// the work and 0.2 ms in the drain.
		{"sessions: half of the layouts write in the drain", func(r *rand.Rand) fake.Config {
			late := func(l filewise.Layout) bool { return l.Rank%2 == 0 }
			return fake.Config{Turn: noisy(r),
				Throughput: func(l filewise.Layout) float64 {
					if late(l) {
						return 1250
					}
					return 1000
				},
				Drain: func(l filewise.Layout, operations int64) time.Duration {
					if late(l) {
						return time.Duration(operations) * 200 * time.Microsecond
					}
					return 0
				}}
		}},
	}
}

// sessionsOf runs a whole experiment through the Runner, and judges it as the program does.
func sessionsOf(ctx context.Context, w sessionWorld, key cellKey, number uint64) (verdict.Result, error) {
	config := w.make(rand.New(rand.NewPCG(key.Seed^0x5e55, number)))
	config.Seed = key.Seed ^ number<<20
	engine := fake.New(config)
	p := experiment.Plan{
		Scenario: "inserts", Seed: number, Interleaved: true, Rounds: sessionRounds, Observe: experiment.ObserveRest,
		Params: workload.Params{Connections: 1, RowBytes: 16, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential},
		Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Volumes: []filewise.Volume{{Name: "here", Dir: "/fake"}}},
		Window: sessionWindow, WarmUp: -1, PilotWindow: sessionWindow / sessionRounds, SliceLength: sessionSlice,
		Rules: key.Rules, Margin: 2, Confidence: 0.95, Goal: verdict.GoalRecommend, MaxBlocks: key.Blocks, Attempts: 1,
	}
	for n := range key.Layouts {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n + 1), Kind: filewise.KindShards, Rank: n + 1,
			Data: filewise.Spread{Files: n + 1, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	p.Baseline = p.Layouts[0].Name
	work, err := workload.NewInserts(p.Params, p.Seed)
	if err != nil {
		return verdict.Result{}, err
	}
	server, err := engine.Open(ctx, p.Target)
	if err != nil {
		return verdict.Result{}, err
	}
	r := experiment.Runner{Plan: p, Workload: work, Server: server, Clock: engine.Clock(), NoLatencies: true,
		Record: func(context.Context, filewise.Trial) error { return nil }}
	trials, _, err := r.Run(ctx, nil)
	if err != nil {
		return verdict.Result{}, fmt.Errorf("world %q, experiment %d: %w", w.name, number, err)
	}
	for _, t := range trials {
		if t.State != filewise.Done {
			return verdict.Result{}, fmt.Errorf("world %q, experiment %d: a trial failed: %s", w.name, number, t.Reason)
		}
	}
	j, err := p.Judge(trials)
	if err != nil {
		return verdict.Result{}, err
	}
	return j.First().Result, nil
}

// granted returns the number of blocks that an experiment of six blocks in the same world names as sufficient. ok is
// false if that can name no number, or no verdict takes so many.
func granted(w kind, key cellKey, number uint64) (blocks int, ok bool, err error) {
	const before, other = 6, 1 << 40 // other selects experiments with other noise
	cfg, arms := key.config(before)
	r, err := verdict.Judge(cfg, arms, nullTable(w, key.Layouts, key.Rules, before, key.Seed, number+other))
	if err != nil {
		return 0, false, err
	}
	noise, known := r.Noise()
	if !known {
		return 0, false, nil
	}
	blocks, err = verdict.BlocksToTell(noise, key.Layouts, cfg.Confidence, cfg.Margin)
	return blocks, blocks > 0, err
}
