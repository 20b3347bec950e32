//go:build linux

package managed_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

func isBinlog(path string) bool { return strings.HasPrefix(filepath.Base(path), "fw-bin.") }

// noTool reports whether the product has no program that copies a running server's files.
func (sub subject) noTool() bool { return slices.Contains(sub.Lacks, filewise.CanBackup) }

// testBackups: of data on several volumes, by several threads; a cancelled one
// leaves nothing in the way, and damage is seen.
func testBackups(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	w, err := workload.NewBackup(workload.Params{Rows: 1500}, 5)
	if err != nil {
		t.Fatal(err)
	}
	l := phaseLayout(filewise.KindSystem, 4, 32<<20)
	l.Backup, l.LogVolume = filewise.Spread{Files: 2}, "v3"
	if sub.noTool() {
		_, err := sub.Engine.Statements(sub.onScratch(t, 3), l, w.Program())
		if !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(filewise.RemedyOf(err), "dump") {
			t.Errorf("without a program: %v; %s", err, filewise.RemedyOf(err))
		}
		return
	}
	s := sub.open(t, ctx, sub.onScratch(t, 3))
	db := build(t, ctx, s, l, w)
	load(t, ctx, db, w)
	if err := db.Backup.Restore(ctx); err == nil {
		t.Error("what was never backed up is restored")
	}
	if err := db.Backup.Discard(ctx); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := db.Backup.Backup(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled backup: %v", err)
	}
	if err := db.Backup.Discard(ctx); err != nil {
		t.Fatal(err)
	}
	files, err := db.Backup.Backup(ctx)
	if err != nil {
		t.Fatal(err)
	}
	volumes := map[string]int64{}
	for _, f := range files {
		volumes[f.Volume] += f.Bytes
	}
	if len(volumes) != 1 || volumes["v1"] < 1<<20 {
		t.Errorf("the backup is on %v", volumes)
	}
	if err := db.Backup.Restore(ctx); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup.Verify(ctx); err != nil {
		t.Error(err)
	}
	if _, err := look(t, db).Control.ExecContext(ctx, "DELETE FROM filewise.fw_frag2 WHERE id = 7"); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup.Verify(ctx); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("a row that the backup has and the original has not is %v", err)
	}
	if err := db.Drop(ctx); err != nil { // with the backup, and what was restored
		t.Error(err)
	}
}

// testBackupPlans: what cannot be is refused with the reason, and what can be is
// shown.
func testBackupPlans(t *testing.T, sub subject) {
	sub.Need(t)
	if sub.noTool() {
		t.Skip("there is no program")
	}
	w, err := workload.NewBackup(workload.Params{Rows: 40_000}, 5)
	if err != nil {
		t.Fatal(err)
	}
	target := sub.onScratch(t, 2)
	for name, c := range map[string]struct {
		refused bool
		change  func(*filewise.Layout)
	}{
		"system":                   {false, func(*filewise.Layout) {}},
		"per table on one volume":  {false, func(l *filewise.Layout) { own(l, filewise.PlaceOne) }},
		"per table on two volumes": {true, func(l *filewise.Layout) { own(l, filewise.PlaceRoundRobin) }},
		"a backup on two volumes": {true,
			func(l *filewise.Layout) { own(l, filewise.PlaceOne); l.Backup.Placement = filewise.PlaceRoundRobin }},
		"a backup that is discarded": {true, func(l *filewise.Layout) { own(l, filewise.PlaceOne); l.Discard = true }},
		"too many threads":           {true, func(l *filewise.Layout) { own(l, filewise.PlaceOne); l.Backup.Files = 1000 }},
		"three tables":               {true, func(l *filewise.Layout) { own(l, filewise.PlaceOne); l.Data.Files = 3 }},
	} {
		l := phaseLayout(filewise.KindSystem, 4, 96<<20)
		l.Backup = filewise.Spread{Files: 2, Placement: filewise.PlaceOne}
		c.change(&l)
		script, err := sub.Engine.Statements(target, l, w.Program())
		if refused := errors.Is(err, filewise.ErrUnsupported); refused != c.refused || err != nil && !refused {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		for _, want := range []string{"LOAD DATA LOCAL INFILE", "ADD INDEX", "CHECK TABLE", "--copy-back"} {
			if !slices.ContainsFunc(script.Steps, func(s filewise.Step) bool { return strings.Contains(s.SQL, want) }) {
				t.Errorf("%s: the script does not say %s", name, want)
			}
		}
		if len(script.Warnings) == 0 {
			t.Errorf("%s: nothing says what the files of a backup are", name)
		}
	}
}

// own makes the layout one of tables in separate files.
func own(l *filewise.Layout, p filewise.Placement) {
	l.Kind, l.Data.Allocation, l.Data.Placement = filewise.KindPerTable, filewise.Growing, p
}
