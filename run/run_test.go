package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/host/hostlock"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/report"
	"filewise/results/store"
	"filewise/watch/web"
)

// worker is a program without a terminal that carries a plan out on the fake engine.
type worker struct {
	plan    experiment.Plan
	options Options
	volume  string
}

func newWorker(t *testing.T) *worker {
	t.Helper()
	home := t.TempDir()
	t.Setenv("FILEWISE_STATE", filepath.Join(home, "state"))
	t.Setenv("FILEWISE_LOCK", fmt.Sprintf("filewise-test-%d-%s", os.Getpid(), t.Name()))
	sc, err := workload.Lookup("inserts")
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{volume: t.TempDir()}
	w.plan = experiment.Plan{
		Scenario: sc.Name, Params: sc.Params, Seed: 7, StorageLimit: "off",
		Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "here", Dir: w.volume}}},
		Window: 2 * time.Second, PilotWindow: time.Second, SliceLength: 10 * time.Millisecond,
		Margin: 2, Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: 4, Attempts: 2,
	}
	w.plan.Params.Connections = 1
	for _, n := range []int{1, 2} {
		w.plan.Layouts = append(w.plan.Layouts, filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	w.plan.Baseline = w.plan.Layouts[0].Name
	engine := fake.New(fake.Config{Seed: 3, Noise: 0.1, Throughput: func(filewise.Layout) float64 { return 1000 }})
	w.options = Options{Engine: engine, Clock: engine.Clock(), Store: filepath.Join(home, "store.db"), Version: "test"}
	return w
}

// empty reports that nothing is left on the volume.
func (w *worker) empty(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(w.volume); err != nil || len(left) > 0 {
		t.Errorf("left on the volume: %v, %v", left, err)
	}
}

// stopAfter has the run stop once so many trials are stored.
type stopAfter struct {
	trials  int
	monitor *web.Monitor
	closed  bool
}

func (s *stopAfter) Notify(e experiment.Event) {
	if e.Kind == experiment.EventRecorded {
		if s.trials--; s.trials == 0 {
			s.monitor.Stop()
		}
	}
}

func (s *stopAfter) Close() { s.closed = true }

// A run that is stopped keeps what is finished and leaves nothing else, goes on with the
// next trial of its plan, and has nothing left to measure in the end.
func TestRunAndResume(t *testing.T) {
	w := newWorker(t)
	stop := &stopAfter{trials: 3}
	o := w.options
	o.Observe = func(_ report.Data, m *web.Monitor) Observer { stop.monitor = m; return stop }
	var shown []Outcome
	o.Result = func(out Outcome) error { shown = append(shown, out); return nil }
	out, err := Run(t.Context(), w.plan, o)
	if !errors.Is(err, context.Canceled) || out.Run.State != store.Interrupted || len(out.Data.Trials) != 3 || !stop.closed ||
		len(shown) != 1 {
		t.Fatalf("%v: %s with %d trials", err, out.Run.State, len(out.Data.Trials))
	}
	w.empty(t)
	r, d, err := Unfinished(t.Context(), o.Store, "")
	if err != nil || d.Ending != experiment.GoesOn || r.ID != out.Run.ID {
		t.Fatalf("run %d: %v, %v", r.ID, d, err)
	}
	again, most := w.options, 0 // blocks: an observer sees the run from the start
	again.Observe = func(d report.Data, _ *web.Monitor) Observer { most = d.Judgement.Schedule.MaxBlocks; return ignore{} }
	out, err = Resume(t.Context(), r, again)
	if err != nil || most == 0 || out.Run.State != store.Done || out.Run.Verdict == "" || out.Over != "" {
		t.Fatalf("%v: %+v", err, out.Run)
	}
	w.empty(t)
	for i, trial := range out.Data.Trials {
		if want, _ := w.plan.Next(out.Data.Trials[:i]); trial.Cell != want {
			t.Errorf("trial %d is %+v, want %+v", i, trial.Cell, want)
		}
	}
	if r, d, err = Unfinished(t.Context(), o.Store, "last"); err != nil || d.Ending == experiment.GoesOn {
		t.Fatalf("%v, %v", d, err)
	}
	if out, err = Resume(t.Context(), r, o); err != nil || out.Over != d.Why || len(shown) != 2 {
		t.Errorf("nothing is left: %v, %q", err, out.Over)
	}
}

// A run climbs after its pilots, is stored with the design that it goes on with, and resumes by it.
func TestRunClimbs(t *testing.T) {
	w := newWorker(t)
	engine := fake.New(fake.Config{Seed: 3, Noise: 0.1, LogWait: func(p filewise.Program) time.Duration {
		if p.First().CommitEvery < 50 {
			return 900 * time.Microsecond // of a thousandth of a second each
		}
		return 100 * time.Microsecond
	}})
	w.options.Engine, w.options.Clock = engine, engine.Clock()
	w.plan.Ladder = &experiment.Ladder{CommitEvery: 50}
	for i := range w.plan.Layouts { // with one log, which limits the work: shards have one each
		w.plan.Layouts[i].Kind = filewise.KindSystem
	}
	stop, o := &stopAfter{trials: 3}, w.options
	o.Observe = func(_ report.Data, m *web.Monitor) Observer { stop.monitor = m; return stop }
	out, err := Run(t.Context(), w.plan, o)
	if !errors.Is(err, context.Canceled) || len(out.Data.Trials) != 3 {
		t.Fatalf("%v: %d trials", err, len(out.Data.Trials))
	}
	w.empty(t)
	r, _, err := Unfinished(t.Context(), o.Store, "")
	if err != nil || len(r.Plan.Rungs) != 1 || r.Plan.Params.CommitEvery != 50 {
		t.Fatalf("%v: stored with %+v, %d rows a transaction", err, r.Plan.Rungs, r.Plan.Params.CommitEvery)
	}
	out, err = Resume(t.Context(), r, w.options)
	if err != nil || out.Run.State != store.Done || len(out.Run.Plan.Rungs) != 1 {
		t.Fatalf("%v: %s, %+v", err, out.Run.State, out.Run.Plan.Rungs)
	}
	for _, c := range out.Data.Judgement.Conditions {
		if c.Name == filewise.CondHeadroom && !strings.Contains(c.Measured, "log 10 %") {
			t.Errorf("%+v", c)
		}
	}
	w.empty(t)
}

// other is an engine whose server is of a version that its owner changes.
type other struct {
	filewise.Engine
	version string
}

type otherServer struct {
	filewise.Server
	of *other
}

func (o *other) Open(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	s, err := o.Engine.Open(ctx, t)
	return &otherServer{s, o}, err
}

func (s *otherServer) Facts(context.Context) ([]filewise.Fact, error) {
	return []filewise.Fact{{Name: "version", Value: s.of.version}}, nil
}

// A server that is another one from a block on ends the run before that block, by name; the run goes on once the
// server is the same as before.
func TestChangedInMidRun(t *testing.T) {
	w := newWorker(t)
	server := &other{w.options.Engine, "17.1"}
	w.options.Engine = server
	waits := 0
	w.options.Before = func(context.Context) error {
		if waits++; waits == 4 { // in block 1, after two pilots
			server.version = "17.2"
		}
		return nil
	}
	out, err := Run(t.Context(), w.plan, w.options)
	if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(fmt.Sprint(err), "version was 17.1, and is 17.2") {
		t.Fatalf("%v", err)
	}
	for _, trial := range out.Data.Trials {
		if trial.Cell.Block > 1 {
			t.Errorf("measured all the same: %+v", trial.Cell)
		}
	}
	r, _, err := Unfinished(t.Context(), w.options.Store, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(t.Context(), r, w.options); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("resumed on another version: %v", err)
	}
	server.version = "17.1"
	if out, err = Resume(t.Context(), r, w.options); err != nil || out.Run.State != store.Done {
		t.Errorf("resumed: %v, %s", err, out.Run.State)
	}
	w.empty(t)
}

// A run that is refused leaves no store and nothing on the volumes.
func TestRefusedRun(t *testing.T) {
	w := newWorker(t)
	lock, err := hostlock.Acquire(t.Context(), hostlock.Holder{What: "another run"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), w.plan, w.options); filewise.CodeOf(err) != filewise.CodeBusy {
		t.Errorf("while another one measures: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	w.plan.Target.Volumes[0].Dir = filepath.Join(w.volume, "none")
	if _, err := Run(t.Context(), w.plan, w.options); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("without the volume: %v", err)
	}
	if _, err := os.Stat(w.options.Store); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store: %v", err)
	}
	w.empty(t)
}

// Trials that are measured for the noise alone are stored nowhere.
func TestUnstored(t *testing.T) {
	w := newWorker(t)
	trials, d, err := Unstored(t.Context(), w.plan, w.options)
	if err != nil || d.Ending == experiment.GoesOn || len(trials) == 0 {
		t.Fatalf("%d trials, %v, %v", len(trials), d, err)
	}
	if _, err := os.Stat(w.options.Store); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store: %v", err)
	}
	w.empty(t)
}
