package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/types/known/timestamppb"

	"filewise"
	"filewise/engine/fake"
	"filewise/fleet/drivers"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/store"
	"filewise/run"
	"filewise/run/plan"
)

// site is a host that measures on the fake engine, in virtual time.
func site(t *testing.T) Site {
	t.Helper()
	home := t.TempDir()
	t.Setenv("FILEWISE_STATE", filepath.Join(home, "state"))
	t.Setenv("FILEWISE_LOCK", fmt.Sprintf("filewise-test-%d-%s", os.Getpid(), t.Name()))
	sc, err := workload.Lookup("inserts")
	if err != nil {
		t.Fatal(err)
	}
	volume := t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(volume); err != nil || len(left) > 0 {
			t.Errorf("left on the volume: %v, %v", left, err)
		}
	})
	engine := fake.New(fake.Config{Seed: 3, Noise: 0.1})
	engine.Clock().Advance(26 * 365 * 24 * time.Hour) // of which there are runs
	return Site{
		Offer: Offer{Host: "db1", Labels: []string{"storage=nvme"}, Version: "test"},
		Make: func(o Job) (plan.Made, error) {
			p := experiment.Plan{
				Scenario: sc.Name, Params: sc.Params, Seed: 7, StorageLimit: "off",
				Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
					Volumes: []filewise.Volume{{Name: "here", Dir: volume}}},
				Window: 2 * time.Second, PilotWindow: time.Second, SliceLength: 10 * time.Millisecond,
				Margin: 2, Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: 4, Attempts: 2,
			}
			p.Params.Connections = 1
			for _, n := range []int{1, 2} {
				p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
					Data: filewise.Spread{Files: n, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
			}
			p.Baseline = p.Layouts[0].Name
			if o.Experiment == "nowhere" {
				p.Target.Volumes[0].Dir = filepath.Join(volume, "secret")
			}
			return plan.Made{Plan: p, Engine: engine}, nil
		},
		Options: func(m plan.Made) run.Options {
			return run.Options{Engine: m.Engine, Clock: engine.Clock(), Store: filepath.Join(home, "store.db"), Version: "test"}
		},
		Hide: func(text string) string { return strings.ReplaceAll(text, "secret", "***") },
	}
}

// environment replays workflows as Temporal does, in virtual time.
func environment(t *testing.T, b *bench) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the host may be busy
	register(env)
	for name, do := range b.activities() {
		env.RegisterActivityWithOptions(do, activity.RegisterOptions{Name: name})
	}
	return env
}

func job(experiment string) Job {
	return Job{Campaign: "storage", Experiment: experiment, Host: "db1", Patience: time.Hour}
}

