package experiment_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// world is an experiment on the fake engine with planted truths.
type world struct {
	plan   experiment.Plan
	engine *fake.Engine
	runner experiment.Runner
	stored []filewise.Trial
}

func newWorld(t *testing.T, files []int, truth fake.Config) *world {
	t.Helper()
	sc, err := workload.Lookup("inserts")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{plan: experiment.Plan{
		Scenario: sc.Name, Params: sc.Params, Seed: 7,
		Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "here", Dir: t.TempDir()}}},
		Window: 2 * time.Second, WarmUp: -1, PilotWindow: time.Second, SliceLength: 10 * time.Millisecond,
		Margin: 2, Confidence: 0.95, Goal: verdict.GoalRecommend, MaxBlocks: 20, Attempts: 3,
	}}
	w.plan.Params.Connections = 1
	for _, n := range files {
		w.plan.Layouts = append(w.plan.Layouts, filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	w.plan.Baseline = w.plan.Layouts[0].Name
	load, err := sc.New(w.plan.Params, w.plan.Seed)
	if err != nil {
		t.Fatal(err)
	}
	w.engine = fake.New(truth)
	server, err := w.engine.Open(t.Context(), w.plan.Target)
	if err != nil {
		t.Fatal(err)
	}
	w.runner = experiment.Runner{Plan: w.plan, Workload: load, Server: server, Clock: w.engine.Clock(),
		Record: func(_ context.Context, tr filewise.Trial) error {
			w.stored = append(w.stored, tr)
			return nil
		}}
	return w
}

func (w *world) run(t *testing.T, done ...filewise.Trial) ([]filewise.Trial, experiment.Decision) {
	t.Helper()
	w.runner.Plan = w.plan
	trials, d, err := w.runner.Run(t.Context(), done)
	if err != nil {
		t.Fatal(err)
	}
	return trials, d
}

func (w *world) recommended(t *testing.T, trials []filewise.Trial) string {
	t.Helper()
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	analysis, ok := j.First().Result.Last()
	if !ok || analysis.Recommended < 0 {
		return ""
	}
	return w.plan.Layouts[analysis.Recommended].Name
}

// byFiles plants a throughput for each number of files.
func byFiles(truth map[int]float64) func(filewise.Layout) float64 {
	return func(l filewise.Layout) float64 { return truth[l.Data.Files] }
}

func TestFindsPlantedBest(t *testing.T) {
	w := newWorld(t, []int{1, 4, 8}, fake.Config{Noise: 0.01, Seed: 1,
		Throughput: byFiles(map[int]float64{1: 1000, 4: 1500, 8: 1200})})
	trials, d := w.run(t)
	if got := w.recommended(t, trials); got != "4 files" || d.Ending != experiment.Decided {
		t.Errorf("recommended %q, %+v; planted: 4 files", got, d)
	}
	if n := w.engine.Undropped(); n != 0 {
		t.Errorf("%d builds are still there", n)
	}
	if !cmp.Equal(trials, w.stored) {
		t.Error("what was recorded is not what was returned")
	}
}

func TestKeepsBaselineOfEqualLayouts(t *testing.T) {
	w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.003, Seed: 2})
	trials, d := w.run(t)
	if got := w.recommended(t, trials); got != "1 file" || d.Ending != experiment.Decided {
		t.Errorf("recommended %q, %+v; planted: no difference", got, d)
	}
}

func TestLifeCycleOrder(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{})
	w.run(t)
	want := []string{"build", "settle", "observe", "connect", "drain", "disconnect", "check", "observe", "drop"}
	var got []string
	for _, c := range w.engine.Calls() {
		if c.Stage != "open" {
			got = append(got, c.Stage)
		}
	}
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("life of the first trial (-want +got):\n%s", diff)
	}
	var stages []string
	for _, s := range w.stored[0].Stages {
		stages = append(stages, s.Name)
	}
	want = []string{"build", "settle", "observe", "warm-up", "drain", "measure", "drain", "check", "drop"}
	if diff := cmp.Diff(want, stages); diff != "" {
		t.Errorf("stages of the first trial (-want +got):\n%s", diff)
	}
}

func TestResumeGoesOnWithTheSameOrder(t *testing.T) {
	w := newWorld(t, []int{1, 2, 4, 8}, fake.Config{Noise: 0.03, Seed: 3,
		Throughput: byFiles(map[int]float64{1: 1000, 2: 1010, 4: 1060, 8: 900})})
	trials, end := w.run(t)
	for k := range trials {
		cell, d := w.plan.Next(trials[:k])
		if d.Ending != experiment.GoesOn || cell != trials[k].Cell {
			t.Fatalf("after %d trials Next says %+v, %+v; the run measured %+v", k, cell, d, trials[k].Cell)
		}
	}
	if _, d := w.plan.Next(trials); d != end {
		t.Errorf("after all trials Next says %+v, the run ended with %+v", d, end)
	}
}

