package sqlserver

import (
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/workload"
)

// TestProportionalFill: extents go to files in proportion to their free space, and to the
// next one that grows when all are full.
func TestProportionalFill(t *testing.T) {
	for _, c := range []struct {
		free    []int64
		growth  int64
		all     bool
		extents int64
		want    []int64
		grown   int64
	}{
		{[]int64{100, 100, 100, 100}, 16, false, 4, []int64{1, 1, 1, 1}, 0},
		{[]int64{100, 100, 100, 100}, 16, false, 3, []int64{1, 1, 1, 0}, 0},
		{[]int64{80, 16}, 16, false, 36, []int64{30, 6}, 0},
		{[]int64{2, 2}, 16, false, 10, []int64{8, 2}, 16},
		{[]int64{2, 2}, 16, true, 10, []int64{5, 5}, 32},
	} {
		g := &filegroup{free: c.free, growth: c.growth, growAll: c.all, taken: make([]int64, len(c.free)), wait: make([]int64, len(c.free))}
		g.weigh()
		g.take(c.extents)
		slices.Sort(g.taken)
		slices.Reverse(g.taken)
		if !slices.Equal(g.taken, c.want) || g.grown != c.grown {
			t.Errorf("%+v: %v, grown by %d", c, g.taken, g.grown)
		}
	}
}

func TestExtentsOf(t *testing.T) {
	for _, c := range []struct {
		t    filewise.Table
		rows int64
		want int64
	}{
		{filewise.Table{RowBytes: 16}, 1000, 1}, {filewise.Table{RowBytes: 16}, 14000, 6}, {filewise.Table{RowBytes: 16}, 350_000, 136},
		{filewise.Table{RowBytes: 8000}, 80, 11}, {filewise.Table{RowBytes: 16000}, 80, 21},
		{filewise.Table{RowBytes: 16, RandomKeys: true}, 14000, 8},
	} {
		if got := extentsOf(c.t, c.rows); got != c.want {
			t.Errorf("%+v: %d rows take %d extents, want %d", c.t, c.rows, got, c.want)
		}
	}
}

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
