package store

import (
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filewise"
	"filewise/internal/process"
	"filewise/lab/experiment"
)

func TestTrialsRoundTrip(t *testing.T) {
	s := openNew(t)
	id := newRun(t, s)
	none := filewise.Trial{Cell: filewise.Cell{Pilot: true, Layout: "1 file", Attempt: 1}, State: filewise.Failed, Reason: "disk full"}
	odd := sampleTrial(3)
	odd.Measures[0].Work, odd.Measures[0].Bytes = math.NaN(), math.Inf(-1)
	odd.Measures[0].Deltas[0].Value = math.Inf(1)
	odd.Measures[0].Slices, odd.Measures[1].Slices = []int64{}, nil
	odd.Measures[0].Hist, odd.Measures[1].Hist = []byte{}, nil
	odd.Warnings, odd.Files, odd.Stages = []filewise.Warning{}, nil, []filewise.Stage{}
	want := []filewise.Trial{none, sampleTrial(2), sampleTrial(1), odd} // as measured, not sorted
	for _, trial := range want {
		must(t, s.Recorder(id).Record(t.Context(), trial))
	}
	must(t, s.AddTrial(t.Context(), newRun(t, s), sampleTrial(1))) // another run's
	got, err := s.Trials(t.Context(), id)
	must(t, err)
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
}

func TestRunRoundTrip(t *testing.T) {
	s := openNew(t)
	ended := time.Now().Add(time.Hour)
	want := Run{Started: time.Now(), Ended: &ended, State: Done, Version: "v1.2",
		Owner: process.Identity{PID: 7, Start: 9, Boot: "b", Host: "h", Space: "s"},
		Plan:  samplePlan(), Machine: []filewise.Fact{{Name: "CPU", Value: "2"}},
		Server:   []filewise.Fact{{Name: "version", Value: "3.50"}},
		Warnings: []filewise.Warning{{Code: "one-device"}}, Ending: experiment.Decided, Why: "proven", Verdict: "Use 8 files."}
	id, err := s.CreateRun(t.Context(), want)
	must(t, err)
	want.ID = id
	got, err := s.Run(t.Context(), id)
	must(t, err)
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Error(diff)
	}
}

// A cell and attempt are measured once; another attempt is another trial.
func TestSameTrialTwice(t *testing.T) {
	s := openNew(t)
	id := newRun(t, s)
	first := sampleTrial(1)
	must(t, s.AddTrial(t.Context(), id, first))
	again := first
	again.Cell.Position = 3 // a retry comes at the end of its block
	if err := s.AddTrial(t.Context(), id, again); err == nil || !strings.Contains(err.Error(), "stored already") {
		t.Errorf("twice: %v", err)
	}
	again.Cell.Attempt++
	must(t, s.AddTrial(t.Context(), id, again))
	pilot := first
	pilot.Cell = filewise.Cell{Pilot: true, Layout: first.Cell.Layout, Attempt: 1}
	must(t, s.AddTrial(t.Context(), id, pilot))
	if err := s.AddTrial(t.Context(), id, pilot); err == nil {
		t.Error("a pilot was stored twice")
	}
	if trials, err := s.Trials(t.Context(), id); err != nil || len(trials) != 3 {
		t.Errorf("%d trials, %v", len(trials), err)
	}
}