func TestBlocksAreShuffledFromTheSeed(t *testing.T) {
	w := newWorld(t, []int{1, 2, 4, 8, 16}, fake.Config{})
	first := w.plan.Trials()
	if diff := cmp.Diff(first, w.plan.Trials()); diff != "" {
		t.Errorf("one seed gives two orders:\n%s", diff)
	}
	positions := make(map[string]map[int]bool)
	for _, c := range first {
		if positions[c.Layout] == nil {
			positions[c.Layout] = make(map[int]bool)
		}
		positions[c.Layout][c.Position] = true
	}
	for layout, seen := range positions {
		if len(seen) < 4 {
			t.Errorf("%s is at only %d of 5 places in 21 blocks", layout, len(seen))
		}
	}
	w.plan.Seed++
	if cmp.Equal(first, w.plan.Trials()) {
		t.Error("two seeds give one order")
	}
}

func TestFailedTrialIsRepeatedAtTheEndOfItsBlock(t *testing.T) {
	w := newWorld(t, []int{1, 2, 4}, fake.Config{Noise: 0.01, Seed: 4,
		Faults: []fake.Fault{{Build: 5, Stage: filewise.StageCheck, Times: 1}}})
	trials, _ := w.run(t)
	failed := trials[4]
	if failed.State != filewise.Failed || !strings.Contains(failed.Reason, "check") {
		t.Fatalf("the fifth trial: %+v", failed)
	}
	again := trials[6]
	want := failed.Cell
	want.Attempt = 2
	if again.Cell != want || again.State != filewise.Done {
		t.Errorf("after its block: %+v %s; want the failed cell again, %+v", again.Cell, again.State, want)
	}
}

func TestLayoutThatNeverWorksIsWithdrawnAndSaid(t *testing.T) {
	for _, stage := range []string{filewise.StageBuild, filewise.StageObserve, filewise.StageMeasure, filewise.StageCheck} {
		t.Run(stage, func(t *testing.T) {
			w := newWorld(t, []int{1, 2, 4}, fake.Config{Noise: 0.01, Seed: 5,
				Throughput: byFiles(map[int]float64{1: 1000, 2: 1300, 4: 9000}),
				Faults:     []fake.Fault{{Layout: "4 files", Stage: stage}}})
			trials, d := w.run(t)
			if got := w.recommended(t, trials); got != "2 files" || d.Ending != experiment.Decided {
				t.Errorf("recommended %q, %+v; 4 files cannot be measured", got, d)
			}
			tried := 0
			for _, tr := range trials {
				if tr.Cell.Layout == "4 files" {
					tried++
				}
			}
			if tried != w.plan.Attempts {
				t.Errorf("4 files were tried %d times, want %d", tried, w.plan.Attempts)
			}
			j, err := w.plan.Judge(trials)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(j.Warnings, func(w filewise.Warning) bool {
				return w.Code == "withdrawn" &&
					strings.Contains(w.Message, "4 files")
			}) {
				t.Errorf("nothing says that 4 files could not be measured: %+v", j.Warnings)
			}
		})
	}
}

func TestBrokenBaselineEndsTheRun(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Faults: []fake.Fault{{Layout: "1 file", Stage: filewise.StageMeasure, After: 100}}})
	_, d := w.run(t)
	if d.Ending != experiment.Broken || !strings.Contains(d.Why, "1 file") {
		t.Errorf("ending %+v, want broken by the baseline", d)
	}
}

