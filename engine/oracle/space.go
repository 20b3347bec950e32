package oracle

import (
	"slices"

	"filewise"
)

// This model predicts how much space tables and indexes take, and in which files, for plans and for the sizes of files.
// It follows what the server does with EXTENT MANAGEMENT LOCAL (Oracle Database Concepts, "Logical Storage
// Structures"). A segment takes extents from the tablespace's files in turns. With AUTOALLOCATE its first 16 extents
// come from one file.

// header is the size of a datafile's own part: its first 128 blocks of 8 KiB. A smaller file uses 8 blocks.
const header = mib

func headerOf(bytes, block int64) int64 {
	if bytes <= header+unit {
		return min(8*block, bytes)
	}
	return header
}

// firstTogether is the number of AUTOALLOCATE's smallest extents that lie in one file.
const firstTogether = 16

// extent returns the size of a segment's extent i. If uniform is 0, AUTOALLOCATE decides.
func extent(i int, uniform int64) int64 {
	switch {
	case uniform > 0:
		return uniform
	case i < firstTogether:
		return unit
	case i < firstTogether+63:
		return mib
	case i < firstTogether+63+120:
		return 8 * mib
	}
	return 64 * mib
}

// segment is a table or an index of the work.
type segment struct {
	table bool
	bytes int64
}

// filling describes how the segments of a tablespace fill its files.
type filling struct {
	used    []int64 // for each file
	touched int     // files with rows of a table
	beyond  int64   // bytes for which the files had no space
}

// fill puts segments that grow side by side into files with so much space each. All segments begin in the first file,
// so that they touch as few files as possible.
func fill(capacity []int64, segments []segment, uniform int64) filling {
	f := filling{used: make([]int64, len(capacity))}
	rows := make([]bool, len(capacity))
	at, had, left := make([]int, len(segments)), make([]int, len(segments)), len(segments)
	for need := slices.Clone(segments); left > 0; {
		left = 0
		for s := range need {
			if need[s].bytes <= 0 {
				continue
			}
			left++
			size := extent(had[s], uniform)
			i, fits := f.next(capacity, at[s], size)
			if !fits { // the first one grows
				f.beyond += size
			}
			f.used[i] += size
			rows[i] = rows[i] || need[s].table
			need[s].bytes -= size
			if had[s]++; uniform > 0 || had[s] >= firstTogether {
				i++
			}
			at[s] = i % len(capacity)
		}
	}
	for _, is := range rows {
		if is {
			f.touched++
		}
	}
	return f
}

// next returns the first file, beginning with from, that has space for an extent.
func (f *filling) next(capacity []int64, from int, size int64) (i int, fits bool) {
	for n := range capacity {
		i = (from + n) % len(capacity)
		if f.used[i]+size <= capacity[i] {
			return i, true
		}
	}
	return from, false
}

// freed returns how many bytes of a block can hold rows: without its header and PCTFREE.
func (d *design) freed() int64 { return (d.block - 192) * (100 - d.pctFree()) / 100 }

// bytesOf returns the space of rows with so many bytes and columns, headers included. A row lies in one block, and a
// block holds at least one row.
func (d *design) bytesOf(rows, rowBytes, columns int64) int64 {
	perBlock := max(d.freed()/(rowBytes+columns+5), 1)
	const maps = 3 // blocks of a segment for its header and its free space maps; one more for each 64
	blocks := (rows + perBlock - 1) / perBlock
	return (blocks + maps + blocks/64) * d.block
}

// indexed returns the space of an index: entries with their rowids, in blocks that are three quarters full.
func (d *design) indexed(rows, keyBytes int64) int64 {
	return rows*(keyBytes+14)*4/3 + 3*d.block
}