// result returns the workflow's result.
func result(t *testing.T, env *testsuite.TestWorkflowEnvironment) (s State) {
	t.Helper()
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if err := env.GetWorkflowResult(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A campaign's trials are the trials that "run" would have made with the seed, each once: also if the worker dies
// between two of them, and gets the request for what it has done again. They come home.
func TestExperimentIsThatOfRun(t *testing.T) {
	at := site(t)
	b := &bench{site: at, idle: time.Minute}
	env := environment(t, b)
	var mu sync.Mutex // of b
	var asked, ahead atomic.Int64
	env.RegisterActivityWithOptions(func(ctx context.Context, r Request) (Standing, error) {
		mu.Lock()
		now := b
		mu.Unlock()
		if r.Ahead {
			ahead.Add(1)
		}
		if asked.Add(1)%5 == 0 {
			if _, err := now.Next(ctx, r); err != nil { // its answer is lost
				return Standing{}, err
			}
			mu.Lock()
			defer mu.Unlock()
			b.end()
			b = &bench{site: at, idle: time.Minute}
			now = b
		}
		return now.Next(ctx, r)
	}, activity.RegisterOptions{Name: "Next", DisableAlreadyRegisteredCheck: true})
	env.ExecuteWorkflow(Experiment, State{Job: job("inserts")})
	s := result(t, env)
	if s.Condition != Done || s.Bundle.Parts != 1 || s.Standing.Verdict == "" || s.Error != "" {
		t.Fatalf("it ended as %+v", s)
	}
	answer, err := env.QueryWorkflow(queryPart, 0)
	if err != nil {
		t.Fatal(err)
	}
	var part []byte
	if err := answer.Get(&part); err != nil {
		t.Fatal(err)
	}
	_, r, trials, err := store.ReadBundle(bytes.NewReader(part))
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != s.Standing.Trials || ahead.Load() < int64(len(trials))/4 || !slices.Contains(r.Plan.Tags, "storage=nvme") ||
		!slices.Contains(r.Plan.Tags, "host=db1") {
		t.Errorf("%d trials, of which %d were asked for ahead, %d stand: %v", len(trials), ahead.Load(), s.Standing.Trials, r.Plan.Tags)
	}
	measured := 0 // as "list" counts
	for _, trial := range trials {
		if trial.State == filewise.Done && !trial.Cell.Pilot {
			measured++
		}
	}
	if measured == len(trials) || !strings.Contains(s.Words(), fmt.Sprintf(", %d trials", measured)) {
		t.Errorf("%d of %d trials are measured, and the campaign says %q", measured, len(trials), s.Words())
	}
	for i, trial := range trials {
		if want, _ := r.Plan.Next(trials[:i]); trial.Cell != want {
			t.Errorf("trial %d is %+v, want %+v", i, trial.Cell, want)
		}
	}
	if _, d := r.Plan.Next(trials); d.Ending == experiment.GoesOn {
		t.Error("it goes on")
	}
}

// Paused it gives the host back, resumed it goes on, stopped it keeps what it has.
func TestPauseResumeStop(t *testing.T) {
	b := &bench{site: site(t), idle: time.Minute}
	env := environment(t, b)
	var asked atomic.Int64
	var paused, resumed State
	env.RegisterActivityWithOptions(func(ctx context.Context, r Request) (Standing, error) {
		switch asked.Add(1) {
		case 2:
			env.SignalWorkflow(control, wordPause)
			env.RegisterDelayedCallback(func() {
				if answer, err := env.QueryWorkflow(queryState); err != nil || answer.Get(&paused) != nil {
					t.Errorf("paused: %v", err)
				}
				if !b.open.over() {
					t.Error("it holds the host while it is paused")
				}
				env.SignalWorkflow(control, wordResume)
				env.RegisterDelayedCallback(func() {
					if answer, err := env.QueryWorkflow(queryState); err != nil || answer.Get(&resumed) != nil {
						t.Errorf("resumed: %v", err)
					}
				}, 0)
			}, time.Hour)
		case 8:
			env.SignalWorkflow(control, wordStop)
		}
		return b.Next(ctx, r)
	}, activity.RegisterOptions{Name: "Next", DisableAlreadyRegisteredCheck: true})
	env.ExecuteWorkflow(Experiment, State{Job: job("inserts")})
	s := result(t, env)
	if paused.Condition != Paused || paused.Standing.Trials != 1 || s.Condition != Stopped || s.Standing.Trials < 3 || s.Bundle.Parts != 1 ||
		resumed.Condition != Waiting {
		t.Errorf("paused as %+v, resumed as %+v, stopped as %+v", paused, resumed, s)
	}
	b.end()
}

// A pause that is over before the trial is, and what it took back, do not end the job.
func TestPauseWithinATrial(t *testing.T) {
	b := &bench{site: site(t), idle: time.Minute}
	defer b.end()
	env := environment(t, b)
	var asked atomic.Int64
	env.RegisterActivityWithOptions(func(ctx context.Context, r Request) (Standing, error) {
		if asked.Add(1) == 4 {
			env.SignalWorkflow(control, wordPause)
			env.SignalWorkflow(control, wordResume)
		}
		return b.Next(ctx, r)
	}, activity.RegisterOptions{Name: "Next", DisableAlreadyRegisteredCheck: true})
	env.ExecuteWorkflow(Experiment, State{Job: job("inserts")})
	if s := result(t, env); s.Condition != Done || s.Bundle.Trials != s.Standing.Trials {
		t.Errorf("it ended as %+v", s)
	}
}

// A job that waits for its host, which measures another, does not begin while it is paused.
func TestPauseWhileAnotherIsMeasured(t *testing.T) {
	b := &bench{site: site(t), idle: time.Minute}
	if _, err := b.begin(job("another")); err != nil {
		t.Fatal(err)
	}
	env := environment(t, b)
	var paused State
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(control, wordPause) }, time.Minute)
	env.RegisterDelayedCallback(func() {
		if answer, err := env.QueryWorkflow(queryState); err != nil || answer.Get(&paused) != nil {
			t.Errorf("paused: %v", err)
		}
		b.end()
	}, 2*time.Minute)
	env.RegisterDelayedCallback(func() {
		if b.open.name != job("another").Name() {
			t.Errorf("%s was begun", b.open.name)
		}
		env.SignalWorkflow(control, wordResume)
	}, time.Hour)
	env.ExecuteWorkflow(Experiment, State{Job: job("inserts")})
	if s := result(t, env); paused.Condition != Paused || s.Condition != Done {
		t.Errorf("paused as %+v, ended as %+v", paused, s)
	}
}