// A run in which nothing but failures used up the budget has failed.
func TestBudgetSpentOnFailures(t *testing.T) {
	p := newWorld(t, []int{1, 2}, fake.Config{}).plan
	p.Budget = time.Minute
	trials := []filewise.Trial{
		{Cell: filewise.Cell{Pilot: true, Layout: "1 file", Attempt: 1}, State: filewise.Failed, Reason: "check: wrong",
			Elapsed: 40 * time.Second},
		{Cell: filewise.Cell{Pilot: true, Layout: "2 files", Attempt: 1}, State: filewise.Failed, Reason: "check: wrong too",
			Elapsed: 40 * time.Second},
	}
	if _, d := p.Next(trials[:1]); d.Ending != experiment.GoesOn {
		t.Errorf("%+v with a third of the budget left", d)
	}
	if _, d := p.Next(trials); d.Ending != experiment.Broken || !strings.Contains(d.Why, "check: wrong too") {
		t.Errorf("%+v, though every trial failed", d)
	}
	void := slices.Clone(trials)
	void[1].Reason, void[1].Warnings = "void: the storage stood still", []filewise.Warning{{Code: experiment.WarnStoodStill}}
	if _, d := p.Next(void); !strings.Contains(d.Why, "void: the storage stood still") {
		t.Errorf("%+v, though the last trial is void", d)
	}
	trials[0].State, trials[0].Reason = filewise.Done, ""
	if _, d := p.Next(trials); d.Ending != experiment.Spent {
		t.Errorf("%+v, though one trial succeeded", d)
	}
	p.Rungs = []experiment.Rung{{Why: "more data"}} // whose pilots are all to come
	if _, d := p.Next(trials); d.Ending != experiment.Spent {
		t.Errorf("%+v, though a pilot of the design before succeeded", d)
	}
}

// A dump that cannot be restored is not restored again and again.
func TestFailsAlikeFromADump(t *testing.T) {
	for broken, want := range map[string]struct {
		trials int
		why    string
	}{"": {3, "no layout can be built: build of"}, "1 file": {4, "the baseline, 1 file"}} {
		w := newWorld(t, []int{1, 2, 4}, fake.Config{Faults: []fake.Fault{{Layout: broken, Stage: filewise.StageBuild}}})
		w.plan.Params.Custom = &workload.Custom{From: "shop.sql"}
		if trials, d := w.run(t); len(trials) != want.trials || d.Ending != experiment.Broken || !strings.Contains(d.Why, want.why) {
			t.Errorf("%d trials, %+v", len(trials), d)
		}
	}
	mistake := filewise.Errorf(filewise.CodePreflight, "give another file", "restoring: %w", &filewise.Classed{Class: filewise.ClassMistake,
		Err: fake.ErrPlanted})
	w := newWorld(t, []int{1, 2}, fake.Config{Faults: []fake.Fault{{Stage: filewise.StageBuild, Err: mistake}}})
	w.runner.Plan, w.runner.Workload = w.plan, withCustom{w.runner.Workload}
	if _, _, err := w.runner.Run(t.Context(), nil); filewise.RemedyOf(err) != "give another file" {
		t.Errorf("%v → %s", err, filewise.RemedyOf(err))
	}
}

type withCustom struct{ filewise.Workload }

func (w withCustom) Program() filewise.Program {
	p := w.Workload.Program()
	p.Custom = &filewise.CustomSQL{}
	return p
}

func TestBudgetEndsTheRunAndIsNotExceededByMuch(t *testing.T) {
	w := newWorld(t, []int{1, 2, 4}, fake.Config{Noise: 0.1, Seed: 6,
		Stages: map[string]time.Duration{filewise.StageBuild: 500 * time.Millisecond}})
	w.plan.Budget = time.Minute
	trials, d := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if d.Ending != experiment.Spent && d.Ending != experiment.Futile {
		t.Errorf("ending %+v; noise of 10 %% cannot be decided in a minute", d)
	}
	if j.Elapsed > w.plan.Budget*11/10 {
		t.Errorf("%v of trials with a budget of %v", j.Elapsed, w.plan.Budget)
	}
	if j.Schedule.MaxBlocks >= w.plan.MaxBlocks || j.Schedule.MaxBlocks < verdict.FirstAnalysis {
		t.Errorf("%d blocks fit into the budget?", j.Schedule.MaxBlocks)
	}
}

func TestTinyBudgetSaysWhatAVerdictNeeds(t *testing.T) {
	w := newWorld(t, []int{1, 2, 4}, fake.Config{})
	w.plan.Budget = 5 * time.Second
	trials, d := w.run(t)
	if d.Ending != experiment.Spent || !strings.Contains(d.Why, "3 blocks, as many as an interval needs, take about") {
		t.Errorf("ending %+v", d)
	}
	if len(trials) > 3 {
		t.Errorf("%d trials: after the pilots it is known that 3 blocks do not fit into 5 s", len(trials))
	}
}

func TestPilotsEndWithTheBudget(t *testing.T) {
	w := newWorld(t, []int{1, 2, 4}, fake.Config{Throughput: byFiles(map[int]float64{1: 1, 2: 1, 4: 1})})
	w.plan.Window, w.plan.PilotWindow = 0, 0
	w.plan.Work, w.plan.PilotWork = 800*int64(w.plan.Params.RowBytes), 100*int64(w.plan.Params.RowBytes)
	w.plan.Budget = time.Minute
	trials, d := w.run(t)
	if len(trials) != 1 || d.Ending != experiment.Spent {
		t.Errorf("%d pilots of 100 s with a budget of a minute, %+v", len(trials), d)
	}
}

