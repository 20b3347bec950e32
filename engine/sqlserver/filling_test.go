package sqlserver

import (
	"slices"
	"testing"

	"filewise"
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
		g := newFilling(c.free, c.growth, c.all)
		g.Take(c.extents)
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
		{filewise.Table{RowBytes: 100}, 10_000, 19}, {filewise.Table{RowBytes: 8000}, 80, 11}, {filewise.Table{RowBytes: 16000}, 80, 21},
		{filewise.Table{RowBytes: 16, RandomKeys: true}, 14000, 8},
	} {
		if got := extentsOf(c.t, c.rows); got != c.want {
			t.Errorf("%+v: %d rows take %d extents, want %d", c.t, c.rows, got, c.want)
		}
	}
}
