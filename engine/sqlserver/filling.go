// This file predicts which files SQL Server fills with the rows of a table.

package sqlserver

import "filewise"

// Sizes of rows in pages ("Pages and extents architecture guide").
const (
	pageBytes   = 8096 // of rows and their slots
	rowOverhead = 9    // status, length, null bitmap, slot
	varOverhead = 8    // in addition if a column has variable length
	splitFill   = 0.69 // of pages that split because rows are inserted in between
)

// fillGroup simulates how SQL Server hands out extents. Files take turns in proportion to their free space. Only when
// all are full, one file or all of them grow.
type fillGroup struct {
	free    []int64 // extents by file
	growth  int64   // extents
	growAll bool
	taken   []int64 // extents taken by the rows
	grown   int64   // extents by which files have grown
	wait    []int64 // turns that each file still skips
	next    int
}

// newFilling returns a group of files with so many free extents. They grow by growth, one after the other or all at
// once.
func newFilling(free []int64, growth int64, all bool) *fillGroup {
	g := &fillGroup{free: free, growth: growth, growAll: all, taken: make([]int64, len(free)), wait: make([]int64, len(free))}
	g.weigh()
	return g
}

// Take hands out extents.
func (g *fillGroup) Take(extents int64) {
	for range extents {
		i := g.pick()
		g.free[i]--
		g.taken[i]++
	}
}

// pick returns the file from which the next extent comes.
func (g *fillGroup) pick() int {
	for {
		full := true
		for range g.free {
			i := g.next
			g.next = (g.next + 1) % len(g.free)
			if g.free[i] == 0 {
				continue
			}
			full = false
			if g.wait[i]--; g.wait[i] <= 0 {
				g.wait[i] = g.share(i)
				return i
			}
		}
		if full {
			g.grow()
		}
	}
}

// grow enlarges the next file in turn, or all files.
func (g *fillGroup) grow() {
	for range g.free {
		g.free[g.next] += g.growth
		g.grown += g.growth
		if !g.growAll {
			break
		}
		g.next = (g.next + 1) % len(g.free)
	}
	g.weigh()
}

func (g *fillGroup) weigh() {
	for i := range g.wait {
		g.wait[i] = g.share(i)
	}
}

// share returns a file's skip target: the file gives one extent in so many turns.
func (g *fillGroup) share(i int) int64 {
	most := int64(1)
	for _, n := range g.free {
		most = max(most, n)
	}
	return most / max(g.free[i], 1)
}

// Touched returns how many files hold rows.
func (g *fillGroup) Touched() (n int) {
	for _, taken := range g.taken {
		if taken > 0 {
			n++
		}
	}
	return n
}

// Reaching returns how many extents are needed until each file holds one. extents is a number that did not suffice.
func (g *fillGroup) Reaching(extents int64) int64 {
	for g.Touched() < len(g.free) {
		g.Take(1)
		extents++
	}
	return extents
}

// Capacity returns how many extents all files hold before one grows.
func (g *fillGroup) Capacity() (n int64) {
	for _, free := range g.free {
		n += free
	}
	return n
}

// perPage returns about how many rows of a table fit into a page.
func perPage(t filewise.Table) float64 {
	bytes := t.RowBytes + rowOverhead
	if t.RowBytes > 64 {
		bytes += varOverhead
	}
	n := float64(max(pageBytes/bytes, 1)) / float64((bytes+pageBytes-1)/pageBytes) // a row that is too large continues in other pages
	if t.RandomKeys {
		n *= splitFill
	}
	return n
}

// extentsOf returns about how many extents a table's rows take, without its indexes.
func extentsOf(t filewise.Table, rows int64) int64 {
	pages := int64(float64(rows)/perPage(t)) + 1
	return (pages + extentPages - 1) / extentPages
}