func TestPilotOfFixedWorkForecastsTheTrial(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Throughput: byFiles(map[int]float64{1: 1000, 2: 1000})})
	w.plan.Window, w.plan.PilotWindow = 0, 0
	w.plan.Work, w.plan.PilotWork = 8000*int64(w.plan.Params.RowBytes), 1000*int64(w.plan.Params.RowBytes)
	w.plan.MaxBlocks = 3
	trials, _ := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if got := j.Schedule.TrialTime; got < 7900*time.Millisecond || got > 8100*time.Millisecond {
		t.Errorf("a trial of 8000 rows at 1000 a second is expected to take %v", got)
	}
}

// What only the first build of a layout takes is no part of what a trial takes.
func TestPilotsAreNotForecastByTheirFirstBuild(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Throughput: byFiles(map[int]float64{1: 1000, 2: 1000}),
		Stages: map[string]time.Duration{filewise.StageCreate: 20 * time.Second, filewise.StageBuild: time.Second}})
	w.plan.Window, w.plan.PilotWindow = 0, 0
	w.plan.Work, w.plan.PilotWork = 8000*int64(w.plan.Params.RowBytes), 8000*int64(w.plan.Params.RowBytes)
	w.plan.MaxBlocks = 3
	trials, _ := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if got := j.Schedule.TrialTime; got < 8900*time.Millisecond || got > 9100*time.Millisecond {
		t.Errorf("a trial of 8 s after a build of 1 s is expected to take %v", got)
	}
	for i, trial := range trials {
		var build, create time.Duration
		for _, s := range trial.Stages {
			switch s.Name {
			case filewise.StageBuild:
				build += s.Took
			case filewise.StageCreate:
				create += s.Took
			}
		}
		if first := i < 2; build != time.Second || (create == 20*time.Second) != first {
			t.Errorf("trial %d: %v building, %v creating", i, build, create)
		}
	}
}

func TestFullOrFailingVolumeEndsTheRun(t *testing.T) {
	for _, fault := range []error{filewise.ErrSpace, filewise.ErrVolume, syscall.EROFS, syscall.EIO, syscall.ENOTCONN, syscall.ESTALE,
		syscall.ETIMEDOUT, syscall.EFBIG} {
		w := newWorld(t, []int{1, 2}, fake.Config{Faults: []fake.Fault{{Build: 4, Stage: filewise.StageMeasure, Err: fault}}})
		w.runner.Plan = w.plan
		trials, _, err := w.runner.Run(t.Context(), nil)
		if filewise.CodeOf(err) != filewise.CodePreflight || !errors.Is(err, fault) {
			t.Errorf("error %v", err)
		}
		if len(trials) != 3 || len(w.stored) != 3 {
			t.Errorf("%v: %d trials, %d stored; the fourth is to be measured again", fault, len(trials), len(w.stored))
		}
	}
}

// A server without a free connection is tried as often as any trial, in pilots, too; then the run ends, and can go on.
func TestNoConnectionsEndTheRun(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Faults: []fake.Fault{
		{Layout: "2 files", Stage: filewise.StageMeasure, Err: filewise.ErrConnections}}})
	w.runner.Plan = w.plan
	trials, d, err := w.runner.Run(t.Context(), nil)
	if filewise.CodeOf(err) != filewise.CodeStopped || !strings.Contains(filewise.RemedyOf(err), "resume") || d.Ending != experiment.GoesOn {
		t.Errorf("%v, %v", d, err)
	}
	if _, d := w.plan.Next(trials); d.Ending != experiment.GoesOn {
		t.Errorf("resume: %v", d)
	}
}

func TestGuardEndsTheRun(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Throughput: byFiles(map[int]float64{1: 1e-3, 2: 1e-3})})
	low := errors.New("little space left")
	w.plan.Window, w.plan.PilotWindow = 1e6*time.Hour, 1e6*time.Hour
	w.plan.SliceLength = 1e3 * time.Hour
	w.runner.Plan, w.runner.Guard = w.plan, func() error { return low }
	if trials, _, err := w.runner.Run(t.Context(), nil); !errors.Is(err, low) || len(trials) != 0 {
		t.Errorf("%d trials, error %v", len(trials), err)
	}
}

