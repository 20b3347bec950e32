//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/store"
	"filewise/run"
)

// storeRows returns rows that list and show runs of a store with many.
func storeRows() []row {
	sizes := [3]int{10, 1000, 5000}
	of := func(name string, args ...string) row {
		return row{name: "store, " + name, unit: "runs", sizes: sizes, most: 100, prepare: manyRuns,
			command: func(p *place, _ row, size int) []string { return append(args, "--store", p.runs(size)) }}
	}
	return []row{of("list", "list"), of("show", "show", "last"), of("plan", "plan", "--files=1,2")}
}

// acrossRows returns rows that pool the runs of as many hosts, each with 24 trials and two pilots.
func acrossRows() []row {
	return []row{{name: "compare --across", unit: "runs", sizes: [3]int{10, 100, 1000}, most: 150, prepare: manyRuns,
		command: func(p *place, _ row, size int) []string {
			args := []string{"compare", "--across", "--store", p.runs(size)}
			for id := range size {
				args = append(args, strconv.Itoa(id+1))
			}
			return args
		}}}
}

// runRows returns rows that measure runs of ten layouts on the fake engine in virtual time. The rest is Filewise's work
// around a trial.
func runRows() []row {
	const layouts = 10
	return []row{{name: "run", unit: "trials", sizes: [3]int{50, 500, 5000}, most: 200,
		why: "measured in a process without the program's display, so that nothing is printed",
		work: func(ctx context.Context, p *place, r row, size int, _, stderr io.Writer) error {
			return measured(ctx, p.file(r, size, ".db"), layouts, size/layouts, stderr)
		}}}
}

// runs returns the path of a store of so many runs, which all rows of that size share.
func (p *place) runs(size int) string { return p.file(row{name: "runs"}, size, ".db") }

// manyRuns stores size copies of a run of 24 trials, each from another host, unless another row has stored them.
func manyRuns(ctx context.Context, p *place, _ row, size int) (err error) {
	path := p.runs(size)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := measured(ctx, path, 4, 6, io.Discard); err != nil {
		return err
	}
	st, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	made, err := st.Run(ctx, 1)
	if err != nil {
		return err
	}
	trials, err := st.Trials(ctx, 1)
	if err != nil {
		return err
	}
	for n := 2; n <= size; n++ {
		again := made
		again.Plan.Tags = []string{fmt.Sprint("host=h", n)}
		id, err := st.CreateRun(ctx, again)
		if err != nil {
			return err
		}
		for _, t := range trials {
			if err := st.AddTrial(ctx, id, t); err != nil {
				return err
			}
		}
		if err := st.Finish(ctx, id, store.Outcome{State: store.Done, Ending: made.Ending, Why: made.Why, Verdict: made.Verdict}); err != nil {
			return err
		}
	}
	return nil
}

// measured stores a run on the fake engine, in which nothing differs. Its margin is near what all blocks can resolve, so
// that it goes on to the last of them.
func measured(ctx context.Context, path string, layouts, blocks int, stderr io.Writer) error {
	volume := filepath.Join(filepath.Dir(path), "volume")
	if err := os.MkdirAll(volume, 0o700); err != nil {
		return err
	}
	sc, err := workload.Lookup("inserts")
	if err != nil {
		return err
	}
	const noise, confidence = 0.02, 0.95
	half, err := verdict.HalfWidth(noise, layouts, blocks, confidence)
	if err != nil {
		return err
	}
	plan := experiment.Plan{Scenario: sc.Name, Params: sc.Params, Seed: 7, StorageLimit: "off", Window: time.Second,
		PilotWindow: 100 * time.Millisecond, SliceLength: 100 * time.Millisecond, Margin: verdict.Percent(1.2 * half), Confidence: confidence,
		Goal: verdict.GoalVerdicts, Rules: verdict.NewestRules,
		MaxBlocks: blocks, Attempts: 2, Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "here", Dir: volume}}}}
	plan.Params.Connections = 1
	for n := range layouts {
		plan.Layouts = append(plan.Layouts, filewise.Layout{Name: filewise.FilesName(n + 1), Kind: filewise.KindShards, Rank: n + 1,
			Data: filewise.Spread{Files: n + 1, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	plan.Baseline = plan.Layouts[0].Name
	engine := fake.New(fake.Config{Seed: 3, Noise: noise, Throughput: func(filewise.Layout) float64 { return 1000 }})
	out, err := run.Run(ctx, plan, run.Options{Engine: engine, Clock: engine.Clock(), Store: path, Version: "growth"})
	fmt.Fprintf(stderr, "%d trials: %s\n", len(out.Data.Trials), out.Run.Why)
	return err
}
