package sqlserver

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"filewise"
)

// What a database takes of its files before any row does, and how rows lie in pages
// ("Pages and extents architecture guide").
const (
	fileExtents   = 1          // header, PFS, GAM, SGAM and the two maps of changes
	systemExtents = 48         // about 3 MiB of catalogue, in the first file
	gamExtents    = 511232 / 8 // those that one GAM page tells of, after which an extent has further maps
	pageBytes     = 8096       // of rows and their slots
	rowOverhead   = 9          // status, length, null bitmap, slot
	varOverhead   = 8          // besides where a column is of variable length
	splitFill     = 0.69       // of pages that are split by rows in between
	extentPages   = extent / page
)

// filegroup is how SQL Server hands out extents: in turns, from each file in proportion to
// its free space; only when all are full does one grow, or all of them.
type filegroup struct {
	free    []int64 // extents by file
	growth  int64   // extents
	growAll bool
	taken   []int64 // by the rows
	grown   int64   // extents by which files have grown
	wait    []int64 // turns that a file lets pass
	next    int
}

// primary is the filegroup of the rows as it is built.
func (d *design) primary() *filegroup {
	files := d.files()
	g := &filegroup{growAll: d.settings.autogrowAll}
	for i, f := range files {
		if f.role != filewise.RoleData {
			continue
		}
		free := f.KB*kib/extent - fileExtents
		if i == 0 {
			free -= systemExtents
		}
		g.free = append(g.free, max(free-free/gamExtents, 0))
		g.growth = max(f.GrowthKB*kib/extent, 1)
	}
	g.taken, g.wait = make([]int64, len(g.free)), make([]int64, len(g.free))
	g.weigh()
	return g
}

// take hands out extents.
func (g *filegroup) take(extents int64) {
	for range extents {
		i := g.pick()
		g.free[i]--
		g.taken[i]++
	}
}

// pick is the file that gives the next extent.
func (g *filegroup) pick() int {
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
func (g *filegroup) grow() {
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

func (g *filegroup) weigh() {
	for i := range g.wait {
		g.wait[i] = g.share(i)
	}
}

// share is a file's skip target: how many turns there are to one extent of it.
func (g *filegroup) share(i int) int64 {
	most := int64(1)
	for _, n := range g.free {
		most = max(most, n)
	}
	return most / max(g.free[i], 1)
}

// touched are the files that hold rows.
func (g *filegroup) touched() (n int) {
	for _, taken := range g.taken {
		if taken > 0 {
			n++
		}
	}
	return n
}

// reaching is how many extents it takes until each file has one, which so many did not.
func (g *filegroup) reaching(extents int64) int64 {
	for g.touched() < len(g.free) {
		g.take(1)
		extents++
	}
	return extents
}

// room is what all files hold before one grows.
func (g *filegroup) room() (n int64) {
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

// rowsOf are those that a table is known to get; 0: a time decides.
func (d *design) rowsOf(t filewise.Table) int64 {
	if t.Rows > 0 || t.RowBytes == 0 || !d.program.Appends() {
		return t.Rows
	}
	return d.program.WorkBytes / t.RowBytes
}

// warnReach says where rows do not reach all files, or are more than files hold. It is the
// largest table that is asked: on it the work is done.
func (d *design) warnReach(add func(code, message, remedy string)) {
	var largest, all int64
	var table filewise.Table
	for _, t := range d.program.Tables {
		rows := d.rowsOf(t)
		if rows == 0 {
			continue
		}
		n := extentsOf(t, rows)
		if n > largest {
			largest, table = n, t
		}
		all += n
	}
	if all == 0 || d.layout.AddedLater != "" {
		return
	}
	g := d.primary()
	if room := g.room(); d.layout.Data.Allocation != filewise.Growing && all > room {
		add("rows-outgrow-files", fmt.Sprintf("The rows take about %s, and the files have %s for them: they grow while they are filled.",
			bytesText(all), bytesText(room)), "Give --size "+bytesText((all+systemExtents)*5/4+int64(len(g.free)))+" or more.")
	}
	g.take(min(largest, 1<<16)) // by then each has had its turn
	if n := g.touched(); n < len(g.free) {
		remedy := "Give more --work, or with --as-published a larger --scale."
		if table.Rows > 0 {
			rows := int64(perPage(table)*extentPages) * g.reaching(largest)
			remedy = fmt.Sprintf("Give --rows %d or more, or with --as-published a larger --scale.", rows)
		}
		add("files-not-reached", fmt.Sprintf("Rows come by extents of 64 KiB, and those of %s take about %d: %d of the %d files hold none.",
			table.Name, largest, len(g.free)-n, len(g.free)), remedy)
	}
}

func bytesText(extents int64) string { return humanize.IBytes(uint64(extents) * extent) }