// Of operations longer than the window the parts within it count.
func TestLongOperationsAreMeasured(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Throughput: byFiles(map[int]float64{1: 1000, 2: 0.1})})
	trials, d := w.run(t)
	if d.Ending != experiment.Decided {
		t.Errorf("ending %+v", d)
	}
	for _, tr := range trials {
		if x, ok := tr.Throughput("inserts"); tr.Cell.Layout == "2 files" && (!ok || x < 0.09 || x > 0.41) { // 4 connections
			t.Errorf("%+v: %s, %v a second", tr.Cell, tr.State, x)
		}
	}
}

func TestRejudgeUsesEveryCompleteBlock(t *testing.T) {
	w := newWorld(t, []int{1, 2, 4}, fake.Config{Noise: 0.01, Seed: 12,
		Throughput: byFiles(map[int]float64{1: 1000, 2: 700, 4: 1030})})
	trials, _ := w.run(t)
	own, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	rules := w.plan
	rules.Margin, rules.Confidence = 0.5, 0.99
	j, err := w.plan.Rejudge(rules, trials)
	if err != nil {
		t.Fatal(err)
	}
	if j.First().Result.Blocks != own.First().Result.Blocks || j.Decision.Ending == experiment.GoesOn {
		t.Errorf("%d of %d blocks, %+v", j.First().Result.Blocks, own.First().Result.Blocks, j.Decision)
	}
	if none, err := w.plan.Rejudge(rules, nil); err != nil || none.Decision.Ending != experiment.GoesOn {
		t.Errorf("no blocks: %+v, %v", none.Decision, err)
	}
}

func TestPilotsFixTheWarmUp(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Settling: 300 * time.Millisecond})
	trials, _ := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if j.Schedule.WarmUp < 300*time.Millisecond {
		t.Errorf("warm-up %v; planted: throughput settles after 300 ms", j.Schedule.WarmUp)
	}
	for _, tr := range trials {
		if from := tr.Measures[0].Window[0]; !tr.Cell.Pilot && from != j.Schedule.WarmUp {
			t.Errorf("block %d, %s: the window begins at %v, not after the common warm-up %v", tr.Cell.Block, tr.Cell.Layout, from,
				j.Schedule.WarmUp)
		}
	}
}

func TestCancelEndsTheTrialCleanly(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	w.runner.Notify = func(e experiment.Event) {
		if e.Kind == experiment.EventStage && e.Stage == filewise.StageMeasure && e.Live != nil {
			if n++; n == 4 {
				cancel()
			}
		}
	}
	trials, _, err := w.runner.Run(ctx, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if len(trials) != 3 || len(w.stored) != 3 {
		t.Errorf("%d trials returned, %d recorded; the fourth was interrupted", len(trials), len(w.stored))
	}
	if n := w.engine.Undropped(); n != 0 {
		t.Errorf("%d builds are still there", n)
	}
}

func TestStoreThatFailsEndsTheRun(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{})
	full := errors.New("no space left")
	w.runner.Record = func(context.Context, filewise.Trial) error { return full }
	if _, _, err := w.runner.Run(t.Context(), nil); !errors.Is(err, full) {
		t.Errorf("error %v, want the store's", err)
	}
}

func TestFixedWorkMeasuresAllOfIt(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Throughput: byFiles(map[int]float64{1: 1000, 2: 2000})})
	w.plan.Window, w.plan.PilotWindow, w.plan.Work = 0, 0, 3000*int64(w.plan.Params.RowBytes)
	trials, d := w.run(t)
	for _, tr := range trials {
		if m := tr.Measures[0]; m.Work != 3000 || m.Window[0] != 0 {
			t.Fatalf("%+v: %v rows in %v, want 3000 from the start", tr.Cell, m.Work, m.Window)
		}
	}
	if got := w.recommended(t, trials); got != "2 files" || d.Ending != experiment.Decided {
		t.Errorf("recommended %q, %+v", got, d)
	}
	checkTimeAddsUp(t, trials)
}

func TestStagesAddUpToTheTrial(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Noise: 0.01, Stages: map[string]time.Duration{
		filewise.StageBuild: 30 * time.Millisecond, filewise.StageDrain: 20 * time.Millisecond, filewise.StageDrop: 10 * time.Millisecond}})
	trials, _ := w.run(t)
	checkTimeAddsUp(t, trials)
}

func checkTimeAddsUp(t *testing.T, trials []filewise.Trial) {
	t.Helper()
	for _, tr := range trials {
		var sum time.Duration
		for _, s := range tr.Stages {
			if s.Took < 0 {
				t.Errorf("%+v: stage %s took %v", tr.Cell, s.Name, s.Took)
			}
			sum += s.Took
		}
		if sum != tr.Elapsed {
			t.Errorf("%+v: stages of %v in a trial of %v", tr.Cell, sum, tr.Elapsed)
		}
	}
}