func TestWhatGoesWrongIsSaid(t *testing.T) {
	b := &bench{site: site(t), idle: time.Minute}
	env := environment(t, b)
	env.ExecuteWorkflow(Experiment, State{Job: job("nowhere")})
	if s := result(t, env); s.Condition != Failed || !strings.Contains(s.Error, "does not exist") || strings.Contains(s.Error, "secret") ||
		!strings.Contains(s.Words(), "\n  → ") {
		t.Errorf("without its volume: %+v, %s", s, s.Words())
	}
	env = environment(t, b)
	env.RegisterActivityWithOptions(func(context.Context, Request) (Standing, error) {
		return Standing{}, temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil) // as Temporal reports it
	}, activity.RegisterOptions{Name: "Next", DisableAlreadyRegisteredCheck: true})
	env.ExecuteWorkflow(Experiment, State{Job: job("inserts"), Standing: Standing{Run: 3, Trials: 5}})
	if s := result(t, env); s.Condition != Lost || s.Standing.Trials != 5 || !strings.Contains(s.Error, "not answered for 1h") {
		t.Errorf("without its host: %+v", s)
	}
	_, _, err := Campaigns{}.Start(t.Context(), "c", Study{File: "s.yaml", Text: []byte("password: hunter2"),
		Secrets: []filewise.Secret{"hunter2"}}, nil, false, time.Hour)
	if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), "holds a secret") {
		t.Errorf("a password in the study: %v", err)
	}
	_, _, err = Campaigns{}.fetch(t.Context(), State{Job: job("inserts"), Bundle: Bundle{Parts: 1 << 40}}, nil)
	if filewise.CodeOf(err) != filewise.CodeStore {
		t.Errorf("a bundle without end: %v", err)
	}
	settings := filepath.Join(t.TempDir(), "temporal.toml")
	if err := os.WriteFile(settings, []byte("[profile.default]\napi_key = SecretKey\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEMPORAL_CONFIG_FILE", settings)
	if _, err := Dial(t.Context(), "", nil); filewise.CodeOf(err) != filewise.CodeUsage ||
		strings.Contains(err.Error(), "SecretKey") {
		t.Errorf("a key without quotes: %v", err)
	}
	if _, err := Dial(t.Context(), "ada:SecretKey@127.0.0.1:1", nil); filewise.CodeOf(err) != filewise.CodeUsage ||
		strings.Contains(err.Error(), "SecretKey") {
		t.Errorf("a password in the address: %v", err)
	}
}

// Two hosts that share a store have a run each, by the same name.
func TestHostsWithOneStore(t *testing.T) {
	at := site(t)
	runs := map[int64]bool{}
	for _, host := range []string{"db1", "db2", "db1"} {
		at.Host = host
		b := &bench{site: at, idle: time.Minute}
		s, err := b.Next(t.Context(), Request{Job: job("inserts")})
		if err != nil {
			t.Fatal(err)
		}
		b.end()
		runs[s.Run] = true
	}
	if len(runs) != 2 {
		t.Errorf("runs %v of two hosts", runs)
	}
}

