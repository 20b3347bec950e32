package experiment_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
)

func newInterleaved(t *testing.T, files []int, truth fake.Config) *world {
	w := newWorld(t, files, truth)
	w.plan.Rounds, w.plan.Window = 5, 2*time.Second
	return w
}

// turnsOf are the layouts in the order of their turns since their builds, without
// the round of the warm-up.
func turnsOf(calls []fake.Call, layouts int) (turns []string, most int) {
	live := 0
	for _, c := range calls {
		switch c.Stage {
		case filewise.StageBuild:
			live++
			turns = nil
		case filewise.StageDrop:
			live--
		case "connect":
			turns = append(turns, c.Layout)
		}
		if most = max(most, live); live == 0 && most == layouts {
			break
		}
	}
	return turns[min(layouts, len(turns)):], most
}

func TestInterleavedBlocksTakeTurns(t *testing.T) {
	w := newInterleaved(t, []int{1, 4, 8}, fake.Config{Noise: 0.01, Seed: 1,
		Throughput: byFiles(map[int]float64{1: 1000, 4: 1500, 8: 1200})})
	trials, d := w.run(t)
	if got := w.recommended(t, trials); got != "4 files" || d.Ending != experiment.Decided {
		t.Errorf("recommended %q, %+v; planted: 4 files", got, d)
	}
	if n := w.engine.Undropped(); n != 0 {
		t.Errorf("%d builds are still there", n)
	}
	for _, tr := range trials {
		m := tr.Measures[0]
		if tr.Cell.Pilot {
			if m.Turns != nil {
				t.Errorf("the pilot of %s took turns", tr.Cell.Layout)
			}
			continue
		}
		if len(m.Turns) != 5 || m.Window != [2]time.Duration{0, 2 * time.Second} || len(m.Slices) != 200 {
			t.Fatalf("%+v: %d turns, window %v, %d slices", tr.Cell, len(m.Turns), m.Window, len(m.Slices))
		}
		logs, sum := 0.0, 0.0
		for _, work := range m.Turns {
			logs, sum = logs+math.Log(work/0.4), sum+work
		}
		if x, ok := tr.Throughput(m.Operation); !ok || math.Abs(x/math.Exp(logs/5)-1) > 1e-9 || math.Abs(sum-m.Work) > 1e-6 {
			t.Errorf("%+v: throughput %v, work %v; turns %v", tr.Cell, x, m.Work, m.Turns)
		}
		if tr.Elapsed < 2*time.Second || tr.Elapsed > 4*time.Second {
			t.Errorf("%+v took %v of its own; the others' turns are not its", tr.Cell, tr.Elapsed)
		}
	}
	if _, end := w.plan.Next(trials); end != d {
		t.Errorf("Next says %+v, the run ended with %+v", end, d)
	}
}

func TestRoundsAreShuffledAndDrained(t *testing.T) {
	w := newInterleaved(t, []int{1, 2, 4, 8}, fake.Config{})
	w.plan.MaxBlocks = 3
	w.run(t)
	calls := w.engine.Calls()
	// Of the last interleaved block, in which four are live.
	turns, most := turnsOf(calls, 4)
	if most != 4 || len(turns) != 4*5 {
		t.Fatalf("%d live at once, %d turns; want 4 and 20", most, len(turns))
	}
	orders := make(map[string]bool)
	for r := 0; r < len(turns); r += 4 {
		one := slices.Clone(turns[r : r+4])
		orders[strings.Join(one, ",")] = true
		slices.Sort(one)
		if len(slices.Compact(one)) != 4 {
			t.Errorf("round %d: %v", r/4, turns[r:r+4])
		}
	}
	if len(orders) < 3 {
		t.Errorf("5 rounds have only %d orders", len(orders))
	}
	open, dirty := "", ""
	for _, c := range calls {
		switch {
		case c.Stage == "connect" && (open != "" && open != c.Layout || dirty != "" && dirty != c.Layout):
			t.Fatalf("%s begins while %q works and %q is not drained", c.Layout, open, dirty)
		case c.Stage == "connect":
			open, dirty = c.Layout, c.Layout
		case c.Stage == "disconnect":
			open = ""
		case c.Stage == filewise.StageDrain && c.Layout == dirty:
			dirty = ""
		}
	}
}