func TestJudgeWithoutTrials(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{})
	j, err := w.plan.Judge(nil)
	if err != nil || len(j.Sentences()) == 0 || j.Decision.Ending != experiment.GoesOn {
		t.Errorf("%+v, %v", j, err)
	}
}

func TestLoadedBuildsTakeTurnsAndAreReset(t *testing.T) {
	w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.02, Seed: 8, Peculiar: 0.03,
		Throughput: byFiles(map[int]float64{1: 1000, 4: 2000})})
	w.plan.Preload, w.plan.Builds = 500*int64(w.plan.Params.RowBytes), 3
	trials, d := w.run(t)
	if got := w.recommended(t, trials); got != "4 files" || d.Ending != experiment.Decided {
		t.Errorf("recommended %q, %+v", got, d)
	}
	if n := w.engine.Builds(); n != 6 {
		t.Errorf("%d builds for 2 layouts with 3 builds each", n)
	}
	if n := w.engine.Undropped(); n != 0 {
		t.Errorf("%d builds are still there", n)
	}
	builds := make(map[string]map[string]int)
	for _, tr := range trials {
		if tr.State != filewise.Done {
			t.Fatalf("%+v failed: %s", tr.Cell, tr.Reason)
		}
		if !tr.Cell.Pilot {
			if builds[tr.Cell.Layout] == nil {
				builds[tr.Cell.Layout] = make(map[string]int)
			}
			builds[tr.Cell.Layout][tr.Build]++
		}
	}
	for layout, used := range builds {
		if len(used) != 3 {
			t.Errorf("%s ran on %v, want three builds in turn", layout, used)
		}
		for name := range used {
			if !strings.HasPrefix(name, layout) {
				t.Errorf("build %q of %s is not unique over the layouts", name, layout)
			}
		}
	}
}

// A build is loaded as fast as it goes, whatever rate is measured on it.
func TestLoadingHasNoRate(t *testing.T) {
	w := newWorld(t, []int{1, 4}, fake.Config{Throughput: func(filewise.Layout) float64 { return 1000 }})
	sc, err := workload.Lookup("inserts")
	if err != nil {
		t.Fatal(err)
	}
	w.plan.Params.Rate = 50
	if w.runner.Workload, err = sc.New(w.plan.Params, w.plan.Seed); err != nil {
		t.Fatal(err)
	}
	w.plan.Preload, w.plan.Builds, w.plan.MaxBlocks = 5000*int64(w.plan.Params.RowBytes), 1, 3
	trials, _ := w.run(t)
	for _, s := range trials[0].Stages {
		if s.Took > 10*time.Second {
			t.Errorf("%s took %v for 5,000 rows at 1,000 a second: the measured rate is 50", s.Name, s.Took)
		}
	}
}

// A layout is loaded once; every trial is on a separate build that is a copy.
func TestCopiedBuildsAreLoadedOnce(t *testing.T) {
	for name, w := range map[string]*world{
		"sessions": newInterleaved(t, []int{1, 4}, fake.Config{Noise: 0.02, Seed: 8, Copies: true}),
		"trials":   newWorld(t, []int{1, 4}, fake.Config{Noise: 0.02, Seed: 8, Copies: true}),
	} {
		t.Run(name, func(t *testing.T) {
			w.plan.Preload, w.plan.MaxBlocks = 500*int64(w.plan.Params.RowBytes), 4
			trials, _ := w.run(t)
			for _, tr := range trials {
				made := slices.ContainsFunc(tr.Stages, func(s filewise.Stage) bool { return s.Name == filewise.StageCreate })
				if tr.State != filewise.Done || tr.Build != "" || made != tr.Cell.Pilot {
					t.Errorf("%+v, %s %s, on %q: loaded %v", tr.Cell, tr.State, tr.Reason, tr.Build, made)
				}
			}
			if n := w.engine.Builds(); n != len(trials) || w.engine.Undropped() != 0 {
				t.Errorf("%d builds for %d trials, %d of them are still there", n, len(trials), w.engine.Undropped())
			}
		})
	}
}

// restored is a workload whose builds a dump fills.
type restored struct{ filewise.Workload }

func (r restored) Program() filewise.Program {
	p := r.Workload.Program()
	p.Custom = &filewise.CustomSQL{From: "dump"}
	return p
}