// A server that is away for a while ends no job; for longer than its patience it does.
func TestFaultsThatPass(t *testing.T) {
	for patience, want := range map[time.Duration]string{time.Hour: Done, 0: Failed} {
		at := site(t)
		usual, asked := at.Make, 0
		at.Make = func(o Job) (plan.Made, error) {
			if asked++; asked <= 3 {
				return plan.Made{}, fmt.Errorf("connect: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
			}
			return usual(o)
		}
		b := &bench{site: at, idle: time.Minute}
		env := environment(t, b)
		o := job("inserts")
		o.Patience = time.Hour
		env.RegisterActivityWithOptions(func(ctx context.Context, r Request) (Standing, error) {
			r.Job.Patience = patience
			return b.Next(ctx, r)
		}, activity.RegisterOptions{Name: "Next", DisableAlreadyRegisteredCheck: true})
		env.ExecuteWorkflow(Experiment, State{Job: o})
		if s := result(t, env); s.Condition != want {
			t.Errorf("with a patience of %v it ended as %+v", patience, s)
		}
		b.end()
	}
}

// What a host had is there when it is lost for good.
func TestHostIsLostForGood(t *testing.T) {
	b := &bench{site: site(t), idle: time.Minute}
	defer b.end()
	env := environment(t, b)
	env.RegisterActivityWithOptions(func(ctx context.Context, r Request) (Standing, error) {
		if r.After >= 7 {
			return Standing{}, temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil) // as Temporal reports it
		}
		return b.Next(ctx, r)
	}, activity.RegisterOptions{Name: "Next", DisableAlreadyRegisteredCheck: true})
	env.ExecuteWorkflow(Experiment, State{Job: job("inserts")})
	s := result(t, env)
	if s.Condition != Lost || s.Bundle.Trials < 6 || !strings.Contains(s.Error, fmt.Sprint(s.Bundle.Trials, " of its trials have come home")) {
		t.Fatalf("lost with %d trials: %+v", s.Bundle.Trials, s)
	}
	answer, err := env.QueryWorkflow(queryPart, 0)
	if err != nil {
		t.Fatal(err)
	}
	var part []byte
	if err := answer.Get(&part); err != nil {
		t.Fatal(err)
	}
	if _, r, trials, err := store.ReadBundle(bytes.NewReader(part)); err != nil || len(trials) != s.Bundle.Trials || r.Plan.Seed != 7 {
		t.Errorf("%d trials came home: %v", len(trials), err)
	}
	if l := s.Standing.Layouts; len(l) != 1 || l[0].Layout != "2 files" || l[0].Text == "" {
		t.Errorf("estimates: %+v", l)
	}
}

// A host's state is reported while it works, and also that its worker is not there.
func TestWhatAHostDoes(t *testing.T) {
	m := &measuring{at: Standing{Trials: 5}}
	m.Notify(experiment.Event{Kind: experiment.EventStage, Cell: filewise.Cell{Layout: "2 files", Pilot: true}, Stage: "measure"})
	beat, err := converter.GetDefaultDataConverter().ToPayloads(m.now())
	if err != nil {
		t.Fatal(err)
	}
	s := State{Job: job("inserts"), Condition: Running, Standing: Standing{Trials: 5}}
	how := worker.WorkflowReplayerOptions{DataConverter: converter.GetDefaultDataConverter(),
		FailureConverter: temporal.GetDefaultFailureConverter()}
	s.hear(how, &workflowpb.PendingActivityInfo{HeartbeatDetails: beat})
	const want = "inserts on db1: running, 5 trials; pilot, 2 files: measure"
	if s.Words() != want || s.Watched().Doing != "pilot, 2 files: measure" {
		t.Errorf("it says %q, want %q", s.Words(), want)
	}
	waits := &workflowpb.PendingActivityInfo{State: enums.PENDING_ACTIVITY_STATE_SCHEDULED,
		ScheduledTime: timestamppb.New(time.Now().Add(-time.Minute))}
	s.hear(how, waits)
	if !strings.Contains(s.Words(), "waits for its host's worker since") {
		t.Errorf("without a worker it says %q", s.Words())
	}
	waits.LastFailure = how.FailureConverter.ErrorToFailure(temporal.NewApplicationError(`the host measures "other: a"`, "busy"))
	s.hear(how, waits)
	if !strings.Contains(s.Words(), `; it waits: the host measures "other: a"`) {
		t.Errorf("while the host measures something else it says %q", s.Words())
	}
}

// A run whose next trial is not requested gives the host back.
func TestNobodyAsks(t *testing.T) {
	b := &bench{site: site(t), idle: 50 * time.Millisecond}
	m, err := b.begin(job("inserts"))
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.done:
	case <-time.After(time.Minute):
		t.Fatal("it holds the host")
	}
	if filewise.CodeOf(m.err) != filewise.CodeStopped {
		t.Errorf("it ended with %v", m.err)
	}
}

// A workflow that an earlier version began is gone on with by this one.
func TestHistoryIsReplayed(t *testing.T) {
	histories, err := filepath.Glob("testdata/history-*.json")
	if err != nil || len(histories) == 0 {
		t.Fatal(histories, err)
	}
	for _, history := range histories {
		r := worker.NewWorkflowReplayer()
		register(r)
		if err := r.ReplayWorkflowHistoryFromJSONFile(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), history); err != nil {
			t.Errorf("%s: %v", history, err)
		}
	}
}