func TestImpossibleTrials(t *testing.T) {
	s := openNew(t)
	id := newRun(t, s)
	for name, spoil := range map[string]func(*filewise.Trial){
		"state":   func(t *filewise.Trial) { t.State = "running" },
		"attempt": func(t *filewise.Trial) { t.Cell.Attempt = 0 },
		"block":   func(t *filewise.Trial) { t.Cell.Block = -1 },
	} {
		trial := sampleTrial(1)
		spoil(&trial)
		if err := s.AddTrial(t.Context(), id, trial); filewise.CodeOf(err) != filewise.CodeInternal {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.AddTrial(t.Context(), 99, sampleTrial(1)); filewise.CodeOf(err) != filewise.CodeNotFound {
		t.Errorf("unknown run: %v", err)
	}
	if trials, err := s.Trials(t.Context(), id); err != nil || len(trials) != 0 {
		t.Errorf("%d trials, %v", len(trials), err)
	}
}

// A run reads however much its trials are together: limits are for one row.
func TestLargeRun(t *testing.T) {
	s := openNew(t)
	id := newRun(t, s)
	const trials, files = 12, 50_000
	for block := 1; block <= trials; block++ {
		must(t, s.AddTrial(t.Context(), id, sampleTrial(block)))
	}
	list := "[" + strings.Repeat("{},", files-1) + "{}]"
	_, err := s.db.ExecContext(t.Context(), "UPDATE trials SET files = ?", list)
	must(t, err)
	if one, err := checkJSONSize([]byte(list), ofRun); err != nil || trials*one < ofRun.Memory {
		t.Fatalf("%d bytes a trial, %v", one, err)
	}
	read, err := s.Trials(t.Context(), id)
	if err != nil || len(read) != trials || len(read[trials-1].Files) != files {
		t.Errorf("%d trials, %v", len(read), err)
	}
	run, err := s.Run(t.Context(), id)
	must(t, err)
	if err := ExportBundle(io.Discard, run, read, Manifest{}); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("a bundle that no import takes: %v", err)
	}
}

func TestRuns(t *testing.T) {
	s := openNew(t)
	if list, err := s.Runs(t.Context()); err != nil || len(list) != 0 {
		t.Fatalf("%v, %v", list, err)
	}
	id := newRun(t, s)
	for block := 1; block <= 3; block++ {
		must(t, s.AddTrial(t.Context(), id, sampleTrial(block)))
	}
	failed, pilot := sampleTrial(4), sampleTrial(0)
	failed.State, pilot.Cell.Pilot = filewise.Failed, true
	must(t, s.AddTrial(t.Context(), id, failed))
	must(t, s.AddTrial(t.Context(), id, pilot))
	must(t, s.Finish(t.Context(), id, Outcome{State: Done, Ending: experiment.Decided, Why: "w", Verdict: "Use 8 files."}))
	newRun(t, s)
	list, err := s.Runs(t.Context())
	must(t, err)
	if len(list) != 2 || list[0].ID != id || list[1].State != Running || list[1].Ended != nil {
		t.Fatalf("%+v", list)
	}
	want := RunInfo{ID: id, Started: list[0].Started, Ended: list[0].Ended, State: Done, Scenario: "inserts", Engine: "sqlite",
		Layouts: []string{"1 file", "8 files"}, Trials: 3, Failed: 1, Ending: experiment.Decided, Verdict: "Use 8 files."}
	if diff := cmp.Diff(want, list[0]); diff != "" || want.Ended == nil {
		t.Error(diff)
	}
}

func TestResolve(t *testing.T) {
	s := openNew(t)
	if _, err := s.Resolve(t.Context(), "last"); filewise.CodeOf(err) != filewise.CodeNotFound ||
		!strings.Contains(err.Error(), "no runs yet") {
		t.Errorf("empty store: %v", err)
	}
	for range 9 {
		newRun(t, s)
	}
	for text, want := range map[string]int64{"last": 9, "4": 4, "007": 7} {
		if got, err := s.Resolve(t.Context(), text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "1.5", "last ", "99999999999999999999"} {
		if _, err := s.Resolve(t.Context(), text); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, err1 := s.Resolve(t.Context(), "12")
	_, err2 := s.Run(t.Context(), 12)
	_, err3 := s.Trials(t.Context(), 12)
	_, err4 := s.Resume(t.Context(), 12)
	for _, err := range []error{err1, err2, err3, err4, s.Finish(t.Context(), 12, Outcome{State: Done})} {
		if filewise.CodeOf(err) != filewise.CodeNotFound || !strings.Contains(err.Error(), "no run 12; the nearest are 5, 6, 7, 8, 9") {
			t.Errorf("%v", err)
		}
	}
}

func TestDeadOwnerReadsAsInterrupted(t *testing.T) {
	s := openNew(t)
	cmd := exec.Command("sleep", "60")
	must(t, cmd.Start())
	owner, err := process.Of(cmd.Process.Pid)
	must(t, err)
	id, err := s.CreateRun(t.Context(), Run{Plan: samplePlan(), Owner: owner})
	must(t, err)
	state := func() State {
		r, err := s.Run(t.Context(), id)
		must(t, err)
		list, err := s.Runs(t.Context())
		must(t, err)
		if list[0].State != r.State {
			t.Errorf("listed as %s, read as %s", list[0].State, r.State)
		}
		return r.State
	}
	if got := state(); got != Running {
		t.Errorf("owner lives: %s", got)
	}
	if _, err := s.Resume(t.Context(), id); filewise.CodeOf(err) != filewise.CodeBusy {
		t.Errorf("resumed while its owner runs it: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if got := state(); got != Interrupted {
		t.Errorf("owner is dead: %s", got)
	}
	r, err := s.Resume(t.Context(), id)
	if self, _ := process.Self(); err != nil || r.Owner != self || r.State != Running || state() != Running {
		t.Errorf("resumed: %+v, %v", r, err)
	}
	must(t, s.Finish(t.Context(), id, Outcome{State: Failed}))
	if got := state(); got != Failed {
		t.Error(got)
	}
}

// The lock of an owner counts, not what its process looks like from another boot,
// container or time namespace.
func TestOwnerByItsLock(t *testing.T) {
	s := openNew(t)
	id, err := s.CreateRun(t.Context(), Run{Plan: samplePlan()})
	must(t, err)
	look := func(from *Store, owner process.Identity, want State) {
		t.Helper()
		text, err := toJSON(owner, "owner")
		must(t, err)
		_, err = from.db.Exec("UPDATE runs SET owner = ? WHERE id = ?", text, id)
		must(t, err)
		if r, err := from.Run(t.Context(), id); err != nil || r.State != want {
			t.Errorf("owner %+v: %s, %v; want %s", owner, r.State, err, want)
		}
	}
	self, err := process.Self()
	must(t, err)
	earlier, elsewhere := self, self
	earlier.Start++
	elsewhere.Space = "pid:[1]"
	other, err := Open(t.Context(), s.Path())
	must(t, err)
	defer other.Close()
	look(s, earlier, Running)
	if _, err := other.Resume(t.Context(), id); filewise.CodeOf(err) != filewise.CodeBusy {
		t.Errorf("resumed while its owner runs it: %v", err)
	}
	must(t, s.Close()) // as by a kill
	look(other, elsewhere, Interrupted)
	if r, err := other.Resume(t.Context(), id); err != nil || r.Owner != self {
		t.Errorf("resumed: %+v, %v", r, err)
	}
	must(t, other.Close())
	again, err := Open(t.Context(), other.Path())
	must(t, err)
	defer again.Close()
	next, err := again.CreateRun(t.Context(), Run{Plan: samplePlan()})
	must(t, err)
	var stored State
	must(t, again.db.QueryRow("SELECT state FROM runs WHERE id = ?", id).Scan(&stored))
	if stored != Interrupted {
		t.Errorf("a killed run is stored as %s when the next one begins", stored)
	}
	must(t, again.Finish(t.Context(), next, Outcome{State: Done}))
	if left, _ := filepath.Glob(again.Path() + "?*"); len(left) != 0 {
		t.Errorf("beside the store: %v", left)
	}
}

// A run that no process runs is given a longer plan; one that is being run is not.
func TestExtend(t *testing.T) {
	s := openNew(t)
	id := newRun(t, s)
	r, err := s.Run(t.Context(), id)
	must(t, err)
	longer := r.Plan
	longer.Budget, longer.Extended = time.Hour, []experiment.Extension{{Budget: time.Minute}}
	if err := s.Extend(t.Context(), id, longer); filewise.CodeOf(err) != filewise.CodeBusy {
		t.Errorf("while it is run: %v", err)
	}
	must(t, s.Finish(t.Context(), id, Outcome{State: Done}))
	must(t, s.Extend(t.Context(), id, longer))
	if r, err = s.Run(t.Context(), id); err != nil || r.Plan.Budget != time.Hour || len(r.Plan.Extended) != 1 || r.State != Done {
		t.Errorf("%+v, %v", r.Plan.Extended, err)
	}
	if err := s.Extend(t.Context(), id+1, longer); filewise.CodeOf(err) != filewise.CodeNotFound {
		t.Errorf("no such run: %v", err)
	}
}

func TestRedesign(t *testing.T) {
	s := openNew(t)
	id := newRun(t, s)
	r, err := s.Run(t.Context(), id)
	must(t, err)
	r.Plan.Rungs = []experiment.Rung{{Options: []string{"--memory", "96MiB"}}}
	must(t, s.Redesign(t.Context(), id, r.Plan, []filewise.Fact{{Name: "memory", Value: "96 MiB"}}))
	if r, err = s.Run(t.Context(), id); err != nil || len(r.Plan.Rungs) != 1 || r.State != Running || r.Server[0].Value != "96 MiB" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := s.Redesign(t.Context(), id+1, r.Plan, nil); filewise.CodeOf(err) != filewise.CodeNotFound {
		t.Errorf("no such run: %v", err)
	}
}

func TestPage(t *testing.T) {
	s := openNew(t)
	for range 12 {
		newRun(t, s)
	}
	for _, c := range []struct {
		page Page
		ids  []int64
		more int
	}{
		{Page{Count: true}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 0},
		{Page{Count: true, Most: 3}, []int64{10, 11, 12}, 9},
		{Page{Most: 2, Before: 4}, []int64{2, 3}, 0},
		{Page{Count: true, Prefix: "1", Most: 3}, []int64{10, 11, 12}, 9},
		{Page{Count: true, Prefix: "1"}, []int64{1, 10, 11, 12}, 8},
		{Page{Prefix: "nobody's"}, nil, 0},
	} {
		list, more, err := s.Page(t.Context(), c.page)
		must(t, err)
		var ids []int64
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		if !slices.Equal(ids, c.ids) || more != c.more {
			t.Errorf("%+v: runs %v, %d more", c.page, ids, more)
		}
	}
}
