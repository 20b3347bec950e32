package experiment_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
)

// lazy is an engine whose background writer does all its work after the window: two layouts
// commit at one rate, and a file of its own spares the second one of them half of the writing.
func lazy() fake.Config {
	return fake.Config{Noise: 0.01, Seed: 3,
		Stages: map[string]time.Duration{filewise.StageSettle: 30 * time.Millisecond, filewise.StageDrain: 30 * time.Millisecond},
		Drain: func(l filewise.Layout, operations int64) time.Duration {
			return time.Duration(operations) * time.Millisecond / time.Duration(l.Data.Files)
		}}
}

// A window cannot lie: what a layout leaves to be written counts. At 1,000 operations a second a
// second of work takes a second, and 1 or 0.5 s to write: 2 s against 1.5 s from rest to rest.
// First contact: SQL Server 2, Oracle 6.
func TestRestSeesWhatTheWindowLeaves(t *testing.T) {
	for _, interleaved := range []bool{true, false} {
		for observe, want := range map[string]float64{experiment.ObserveRest: 2 / 1.5, "": 1} {
			w := newWorld(t, []int{1, 2}, lazy())
			w.plan.Observe = observe
			if interleaved {
				w.plan.Rounds = 5
			}
			trials, _ := w.run(t)
			j, err := w.plan.Judge(trials)
			if err != nil {
				t.Fatal(err)
			}
			analysis, ok := j.First().Result.Last()
			if !ok {
				t.Fatalf("interleaved %v, observe %q: no estimate", interleaved, observe)
			}
			e := analysis.Estimates[1]
			if math.Abs(e.Effect-math.Log(want)) > 0.02 || (e.Lo > 0) != (want > 1) {
				t.Errorf("interleaved %v, observe %q: effect %.3f (%.3f to %.3f); planted %.3f", interleaved, observe,
					e.Effect, e.Lo, e.Hi, math.Log(want))
			}
		}
	}
}

// A checkpoint that falls into the window, and a background writer that works on after it, change what a window sees by
// when they fall; all work by all time stays the planted 2 s against 1.5 s.
func TestRestSeesCheckpointsInMidWindow(t *testing.T) {
	for _, every := range []int64{150, 300} { // turns commit about 400 operations
		effects := map[string]float64{}
		for _, observe := range []string{experiment.ObserveRest, ""} {
			c := lazy()
			c.CheckpointEvery = every
			w := newInterleaved(t, []int{1, 2}, c)
			w.plan.Observe, w.plan.MaxBlocks = observe, 6
			trials, _ := w.run(t)
			j, err := w.plan.Judge(trials)
			if err != nil {
				t.Fatal(err)
			}
			analysis, ok := j.First().Result.Last()
			if !ok {
				t.Fatalf("a checkpoint each %d operations, observe %q: no estimate", every, observe)
			}
			effects[observe] = analysis.Estimates[1].Effect
		}
		planted := math.Log(2 / 1.5)
		if math.Abs(effects[experiment.ObserveRest]-planted) > 0.02 || math.Abs(effects[""]-planted) < 0.05 {
			t.Errorf("a checkpoint each %d operations: effect %.3f from rest to rest, %.3f within the window; planted %.3f", every,
				effects[experiment.ObserveRest], effects[""], planted)
		}
	}
}