// Of what a dump has filled the further builds are copies, are named so, and count as one build; or each is filled.
func TestCopiesOfARestoredBuild(t *testing.T) {
	for _, copied := range []bool{true, false} {
		w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.02, Seed: 8, Copies: true})
		w.runner.Workload = restored{w.runner.Workload}
		w.plan.Builds, w.plan.CopiedBuilds, w.plan.MaxBlocks = 3, copied, 8
		trials, _ := w.run(t)
		names := map[string]int{}
		for _, tr := range trials {
			if tr.State != filewise.Done || !strings.HasPrefix(tr.Build, tr.Cell.Layout+" #") {
				t.Fatalf("%+v, %s %s, on %q", tr.Cell, tr.State, tr.Reason, tr.Build)
			}
			names[tr.Build]++
		}
		copies := 0
		for name := range names {
			if strings.Contains(name, ", copy ") {
				copies++
			}
		}
		j, err := w.plan.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		one := strings.Contains(strings.Join(j.Sentences(), " "), "a single build and copies of it")
		if len(names) != 6 || copies != map[bool]int{true: 4}[copied] || one != copied {
			t.Errorf("copies wanted %v: builds %v; a verdict for one build: %v", copied, names, one)
		}
	}
}

func TestResumedRunNamesItsOwnBuildsDifferently(t *testing.T) {
	truth := fake.Config{Noise: 0.05, Seed: 9}
	w := newWorld(t, []int{1, 4}, truth)
	w.plan.Preload, w.plan.Builds, w.plan.MaxBlocks = 500*int64(w.plan.Params.RowBytes), 2, 4
	trials, _ := w.run(t)
	again := newWorld(t, []int{1, 4}, truth)
	again.plan = w.plan
	resumed, _ := again.run(t, trials[:5]...)
	before := make(map[string]bool)
	for _, tr := range trials[:5] {
		before[tr.Build] = true
	}
	for _, tr := range resumed[5:] {
		if before[tr.Build] {
			t.Errorf("%+v ran on %q, a build that is gone", tr.Cell, tr.Build)
		}
	}
}

func TestFailureOnALoadedBuildDropsIt(t *testing.T) {
	w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.01, Seed: 10,
		Throughput: byFiles(map[int]float64{1: 1000, 4: 2000}),
		Faults:     []fake.Fault{{Layout: "4 files", Stage: filewise.StageCheck, Times: 1}}})
	w.plan.Preload, w.plan.Builds = 500*int64(w.plan.Params.RowBytes), 1
	trials, d := w.run(t)
	if d.Ending != experiment.Decided || w.engine.Builds() != 3 || w.engine.Undropped() != 0 {
		t.Errorf("%+v with %d builds, %d left; want a third build after the failure", d, w.engine.Builds(), w.engine.Undropped())
	}
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(j.Sentences(), " "), "single build") {
		t.Errorf("one build of a layout, and no word of it: %q", j.Sentences())
	}
}

func TestLifecycleIsJudgedByOperation(t *testing.T) {
	w := newWorld(t, []int{1, 16}, fake.Config{Noise: 0.01, Seed: 11,
		Life: func(l filewise.Layout, operation string) time.Duration {
			if operation == experiment.OperationOpen && l.Data.Files == 16 {
				return 300 * time.Millisecond
			}
			return 100 * time.Millisecond
		}})
	w.plan.Measure, w.plan.Window, w.plan.PilotWindow = experiment.MeasureLifecycle, 0, 0
	w.plan.Work = 1000 * int64(w.plan.Params.RowBytes)
	trials, d := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Operations) != 4 || d.Ending != experiment.Decided {
		t.Fatalf("%d operations, %+v; want checkpoint, shutdown, open and recovery, decided", len(j.Operations), d)
	}
	for _, f := range j.Operations {
		analysis, ok := f.Result.Last()
		if !ok {
			t.Errorf("%s: no analysis", f.Name)
			continue
		}
		if worse := analysis.Estimates[1].Hi < 0; worse != (f.Name == experiment.OperationOpen) {
			t.Errorf("%s: 16 files are worse: %v; planted: open only (%v)", f.Name, worse, f.Sentences)
		}
	}
}