// segments returns the work's tables and indexes, or none if the amount of work is not known.
func (d *design) segments() (tables, indexes []segment) {
	p := d.program
	for _, t := range p.Tables {
		rows, rowBytes, times := t.Rows, t.RowBytes, int64(1)
		if p.Appends() {
			times = int64(len(d.tables))
			rows, rowBytes = p.WorkBytes/p.First().OpBytes/max(times, 1), p.First().OpBytes+8
		}
		if rows == 0 {
			continue
		}
		columns := int64(len(t.Columns))
		for range times {
			tables = append(tables, segment{true, d.bytesOf(rows, rowBytes, columns)})
			if len(t.Key) > 0 || p.Appends() {
				indexes = append(indexes, segment{false, d.indexed(rows, 6*int64(max(len(t.Key), 1)))})
			}
			for _, x := range t.Indexes {
				indexes = append(indexes, segment{false, d.indexed(rows, rowBytes/columns*int64(len(x.Columns)))})
			}
		}
	}
	return tables, indexes
}

// inData returns the segments in the data tablespace, the marker table's included.
func (d *design) inData() []segment {
	all, indexes := d.segments()
	if !d.apart() {
		all = append(all, indexes...)
	}
	return append(all, segment{false, 1})
}

// predict returns how the work fills the data files.
func (d *design) predict(files []datafile) filling {
	capacity := make([]int64, len(files))
	for i, f := range files {
		if f.full {
			capacity[i] = f.bytes - headerOf(f.bytes, d.block)
		}
	}
	if len(files) > 0 && !files[0].full { // the files grow in turn
		for i, f := range files {
			capacity[i] = f.max
		}
	}
	return fill(capacity, d.inData(), d.uniform())
}

// fit makes preallocated files as large as the work needs, if that is known.
func (d *design) fit(files []datafile) {
	work, _ := d.segments()
	if len(work) == 0 || len(files) == 0 || !files[0].full || d.layout.AddedLater != "" {
		return
	}
	asked := files[0].bytes
	for {
		beyond := d.predict(files).beyond
		if beyond == 0 {
			break
		}
		more := roundUp(beyond/int64(len(files)) + 1)
		for i := range files {
			files[i].bytes += more
			files[i].max = max(files[i].max, files[i].bytes)
		}
	}
	if asked != files[0].bytes {
		d.warn("larger-files", "", "the work's rows and indexes, and what lies between extents, take more than the size: files are made as "+
			"large as they need, which the plan shows")
	}
}

// reach warns if the work does not reach all files.
func (d *design) reach() {
	work, _ := d.segments()
	if len(work) == 0 || d.layout.AddedLater != "" {
		return
	}
	touched := d.predict(d.files).touched
	if touched >= len(d.files) {
		return
	}
	remedy := "a larger --work"
	switch {
	case d.program.Sharding != nil:
		remedy = "more --warehouses"
	case d.program.Loads():
		remedy = "more --rows"
	case !d.program.Appends():
		remedy = "more --rows with --index key"
	}
	remedy = "with --as-published, use a larger --scale; else " + remedy + ", or fewer --files"
	d.warn("files-unreached", remedy, "the rows come to lie in %d of %s: a table's extents are taken from the files in turns, and it has "+
		"too few", touched, filewise.FilesName(len(d.files)))
}

// spread reports whether the few rows of single-row work are to lie in all files. They then lie in small extents, taken
// from the files in turns from the first on, with few rows per block. As published, the server places them.
func (d *design) spread() bool { return d.program.SQL() == "dml" && !d.published() }

// published reports whether single-row work runs as in the article on Oracle.
func (d *design) published() bool {
	published, _ := d.program.Vars()["Published"].(bool)
	return published && d.program.SQL() == "dml"
}

// asPublished sets files that grow without a step, and commits that do not wait.
func (d *design) asPublished() {
	if !d.published() {
		return
	}
	if d.layout.Data.Growth > 0 {
		d.layout.Data.Growth = 0
		d.warn("growth-not-used", "", "as published, the step of growth is one block, of which an extent takes as many as it needs")
	}
	d.commit = "COMMIT"
	d.warn("parse-only", "", "as published, the select of one process is parsed but not executed, and each key is a separate "+
		"statement in the shared pool; COMMIT in a loop on the server does not wait for the log")
}

// uniform returns the size of all extents, at least 5 blocks. 0 means AUTOALLOCATE.
func (d *design) uniform() int64 {
	if !d.spread() {
		return 0
	}
	return roundUp(5 * d.block)
}

// pctFree returns how much of a table's blocks inserts leave free, in percent.
func (d *design) pctFree() int64 {
	if d.spread() {
		return 95
	}
	return 10
}