func TestInterleavedBlocksResume(t *testing.T) {
	truth := fake.Config{Noise: 0.03, Seed: 3, Throughput: byFiles(map[int]float64{1: 1000, 2: 1010, 4: 1060})}
	w := newInterleaved(t, []int{1, 2, 4}, truth)
	trials, _ := w.run(t)
	var cells []filewise.Cell
	for k := range trials { // also within an interleaved block: its rest is measured alone
		cell, d := w.plan.Next(trials[:k])
		if d.Ending != experiment.GoesOn || cell != trials[k].Cell {
			t.Fatalf("after %d trials Next says %+v, %+v; the run measured %+v", k, cell, d, trials[k].Cell)
		}
		cells = append(cells, cell)
	}
	w = newInterleaved(t, []int{1, 2, 4}, truth)
	resumed, _ := w.run(t, trials[:7]...) // of 3 pilots and a block of 3, one of the next
	if got := resumed[7].Cell; got != cells[7] {
		t.Errorf("resumed with %+v, want %+v", got, cells[7])
	}
}

func TestInterleavedFailures(t *testing.T) {
	for _, stage := range []string{filewise.StageBuild, filewise.StageObserve, filewise.StageMeasure, filewise.StageDrain,
		filewise.StageCheck} {
		t.Run(stage, func(t *testing.T) {
			w := newInterleaved(t, []int{1, 2, 4}, fake.Config{Noise: 0.01, Seed: 4,
				Faults: []fake.Fault{{Build: 5, Stage: stage, Times: 1}}})
			trials, _ := w.run(t)
			failed := slices.IndexFunc(trials, func(tr filewise.Trial) bool { return tr.State == filewise.Failed })
			if failed != 4 {
				t.Fatalf("trial %d failed, planted: the second of the first block", failed)
			}
			want := trials[failed].Cell
			want.Attempt = 2
			if again := trials[6]; again.Cell != want || again.State != filewise.Done || len(again.Measures[0].Turns) != 5 {
				t.Errorf("after its block: %+v %s; want %+v", again.Cell, again.State, want)
			}
			for _, i := range []int{3, 5} {
				if trials[i].State != filewise.Done {
					t.Errorf("%+v failed as well: %s", trials[i].Cell, trials[i].Reason)
				}
			}
			if n := w.engine.Undropped(); n != 0 {
				t.Errorf("%d builds are still there", n)
			}
		})
	}
}

// A database that cannot be dropped takes nothing from what was measured on it. Should each one stay,
// trials fail before they have filled the storage. First contact: Oracle 4.
func TestFailedDrops(t *testing.T) {
	w := newInterleaved(t, []int{1, 2, 4}, fake.Config{Noise: 0.01, Seed: 4,
		Faults: []fake.Fault{{Build: 5, Stage: filewise.StageDrop, Times: 1}}})
	trials, d := w.run(t)
	for i, tr := range trials {
		left := slices.ContainsFunc(tr.Warnings, func(w filewise.Warning) bool { return w.Code == "left-over" && w.Remedy != "" })
		if tr.State != filewise.Done || left != (i == 4) {
			t.Errorf("trial %d is %s (%s), a database was left over: %v", i, tr.State, tr.Reason, left)
		}
	}
	if n := w.engine.Undropped(); n != 1 || d.Ending != experiment.Decided && d.Ending != experiment.Spent {
		t.Errorf("%d builds are still there, %+v", n, d)
	}
	w = newWorld(t, []int{1, 2}, fake.Config{Faults: []fake.Fault{{Stage: filewise.StageDrop, Times: 1000}}})
	trials, _ = w.run(t)
	if i := slices.IndexFunc(trials, func(tr filewise.Trial) bool { return tr.State == filewise.Failed }); i != 3 {
		t.Errorf("trial %d is the first that fails, want the fourth", i)
	}
}

func TestEndedBlockIsNotRecorded(t *testing.T) {
	busy := errors.New("others need the server")
	for name, end := range map[string]func(*world, context.CancelFunc){
		"interrupt": func(_ *world, cancel context.CancelFunc) { cancel() },
		"guard":     func(w *world, _ context.CancelFunc) { w.runner.Guard = func() error { return busy } },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w := newInterleaved(t, []int{1, 2, 4}, fake.Config{})
			w.runner.Guard = func() error {
				live := 0
				for _, c := range w.engine.Calls() {
					if c.Stage == "connect" {
						live++
					}
				}
				if live == 10 { // in the third round of the first interleaved block
					end(w, cancel)
				}
				return nil
			}
			w.runner.Plan = w.plan
			trials, _, err := w.runner.Run(ctx, nil)
			want := context.Canceled
			if name == "guard" {
				want = busy
			}
			if !errors.Is(err, want) || len(trials) != 3 || len(w.stored) != 3 {
				t.Errorf("ended with %v after %d trials, %d stored; want %v after the pilots", err, len(trials), len(w.stored), want)
			}
			if n := w.engine.Undropped(); n != 0 {
				t.Errorf("%d builds are still there", n)
			}
		})
	}
}

