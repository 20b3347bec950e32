package sqlserver

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"filewise"
)

// Extents that a database takes of its files before any row ("Pages and extents architecture guide").
const (
	fileExtents   = 1          // header, PFS, GAM, SGAM and the two maps of changes
	systemExtents = 48         // about 3 MiB of catalogue, in the first file
	gamExtents    = 511232 / 8 // extents covered by one GAM page; then another page of each map follows
	extentPages   = extent / page
)

// primary returns the filegroup that rows go to, with the free extents of its files directly after the build.
func (d *design) primary() *fillGroup {
	files := d.files()
	var all []int64
	growth := int64(1)
	for i, f := range files {
		if f.role != filewise.RoleData {
			continue
		}
		free := f.KB*kib/extent - fileExtents
		if i == 0 {
			free -= systemExtents
		}
		all = append(all, max(free-free/gamExtents, 0))
		growth = max(f.GrowthKB*kib/extent, 1)
	}
	return newFilling(all, growth, d.settings.growsAll(d.program))
}

// rowsOf returns how many rows a table will get, or 0 if a time limit decides.
func (d *design) rowsOf(t filewise.Table) int64 {
	if t.Rows > 0 || t.RowBytes == 0 || !d.program.Appends() {
		return t.Rows
	}
	return d.program.WorkBytes / t.RowBytes
}

// warnReach warns if the rows do not reach all files, or exceed what the files hold. It checks the largest table, on
// which the work is done.
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
	g, files := d.primary(), d.layout.Data.Files
	if capacity := g.Capacity(); d.layout.Data.Allocation != filewise.Growing && all > capacity {
		add("rows-outgrow-files", fmt.Sprintf("The rows take about %s, and the files have %s for them: they grow while they are filled.",
			bytesText(all), bytesText(capacity)), "Give --size "+sizeFlag(((all+systemExtents)*5/4+int64(files))*extent)+" or more.")
	}
	g.Take(min(largest, 1<<16)) // by then each file has had its turn
	if n := g.Touched(); n < files {
		remedy := "with --as-published, give a larger --scale; else give more --work"
		if table.Rows > 0 {
			rows := int64(perPage(table)*extentPages) * g.Reaching(largest)
			remedy = fmt.Sprintf("with --as-published, give a larger --scale; else give --rows %d or more", rows)
		}
		add(filewise.NotReached, fmt.Sprintf("Rows come by extents of 64 KiB, and the rows of %s take about %d: %d of the %d files hold none.",
			table.Name, largest, files-n, files), remedy)
	}
}

func bytesText(extents int64) string { return humanize.IBytes(uint64(extents) * extent) }
