// This file predicts which files SQL Server fills with the rows of a table.

package sqlserver

import "filewise"

// How rows lie in pages ("Pages and extents architecture guide").
const (
	pageBytes   = 8096 // of rows and their slots
	rowOverhead = 9    // status, length, null bitmap, slot
	varOverhead = 8    // more if a column is of variable length
	splitFill   = 0.69 // of pages that are split by rows in between
)

// fillGroup describes how SQL Server hands out extents: in turns, from each file in proportion to
// its free space; only when all are full does one grow, or all of them.
type fillGroup struct {
	free    []int64 // extents by file
	growth  int64   // extents
	growAll bool
	taken   []int64 // by the rows
	grown   int64   // extents by which files have grown
	wait    []int64 // turns that a file lets pass
	next    int
}

// newFilling returns a group of files with so many free extents, which grow by so many, one after the other or all at once.
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

// pick returns the file that gives the next extent.
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

// grow enlarges the next file in turn, or all.
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

// share returns a file's skip target: how many turns there are to one extent of it.
func (g *fillGroup) share(i int) int64 {
	most := int64(1)
	for _, n := range g.free {
		most = max(most, n)
	}
	return most / max(g.free[i], 1)
}

// Touched returns the files that hold rows.
func (g *fillGroup) Touched() (n int) {
	for _, taken := range g.taken {
		if taken > 0 {
			n++
		}
	}
	return n
}

// Reaching returns how many extents it takes until each file has one, which so many did not.
func (g *fillGroup) Reaching(extents int64) int64 {
	for g.Touched() < len(g.free) {
		g.Take(1)
		extents++
	}
	return extents
}

// Room returns what all files hold before one grows.
func (g *fillGroup) Room() (n int64) {
	for _, free := range g.free {
		n += free
	}
	return n
}

// perPage is about how many rows of a table lie in a page.
func perPage(t filewise.Table) float64 {
	bytes := t.RowBytes + rowOverhead
	if t.RowBytes > 64 {
		bytes += varOverhead
	}
	n := float64(max(pageBytes/bytes, 1)) / float64((bytes+pageBytes-1)/pageBytes) // larger ones go on in others
	if t.RandomKeys {
		n *= splitFill
	}
	return n
}

// extentsOf is about how many extents the rows of a table take, without its indexes.
func extentsOf(t filewise.Table, rows int64) int64 {
	pages := int64(float64(rows)/perPage(t)) + 1
	return (pages + extentPages - 1) / extentPages
}
