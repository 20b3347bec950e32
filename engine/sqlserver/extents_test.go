package sqlserver

import (
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/sqlserver/internal/serverpath"
	"filewise/workload"
)

// TestReach: rows that a layout's files do not see, or do not hold, are warned of, with what
// would do; and it does.
func TestReach(t *testing.T) {
	warned := func(rows int64, l filewise.Layout, code string) string {
		w, err := workload.NewDML(workload.Params{Connections: 2, Rows: rows, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
			Index: workload.IndexNone}, 1)
		ok(t, err)
		s, err := Engine{}.Script(newLab(t, nil).target, l, w.Program())
		ok(t, err)
		for _, w := range s.Warnings {
			if w.Code == code {
				return w.Message + " " + w.Remedy
			}
		}
		return ""
	}
	if got := warned(1000, layout(8), "files-not-reached"); !strings.Contains(got,
		"7 of the 8 files") || !strings.Contains(got, "--rows 20672 ") {
		t.Errorf("%s", got)
	}
	if got := warned(20672, layout(8), "files-not-reached") + warned(1000, layout(1), "files-not-reached"); got != "" {
		t.Errorf("%s", got)
	}
	large := layout(8)
	large.Data.Bytes = 64 * mib
	if got := warned(3_000_000, large, "rows-outgrow-files"); !strings.Contains(got, "--size") {
		t.Errorf("%q", got)
	}
	large.Data.Bytes = 256 * mib
	if got := warned(3_000_000, large, "rows-outgrow-files"); got != "" {
		t.Errorf("%s", got)
	}
}

// TestGrowingFilesBegin as small as they can where there is no room for equal ones.
func TestGrowingFilesBegin(t *testing.T) {
	l := layout(8)
	l.Data.Allocation, l.Data.Growth, l.Data.Bytes = filewise.Growing, mib, 15*mib
	s, err := Engine{}.Script(newLab(t, nil).target, l, inserts(t, nil).Program())
	ok(t, err)
	var sizes []int64
	for _, f := range s.Files[:8] {
		sizes = append(sizes, f.Bytes/mib)
	}
	if !slices.Equal(sizes, []int64{8, 1, 1, 1, 1, 1, 1, 1}) {
		t.Errorf("%v", sizes)
	}
	l.Data.Bytes--
	if _, err := (Engine{}).Script(newLab(t, nil).target, l, inserts(t, nil).Program()); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("%v", err)
	}
}

// TestUntouchedFile: a file's own pages are no rows.
func TestUntouchedFile(t *testing.T) {
	lab := newLab(t, nil)
	db := lab.build(lab.open(), layout(2), inserts(t, nil))
	files, err := db.Observer.Observe(t.Context())
	ok(t, err)
	if warned := filewise.FillWarnings(files); len(warned) != 1 || !strings.Contains(warned[0].Message, "1 of 2 data files") {
		t.Errorf("%+v of %+v", warned, files)
	}
}

// TestMountPoints: a directory has the room of the nearest mount point above it.
func TestMountPoints(t *testing.T) {
	mounts := map[string]room{`D:\`: {free: 1}, `D:\sql\`: {free: 2}, `D:\sql\data\`: {free: 3}, `D:\sql\log\`: {free: 4}, `E:\`: {free: 5}}
	dir, err := serverpath.ParseDir(`D:\sql\data\x`)
	ok(t, err)
	for range 9 { // in any order
		if free, mount, known := freeAt(mounts, dir); free != 3 || mount != `D:\sql\data\` || !known {
			t.Errorf("%d at %s", free, mount)
		}
	}
}