// On a server by URL a database goes offline and comes back, and nothing is crashed: no recovery is
// timed, and none is judged.
func TestLifecycleOfDatabases(t *testing.T) {
	w := newWorld(t, []int{1, 16}, fake.Config{Noise: 0.01, Seed: 12,
		Life: func(l filewise.Layout, operation string) time.Duration {
			if operation == experiment.OperationShutdown && l.Data.Files == 16 {
				return 300 * time.Millisecond
			}
			return 100 * time.Millisecond
		}})
	w.plan.Measure, w.plan.Window, w.plan.PilotWindow = experiment.MeasureLifecycle, 0, 0
	w.plan.Work, w.plan.Target.Mode = 1000*int64(w.plan.Params.RowBytes), filewise.External
	trials, d := w.run(t)
	for _, x := range trials {
		if x.State != filewise.Done {
			t.Fatalf("%+v: %s", x.Cell, x.Reason)
		}
	}
	j, err := w.plan.Judge(trials)
	if err != nil || len(j.Operations) != 3 || d.Ending != experiment.Decided {
		t.Fatalf("%d operations, %+v, %v; want shutdown, open and checkpoint, decided", len(j.Operations), d, err)
	}
	for _, f := range j.Operations {
		analysis, ok := f.Result.Last()
		if f.Name == experiment.OperationRecovery || !ok || (analysis.Estimates[1].Hi < 0) != (f.Name == experiment.OperationShutdown) {
			t.Errorf("%s: %v", f.Name, f.Sentences)
		}
	}
}

// A trial that fails because its volume has just gone is no failure of the layout: the run ends with the guard's
// error, and the trial is measured when it goes on.
func TestHostFaultIsNoFailedTrial(t *testing.T) {
	for _, interleaved := range []bool{false, true} {
		w := newWorld(t, []int{1, 2}, fake.Config{Faults: []fake.Fault{{Layout: "2 files", Stage: filewise.StageMeasure, After: 100}}})
		gone := filewise.Errorf(filewise.CodePreflight, "bring it back", "the volume is gone")
		w.plan.Interleaved = interleaved
		failed := false
		w.runner.Plan, w.runner.Guard = w.plan, func() error {
			if failed {
				return gone
			}
			return nil
		}
		w.runner.Notify = func(e experiment.Event) {
			failed = failed || e.Cell.Layout == "2 files" && e.Stage == filewise.StageMeasure
		}
		w.runner.Record = func(_ context.Context, t filewise.Trial) error {
			if t.State == filewise.Failed {
				return errors.New("stored as failed: " + t.Reason)
			}
			return nil
		}
		_, d, err := w.runner.Run(t.Context(), nil)
		if !errors.Is(err, gone) || d.Ending != experiment.GoesOn {
			t.Errorf("interleaved %v: %+v, %v; want the end by the guard, and to go on", interleaved, d, err)
		}
	}
}

// If pilots have nothing to fix, the baseline's pilot forecasts the time, and a single one proves a layout.
func TestOnePilot(t *testing.T) {
	w := newWorld(t, []int{1, 4, 8}, fake.Config{Noise: 0.01, Seed: 4, Throughput: byFiles(map[int]float64{1: 1000, 4: 1500, 8: 1200})})
	w.plan.OnePilot, w.plan.Baseline = true, "4 files"
	if first := w.plan.Trials(); !first[0].Pilot || first[0].Layout != "4 files" || first[1].Pilot {
		t.Errorf("the trials begin with %+v", first[:2])
	}
	trials, d := w.run(t)
	if got := w.recommended(t, trials); got != "4 files" || d.Ending != experiment.Decided || !trials[0].Cell.Pilot || trials[1].Cell.Pilot {
		t.Errorf("recommended %q, %+v", got, d)
	}
	w.plan.Layouts, w.plan.Budget = w.plan.Layouts[1:], 1
	if trials, _ := w.run(t); len(trials) != 1 {
		t.Errorf("%d trials of a budget that is spent by the pilot", len(trials))
	}
}

// A race of backups among equal settings ends after a third of the full grid; its finding is one of the best.
func TestRaceEndsAfterAThirdOfTheGrid(t *testing.T) {
	truth := map[int]float64{1: 1000, 2: 1000, 3: 1000, 4: 1000, 5: 1000, 6: 1000, 7: 500, 8: 500}
	w := newWorld(t, []int{1, 2, 3, 4, 5, 6, 7, 8}, fake.Config{Noise: 0.02, Seed: 3, Throughput: byFiles(truth)})
	w.plan.Goal, w.plan.OnePilot, w.plan.Target.Database = verdict.GoalBest, true, "theirs"
	trials, d := w.run(t)
	if d.Ending != experiment.Spent || !strings.Contains(d.Why, "of the full grid's 160 trials") || len(trials) > 54 || len(trials) < 48 {
		for _, x := range trials {
			t.Log(x.Cell, x.State, x.Reason)
		}
		t.Errorf("%d trials, %+v", len(trials), d)
	}
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if analysis, ok := j.First().Result.Last(); !ok || analysis.Leader > 5 {
		t.Errorf("the leader is %+v", analysis)
	}
	if next, again := w.plan.Next(trials); again != d {
		t.Errorf("resumed, it goes on with %+v", next)
	}
}
