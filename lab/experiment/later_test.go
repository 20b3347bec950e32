package experiment_test

import (
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/fake"
)

// stagesOf are the engine's calls for a layout, from the n-th build on.
func stagesOf(w *world, layout string) []string {
	var all []string
	for _, c := range w.engine.Calls() {
		if c.Layout == layout {
			all = append(all, c.Stage)
		}
	}
	return all
}

// laterWorld has the three arms of files that are added later.
func laterWorld(t *testing.T, truth fake.Config) *world {
	w := newWorld(t, []int{1, 4, 5}, truth)
	for i, arm := range []filewise.AddedLater{filewise.LaterUntouched, filewise.LaterNewData, filewise.LaterRebuilt} {
		w.plan.Layouts[i].Name, w.plan.Layouts[i].AddedLater, w.plan.Layouts[i].Data.Files = string(arm), arm, 4
	}
	w.plan.Baseline = w.plan.Layouts[0].Name
	w.plan.Preload, w.plan.Builds, w.plan.MaxBlocks = 500*int64(w.plan.Params.RowBytes), 1, 3
	return w
}

// Files are added after loading with no connection open, once for a build, and
// before the state is kept to which every trial is reset.
func TestFilesAreAddedToTheLoadedBuild(t *testing.T) {
	w := laterWorld(t, fake.Config{Seed: 1})
	trials, _ := w.run(t)
	for _, l := range w.plan.Layouts {
		stages := stagesOf(w, l.Name)
		want := []string{"build", "connect", "disconnect", "add files", "observe", "snapshot", "reset"}
		if len(stages) < len(want) || !slices.Equal(stages[:len(want)], want) {
			t.Errorf("%s: began with %v, want %v", l.Name, stages, want)
		}
		if n := strings.Count(strings.Join(stages, ","), "add files"); n != 1 {
			t.Errorf("%s: files were added %d times to one build", l.Name, n)
		}
	}
	for _, tr := range trials {
		files := 4
		if tr.Cell.Layout == string(filewise.LaterUntouched) {
			files = 1
		}
		if tr.State != filewise.Done || len(tr.Files) != files || len(tr.Final) != files {
			t.Errorf("%+v: %s %q with %d and %d files, want %d", tr.Cell, tr.State, tr.Reason, len(tr.Files), len(tr.Final), files)
		}
	}
}

// If a build cannot be reset, every trial builds, loads and extends again, as separate stages, and reports it.
func TestLoadedAnewWithoutReset(t *testing.T) {
	w := laterWorld(t, fake.Config{Seed: 1, NoReset: true})
	trials, _ := w.run(t)
	if w.engine.Builds() != len(trials) {
		t.Errorf("%d builds for %d trials", w.engine.Builds(), len(trials))
	}
	for _, tr := range trials {
		var names []string
		for _, s := range tr.Stages {
			names = append(names, s.Name)
		}
		want := []string{filewise.StageBuild, filewise.StageLoad, filewise.StageExtend, filewise.StageSettle}
		reported := slices.ContainsFunc(tr.Warnings, func(w filewise.Warning) bool { return w.Code == "loaded-anew" })
		if tr.State != filewise.Done || tr.Build != "" || !reported || len(names) < 4 || !slices.Equal(names[:4], want) {
			t.Errorf("%+v: %s %q on build %q, said %v, stages %v", tr.Cell, tr.State, tr.Reason, tr.Build, reported, names)
		}
	}
	if n := w.engine.Undropped(); n != 0 {
		t.Errorf("%d builds are left", n)
	}
}

// A build to which the files cannot be added fails its trial and is dropped.
func TestFilesThatCannotBeAdded(t *testing.T) {
	for _, reset := range []bool{true, false} {
		w := laterWorld(t, fake.Config{Seed: 1, NoReset: !reset,
			Faults: []fake.Fault{{Stage: filewise.StageExtend, Layout: "rebuilt", Times: 1}}})
		trials, _ := w.run(t)
		failed := 0
		for _, tr := range trials {
			if tr.State == filewise.Failed {
				failed++
				if !strings.HasPrefix(tr.Reason, "add files: ") {
					t.Errorf("reason %q", tr.Reason)
				}
			}
		}
		if failed != 1 || w.engine.Undropped() != 0 {
			t.Errorf("%d trials failed, %d builds are left", failed, w.engine.Undropped())
		}
	}
}

// The database to which no file is added has the size of its one file.
func TestOutgrownByArm(t *testing.T) {
	w := laterWorld(t, fake.Config{Seed: 1})
	// 1 MiB on 4 files: loaded with 200 KB, and some 400 KB a trial on top.
	w.plan.Preload = 1000 * int64(w.plan.Params.RowBytes)
	trials, _ := w.run(t)
	for _, tr := range trials {
		var lines []string
		for _, x := range tr.Warnings {
			if x.Code == "outgrown" {
				lines = append(lines, x.Message)
			}
		}
		untouched := tr.Cell.Layout == string(filewise.LaterUntouched)
		if !tr.Cell.Pilot && (len(lines) == 1) != untouched {
			t.Errorf("%s: %v", tr.Cell.Layout, lines)
		}
	}
}