// What is known of a job is also known if no worker answers: from its history, however far that goes.
func TestNoWorkerAnswers(t *testing.T) {
	f, err := os.Open("testdata/history-2.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	whole, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	how := worker.WorkflowReplayerOptions{DataConverter: converter.GetDefaultDataConverter()}
	trials := -1
	for n := 1; n <= len(whole.GetEvents()); n++ {
		switch whole.GetEvents()[n-1].GetEventType() {
		case enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, enums.EVENT_TYPE_MARKER_RECORDED, enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
			enums.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
			continue // what a worker has decided comes at once
		}
		e, err := replayed(&historypb.History{Events: whole.GetEvents()[:n]}, how)
		if err != nil || e.Host != "db1" || e.Condition == "" || e.Standing.Trials < trials {
			t.Fatalf("after %d events: %+v, %v", n, e, err)
		}
		trials = e.Standing.Trials
		if n < len(whole.GetEvents()) {
			continue
		}
		sum := sha256.Sum256(bytes.Join(e.parts, nil))
		if e.Condition != Done || trials == 0 || e.Bundle.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("at the end: %+v", e.State)
		}
	}
	s := State{Job: job("inserts"), Condition: Running, Standing: Standing{Trials: 7, Uncounted: 2}}
	heard := time.Date(2026, 11, 25, 4, 5, 6, 0, time.Local)
	s.unanswered(heard)
	if want := "inserts on db1: running, 5 trials; no worker answers; it was heard of last at 2026-11-25 04:05:06"; s.Words() != want {
		t.Errorf("it says %q, want %q", s.Words(), want)
	}
}

// A worker reports in its own words that Temporal is away, once, and that it is there again; anything else that
// goes wrong in one line.
func TestWorkerSaysWhatTemporalLogs(t *testing.T) {
	said := make(chan string, 10)
	back := make(chan error)
	l := &listener{say: func(text string) { said <- text }, back: func(context.Context) error { return <-back }}
	told := log.NewStructuredLogger(slog.New(l))
	gone := serviceerror.NewUnavailable("connection refused")
	told.Warn(logPoll, "Error", gone)
	told.Warn(logPoll, "Error", gone)
	told.Warn("RecordActivityHeartbeat with error", "Error", gone)
	back <- nil
	for _, want := range []string{"Temporal does not answer; the question is repeated", "Temporal answers again"} {
		if text := <-said; !strings.HasPrefix(text, want) {
			t.Errorf("it says %q, want %q", text, want)
		}
	}
	for range 2 {
		told.Error("Activity error.", "Error", context.Canceled)
		told.Error("Activity panic.", "Error", "nil map")
		told.Warn(logTask, "Error", fmt.Errorf("decode: %w", errKey))
	}
	for _, want := range []string{"Temporal: Activity panic", "what Temporal has cannot be read: decode: another key than here"} {
		if text := <-said; text != want {
			t.Errorf("it says %q, want %q", text, want)
		}
	}
	if len(said) > 0 {
		t.Errorf("more is said: %q", <-said)
	}
}

// A driver's host carries out its crew's requests, and reports what it cannot do.
func TestDriverThroughTemporal(t *testing.T) {
	at := site(t)
	at.Engine = func(string) (filewise.Engine, error) { return fake.New(fake.Config{}), nil }
	at.Login = func(filewise.Target) run.Login {
		return func(context.Context) (filewise.Address, error) { return filewise.Address{}, nil }
	}
	b := &bench{site: at, idle: time.Minute, driver: at.driver()}
	defer b.end()
	for _, c := range []struct {
		mode filewise.Mode
		want string
	}{{filewise.Embedded, "existing servers only"}, {filewise.External, ""}} {
		env, want := environment(t, b), c.want
		p := experiment.Plan{Target: filewise.Target{Engine: fake.Name, Mode: c.mode, Database: "secret"}}
		env.ExecuteWorkflow(Driver, "db1", drivers.Order{Greet: &drivers.Greeting{Plan: p, Version: at.Version}})
		var a drivers.Answer
		if err := env.GetWorkflowResult(&a); err != nil {
			t.Fatal(err)
		}
		if said := a.Failure; (said == nil) != (want == "") || said != nil && !strings.Contains(said.Text, want) {
			t.Errorf("%s: %+v", c.mode, said)
		}
	}
	if _, err := b.begin(job("inserts")); filewise.CodeOf(err) != filewise.CodeBusy {
		t.Errorf("a campaign on a host that is a driver: %v", err)
	}
	if err := b.driver.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.begin(job("inserts")); err != nil {
		t.Fatal(err)
	}
	env := environment(t, b)
	env.ExecuteWorkflow(Driver, "db1", drivers.Order{Greet: &drivers.Greeting{Version: at.Version}})
	if err := env.GetWorkflowError(); err == nil || !strings.Contains(asked(err).Error(), "measures for a campaign") {
		t.Errorf("a host that measures for a campaign: %v", err)
	}
}

