package backup

import (
	"slices"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/store"
)

// In full go the fastest of what was compared at less cost, on each of their volumes if nothing was written, and the
// baseline.
func TestScreened(t *testing.T) {
	layout := func(name string, files int, options filewise.BackupOptions) filewise.Layout {
		return filewise.Layout{Name: name, Backup: filewise.Spread{Files: files}, BackupOptions: options}
	}
	cheap := archive.Run{Run: store.Run{Plan: experiment.Plan{Layouts: []filewise.Layout{
		layout("1 file", 1, "compress=0"), layout("2 files", 2, "compress=0"), layout("4 files", 4, "compress=0"),
		layout("8 files", 8, "compress=0")}}}}
	cheap.Plan.Params.Discard = true
	for i, l := range cheap.Plan.Layouts {
		m := filewise.Measure{Window: [2]time.Duration{0, time.Duration(10-i) * time.Second}}
		cheap.Trials = append(cheap.Trials, filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Layout: l.Name, Block: 1},
			Measures: []filewise.Measure{m}})
	}
	full := []filewise.Layout{}
	for _, l := range cheap.Plan.Layouts {
		for _, volume := range []string{"a", "b"} {
			full = append(full, layout(l.Name+" on "+volume, l.Backup.Files, l.BackupOptions.With("volume", volume)))
		}
	}
	got, err := Screened(cheap, full, "1 file on a", 2)
	if want := []string{"1 file on a", "4 files on a", "4 files on b", "8 files on a", "8 files on b"}; err != nil ||
		!slices.Equal(filewise.LayoutNames(got), want) {
		t.Errorf("%v: %v", filewise.LayoutNames(got), err)
	}
	cheap.Trials = nil
	if _, err := Screened(cheap, full, "", 2); err == nil {
		t.Error("nothing was measured, and settings were chosen")
	}
}