// All work counts, before and after the window too, by all time, less what an empty drain takes.
func TestRestIsAllWorkByAllTime(t *testing.T) {
	w := newInterleaved(t, []int{1, 2}, lazy())
	w.plan.Observe, w.plan.MaxBlocks = experiment.ObserveRest, 3
	trials, _ := w.run(t)
	for _, tr := range trials {
		m := tr.Measures[0]
		if tr.Cell.Pilot {
			continue
		}
		if m.Rest == nil || m.Rest.Work < m.Work {
			t.Fatalf("%+v: from rest to rest %+v, within the window %v", tr.Cell, m.Rest, m.Work)
		}
		wrote := time.Duration(m.Rest.Work) * time.Millisecond / time.Duration(w.plan.Layouts[0].Rank)
		if tr.Cell.Layout == w.plan.Layouts[1].Name {
			wrote = time.Duration(m.Rest.Work) * time.Millisecond / 2
		}
		if m.Rest.Empty != 5*30*time.Millisecond || m.Sync-m.Rest.Empty != wrote {
			t.Errorf("%+v: an empty drain takes %v, the drain %v; planted 150ms and %v more", tr.Cell, m.Rest.Empty, m.Sync, wrote)
		}
		if got := m.Throughput(); got != m.Rest.Work/m.Rest.Time.Seconds() || got >= m.WindowRate() {
			t.Errorf("%+v: %v is judged, %v within the window", tr.Cell, got, m.WindowRate())
		}
	}
}

// A server that cannot be brought to rest is judged by the window, and the report states it.
func TestRestNeedsRest(t *testing.T) {
	c := lazy()
	c.Unsettled = filewise.Errorf(filewise.CodePreflight, "grant it", "the account may not ask for a checkpoint: %w", errors.New("denied"))
	w := newInterleaved(t, []int{1, 2}, c)
	w.plan.Observe, w.plan.MaxBlocks = experiment.ObserveRest, 3
	trials, _ := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	reported := false
	for _, warning := range j.Warnings {
		reported = reported || warning.Code == "window-observed" && warning.Remedy == "grant it"
	}
	if trials[0].Measures[0].Rest != nil || !reported {
		t.Errorf("observed %+v; warnings %+v", trials[0].Measures[0].Rest, j.Warnings)
	}
}

// If others write more than a tenth, a drain would be about them: pilots see it, and all blocks are judged by their
// windows, with the condition broken.
func TestDrainsOfOthersAreNotJudged(t *testing.T) {
	for others, rests := range map[float64]bool{0.05: true, 0.3: false} {
		c := lazy()
		c.Others = others
		w := newInterleaved(t, []int{1, 2}, c)
		w.plan.Observe, w.plan.MaxBlocks, w.plan.Interleaved, w.plan.Rounds, w.plan.WindowByPilots = experiment.ObserveRest, 3, true, 0, true
		trials, _ := w.run(t)
		j, err := w.plan.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range trials {
			if got := tr.Measures[0].Rest != nil; got != (rests || tr.Cell.Pilot) {
				t.Errorf("others %.0f %%: %+v is observed from rest to rest: %v", 100*others, tr.Cell, got)
			}
		}
		i := slices.IndexFunc(j.Conditions, func(c filewise.Condition) bool { return c.Name == filewise.CondWrites })
		reported := slices.ContainsFunc(j.Warnings, func(x filewise.Warning) bool {
			return x.Code == "window-observed" && strings.Contains(x.Message, "30 %")
		})
		if reported == rests || !rests && !j.Conditions[i].Broken() {
			t.Errorf("others %.0f %%: condition %+v, warnings %+v", 100*others, j.Conditions[i], j.Warnings)
		}
	}
}

// The start of each turn is judged, so that only a build's youth is discarded: a tenth of what is usually measured.
func TestWarmUpOfTurnsIsShort(t *testing.T) {
	for observe, short := range map[string]bool{experiment.ObserveRest: true, "": false} {
		c := lazy()
		c.Drain, c.Settling = nil, 400*time.Millisecond
		w := newInterleaved(t, []int{1, 2}, c)
		w.plan.Observe, w.plan.MaxBlocks, w.plan.Interleaved, w.plan.Rounds, w.plan.WindowByPilots = observe, 3, true, 0, true
		trials, _ := w.run(t)
		j, err := w.plan.Judge(trials)
		if err != nil {
			t.Fatal(err)
		}
		most := max(4*j.Schedule.Turn/10, 100*time.Millisecond) + w.plan.SliceLength
		if s := j.Schedule; short && s.WarmUp > most || !short && s.WarmUp < 400*time.Millisecond {
			t.Errorf("observe %q: warm-up %v, turns of %v", observe, s.WarmUp, s.Turn)
		}
	}
}