// Layouts that take turns have their trials stored together: the host still gets requests for the next ones, however
// far the answers are behind.
func TestTrialsThatComeTogether(t *testing.T) {
	at := site(t)
	usual := at.Make
	at.Make = func(o Job) (plan.Made, error) {
		made, err := usual(o)
		made.Plan.Interleaved, made.Plan.MaxBlocks = true, 24
		return made, err
	}
	b := &bench{site: at, idle: 5 * time.Second}
	defer b.end()
	env := environment(t, b)
	env.RegisterActivityWithOptions(func(ctx context.Context, r Request) (Standing, error) {
		s, err := b.Next(ctx, r)
		if err != nil {
			err = temporal.NewNonRetryableApplicationError(err.Error(), "", nil)
		}
		return s, err
	}, activity.RegisterOptions{Name: "Next", DisableAlreadyRegisteredCheck: true})
	env.ExecuteWorkflow(Experiment, State{Job: job("inserts")})
	if s := result(t, env); s.Condition != Done || s.Standing.Trials < 12 || s.Bundle.Trials != s.Standing.Trials {
		t.Errorf("it ended as %+v", s)
	}
}

// Trials that are shorter than a share are measured without a request for each, including trials requested ahead; a
// share that ends anywhere loses none.
func TestShortTrialsShareAStep(t *testing.T) {
	at := site(t)
	for experiment, share := range map[string]time.Duration{"whole": time.Hour, "pieces": 3 * time.Millisecond} {
		b := &bench{site: at, idle: time.Minute, share: share}
		env := environment(t, b)
		actions, began := map[string]int{}, time.Now() // that Temporal Cloud would bill, without heartbeats
		env.SetOnActivityStartedListener(func(i *activity.Info, _ context.Context, _ converter.EncodedValues) { actions[i.ActivityType.Name]++ })
		env.ExecuteWorkflow(Experiment, State{Job: job(experiment)})
		s := result(t, env)
		if s.Condition != Done || s.Standing.Trials < 8 || s.Bundle.Trials != s.Standing.Trials || share == time.Hour && s.Steps > 1 {
			t.Errorf("with a share of %v it ended as %+v", share, s)
		}
		// One to open the run, one for each share, and one ahead; an export for each answer, and the last.
		if most := int(time.Since(began)/share) + 3; actions["Next"] > most || actions["Export"] > most {
			t.Errorf("with a share of %v in %v: %v, %d may be", share, time.Since(began), actions, most)
		}
		b.end()
	}
	b := &bench{site: at, idle: time.Minute, share: time.Hour}
	defer b.end()
	answers := make(chan Standing, 2)
	for _, r := range []Request{{Job: job("ahead"), After: 1, Ahead: true}, {Job: job("ahead")}} {
		go func() { s, _ := b.Next(t.Context(), r); answers <- s }()
	}
	if one, two := <-answers, <-answers; !one.Ended || !two.Ended || one.Trials != two.Trials {
		t.Errorf("asked twice: %+v, %+v", one, two)
	}
}

// Conditions are written whole, whatever letters they begin with.
func TestSumsInWords(t *testing.T) {
	of := Job{Campaign: "night"}
	sums := Sums([]State{{Job: of, Condition: Paused}, {Job: of, Condition: Done}, {Job: of, Condition: Done}})
	if len(sums) != 1 || sums[0].Words() != "night: 2 done, 1 paused" {
		t.Errorf("%+v: %q", sums, sums[0].Words())
	}
	pausing := State{Job: Job{Host: "h1"}, Condition: Running, Pausing: true}
	if words := pausing.Words(); !strings.Contains(words, "on h1: pausing, 0 trials") {
		t.Error(words)
	}
}
