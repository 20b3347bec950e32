//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/fleet"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
)

// simulated measures campaigns on made-up hosts, whose trials come from the fake engine in virtual time. The rest is
// the time of Temporal, and of the workers that decide.
func (g *ground) simulated(ctx context.Context, numbers []string, cells int, window time.Duration) error {
	debug.SetGCPercent(400)
	deciders := []string{"decider1", "decider2"}
	for _, name := range deciders {
		cmd := g.command(ctx, name, "worker", "--host", name)
		if err := cmd.Start(); err != nil {
			return err
		}
		g.running[name] = cmd
	}
	if err := g.known(ctx, len(deciders)); err != nil {
		return err
	}
	for _, number := range numbers {
		n, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		if err := g.asked(ctx, func(c fleet.Campaigns) error { return g.simulate(ctx, c, n, cells, window, deciders) }); err != nil {
			return err
		}
	}
	return nil
}

func (g *ground) simulate(ctx context.Context, c fleet.Campaigns, n, cells int, window time.Duration, deciders []string) error {
	var hosts []fleet.Present
	var workers []worker.Worker
	defer func() {
		var wg sync.WaitGroup
		for _, w := range workers {
			wg.Go(w.Stop)
		}
		wg.Wait()
	}()
	for i := range n {
		host := &madeUp{dir: g.dir, seed: uint64(i), blocks: max(1, cells/4-1), window: window, recorded: make(chan struct{}),
			permit: make(chan struct{}), done: make(chan error, 1)}
		host.more.L = &host.mu
		name := fmt.Sprintf("sim%d-%d", n, i)
		w := worker.New(c.Client, "filewise/"+name, worker.Options{DisableWorkflowWorker: true, MaxConcurrentActivityTaskPollers: 1,
			MaxConcurrentActivityExecutionSize: 4})
		for name, do := range map[string]any{"Next": host.next, "Close": host.close, "Export": host.export} {
			w.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
		}
		if err := w.Start(); err != nil {
			return err
		}
		hosts, workers = append(hosts, fleet.Present{Offer: fleet.Offer{Host: name}, Working: true}), append(workers, w)
	}
	before, began, trials, steps := g.spent(deciders), time.Now(), 0, 0
	var ids []string
	var err error
	busy := until(ctx, "the jobs cannot be started", func() bool { // a later poll goes on
		ids, _, err = c.Start(ctx, fmt.Sprint("simulated ", n), fleet.Study{File: "study.yaml", Text: []byte("scenario: inserts\n"),
			Experiments: []string{"inserts"}}, hosts, false, time.Hour)
		return err == nil
	})
	if busy != nil {
		return errors.Join(busy, err)
	}
	err = c.Wait(ctx, ids, func(s fleet.State) {
		steps += s.Steps
		if trials += s.Standing.Trials; s.Condition != fleet.Done || s.Bundle.Trials != s.Standing.Trials {
			fmt.Printf("%s: %+v\n", s.Host, s)
		}
	})
	took, after := time.Since(began), g.spent(deciders)
	fmt.Printf("%d hosts: %d cells in %v, %.0f a second, %.1f a step;", n, trials, took.Round(100*time.Millisecond),
		float64(trials)/took.Seconds(), float64(trials)/float64(steps))
	for i, what := range []string{"Temporal", "the two workers that decide", "the hosts"} {
		fmt.Printf(" %s: %.1f ms of processor a cell, %d MiB;", what, 1000*(after[i].seconds-before[i].seconds)/float64(trials), after[i].mib)
	}
	fmt.Println()
	return err
}

// spent holds the processor time and memory used so far.
type spent struct {
	seconds float64
	mib     int
}

func (g *ground) spent(deciders []string) (out [3]spent) {
	runtime.GC()
	out[0], out[2] = spentBy(g.running["temporal"].Process.Pid), spentBy(os.Getpid())
	for _, name := range deciders {
		s := spentBy(g.running[name].Process.Pid)
		out[1] = spent{out[1].seconds + s.seconds, out[1].mib + s.mib}
	}
	return out
}

func spentBy(pid int) (s spent) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // the process runs
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	fields := strings.Fields(string(rest))
	if len(fields) < 22 {
		return s
	}
	for _, ticks := range fields[11:13] {
		x, _ := strconv.ParseFloat(ticks, 64)
		s.seconds += x / 100
	}
	pages, _ := strconv.Atoi(fields[21])
	s.mib = pages * os.Getpagesize() >> 20
	return s
}

// madeUp is a made-up host whose experiment waits after each trial.
type madeUp struct {
	dir      string
	seed     uint64
	blocks   int
	window   time.Duration
	recorded chan struct{}
	permit   chan struct{}
	done     chan error

	mu     sync.Mutex
	more   sync.Cond // signals further trials
	clock  filewise.Clock
	ended  bool
	trials int
}

// next does the same as a real host's activity; its share too is over in virtual time.
func (m *madeUp) next(ctx context.Context, r fleet.Request) (s fleet.Standing, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for r.Ahead && m.trials < r.After && !m.ended {
		m.more.Wait() // until its turn has come
	}
	after := r.After
	if r.Ahead {
		after = max(after, m.trials)
	}
	var began time.Time
	for !m.ended && err == nil && (m.trials <= after || m.clock.Now().Sub(began) < fleet.Share) {
		if m.clock == nil {
			e := fake.New(fake.Config{Seed: m.seed, Noise: 0.02, Throughput: func(filewise.Layout) float64 { return 1000 }})
			m.clock = e.Clock()
			go func() { m.done <- m.run(context.WithoutCancel(ctx), e) }()
		} else {
			m.permit <- struct{}{}
		}
		if began.IsZero() {
			began = m.clock.Now()
		}
		select {
		case <-m.recorded:
			m.trials++
		case err = <-m.done:
			m.ended = true
		}
	}
	m.more.Broadcast()
	return fleet.Standing{Run: 1, Trials: m.trials, Ended: m.ended, Verdict: "Undecided."}, err
}

func (m *madeUp) run(ctx context.Context, e *fake.Engine) error {
	sc, err := workload.Lookup("inserts")
	if err != nil {
		return err
	}
	p := experiment.Plan{Scenario: sc.Name, Params: sc.Params, Seed: m.seed, Window: m.window, PilotWindow: m.window,
		SliceLength: m.window / 10, Margin: 0.01, Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: m.blocks, Attempts: 3,
		Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "here", Dir: m.dir}}}}
	p.Params.Connections = 1
	for _, n := range []int{1, 2, 4, 8} {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	p.Baseline = p.Layouts[0].Name
	load, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return err
	}
	server, err := e.Open(ctx, p.Target)
	if err != nil {
		return err
	}
	runner := experiment.Runner{Plan: p, Workload: load, Server: server, Clock: e.Clock(),
		Record: func(context.Context, filewise.Trial) error {
			m.recorded <- struct{}{}
			<-m.permit
			return nil
		}}
	_, _, err = runner.Run(ctx, nil)
	return errors.Join(err, server.Close())
}

func (m *madeUp) close(context.Context, fleet.Request) error { return nil }

// export returns a bundle of the size that so many trials have.
func (m *madeUp) export(context.Context, fleet.Request) (fleet.Part, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fleet.Part{Bundle: fleet.Bundle{SHA256: "made up", Parts: 1, Trials: m.trials}, Bytes: make([]byte, 6000+700*m.trials)}, nil
}