func TestInterleavedLoadedBuilds(t *testing.T) {
	w := newInterleaved(t, []int{1, 4}, fake.Config{Noise: 0.01, Seed: 8, Throughput: byFiles(map[int]float64{1: 1000, 4: 1300})})
	w.plan.Preload, w.plan.Builds, w.plan.MaxBlocks = 1<<20, 2, 6
	trials, _ := w.run(t)
	builds := make(map[string]bool)
	for _, tr := range trials {
		builds[tr.Build] = true
	}
	if len(builds) != 4 || w.engine.Builds() != 4 || w.engine.Undropped() != 0 {
		t.Errorf("used %v, %d builds, %d left; want 2 of each layout and none left", builds, w.engine.Builds(), w.engine.Undropped())
	}
	if got := w.recommended(t, trials); got != "4 files" {
		t.Errorf("recommended %q", got)
	}
}

func TestWhatCannotTakeTurnsIsRefused(t *testing.T) {
	program := newInterleaved(t, []int{1}, fake.Config{}).runner.Workload.Program()
	for why, change := range map[string]func(*experiment.Plan){
		"too short":   func(p *experiment.Plan) { p.Rounds = 11 },
		"at least 2":  func(p *experiment.Plan) { p.Rounds = -1 },
		"life cycle":  func(p *experiment.Plan) { p.Measure = experiment.MeasureLifecycle },
		"phases":      func(*experiment.Plan) { program.Phases[0].Ops = 100 },
		"article":     func(p *experiment.Plan) { p.AsPublished = &experiment.AsPublished{} },
		"calibration": func(p *experiment.Plan) { p.Calibrate = true },
	} {
		p := newInterleaved(t, []int{1}, fake.Config{}).plan
		program.Phases[0].Ops = 0
		change(&p)
		if err := p.CheckRounds(program); filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), why) ||
			filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", why, err)
		}
	}
	program.Phases[0].Ops = 0
	if err := newInterleaved(t, []int{1}, fake.Config{}).plan.CheckRounds(program); err != nil {
		t.Error(err)
	}
}

// An interleaved block that may not end now is measured again, whole.
func TestPostponedBlockIsMeasuredAgain(t *testing.T) {
	w := newInterleaved(t, []int{1, 4}, fake.Config{Noise: 0.01, Seed: 9, Throughput: byFiles(map[int]float64{1: 1000, 4: 1500})})
	var asked atomic.Int64 // a slow interleaved block's guard counts as well
	w.runner.Guard = func() error {
		if asked.Add(1) == 7 {
			return experiment.ErrPostponed
		}
		return nil
	}
	ended := 0 // also an interleaved block that has ended may turn out to be disturbed
	w.runner.Ended = func(context.Context) error {
		if ended++; ended == 3 {
			return experiment.ErrPostponed
		}
		return nil
	}
	var expected []time.Duration
	w.runner.Await = func(_ context.Context, d time.Duration) error {
		expected = append(expected, d)
		return nil
	}
	trials, _ := w.run(t)
	if trials[2].Cell.Attempt != 1 || trials[2].State != filewise.Done || w.recommended(t, trials) != "4 files" {
		t.Errorf("after the postponed block: %+v %s", trials[2].Cell, trials[2].State)
	}
	if w.engine.Builds() != len(trials)+4 || w.engine.Undropped() != 0 {
		t.Errorf("%d builds for %d trials, %d left; want 4 more, and none left", w.engine.Builds(), len(trials), w.engine.Undropped())
	}
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * j.Schedule.TrialTime; len(expected) < 5 || expected[2] != want || expected[4] != want {
		t.Errorf("blocks are expected to take %v; want %v", expected, want)
	}
	for _, tr := range trials[2:] {
		if d := tr.Elapsed - j.Schedule.TrialTime; d < -j.Schedule.TrialTime/10 || d > j.Schedule.TrialTime/10 {
			t.Errorf("%+v took %v; expected by the pilots: %v", tr.Cell, tr.Elapsed, j.Schedule.TrialTime)
		}
	}
}
