package managed

import (
	"strconv"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/builds"
)

// InnoDB fills the files of its system tablespace one after the other: work that
// ends early leaves the later files untouched, and N files are measured as fewer.
// So the work of a trial is fixed, at FillWork by default, and throughput is
// work over time. What a row takes is a model; the work aims at the end of the
// last file's share, before InnoDB's reserve, so that no file grows. Where a share
// is smaller than the model's error it aims beyond: files that are not reached
// would be worse than a last one that grows, and either is warned about.
const (
	fillError  = 0.10 // of the size: how much less rows may take than the model says
	mostBeyond = 0.04 // of the size: less than the growth that is warned about
	fillHigh   = 1.20 // beyond this the last file outgrows the others, and it is said
)

// FillWork is the work in payload bytes that fills the files of a layout. 0: the
// layout needs no such thing, its files fill evenly. Files that are added later
// make no difference, so that all arms do the same work.
func (e Engine) FillWork(t filewise.Target, l filewise.Layout, p filewise.Program) (int64, error) {
	l.AddedLater = ""
	d, err := newDesign(e.Product, t, l, p, builds.First)
	if err != nil || !d.isSystem() || !p.Appends() { // whose rows are given: see LoadedBytes
		return 0, err
	}
	rows := d.rows().Whole(float64(d.room()))
	if most := p.First().Limit * int64(p.Connections()); p.First().Limit > 0 && rows > most {
		rows = most
	}
	return rows * p.First().OpBytes, nil
}

func (d *design) rows() dialect.Rows {
	keys := dialect.Ascending
	switch {
	case d.Program.Table().RandomKeys:
		keys = dialect.Random
	case d.Program.Connections() > 1 && len(d.Tables) == 1:
		keys = dialect.Overtaking
	}
	rows := dialect.Rows{PageSize: d.Page, Payload: d.Program.First().OpBytes, Keys: keys}
	if keys == dialect.Overtaking && d.Program.Connections() == 2 {
		step := rows
		step.Keys = dialect.InStep
		if step.BytesPerRow() < rows.BytesPerRow() {
			return step
		}
	}
	return rows
}

// room is what rows can take of the tablespace up to where the work should end.
func (d *design) room() int64 {
	size := d.Layout.Data.Bytes - d.reserve()
	beyond := min(max(fillError-1/float64(d.Layout.Data.Files), 0), mostBeyond)
	return dialect.Room(size+int64(float64(size)*beyond), d.Product.Files.SystemBytes, len(d.Tables))
}

// pageSize is the server's: 16 KiB unless the user sets another.
func pageSize(t filewise.Target) int64 {
	value, _ := setting(t, "innodb_page_size")
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return n
	}
	if n, err := humanize.ParseBytes(value + "ib"); err == nil {
		return int64(n)
	}
	return 16 << 10
}

// warnFill compares the work with the room, before anything is built.
func (d *design) warnFill() {
	if !d.Program.Appends() {
		d.warnLoaded()
		return
	}
	if len(d.Files) < 2 {
		return
	}
	if d.Program.WorkBytes == 0 {
		d.Warn("files-filled-in-order", "leave --window out: the work is then sized so that every file is filled",
			"InnoDB fills file after file; a time window may end before the later files are touched")
		return
	}
	n := float64(len(d.Files))
	size, room := float64(d.Layout.Data.Bytes-d.reserve()), float64(d.room())
	reached := size - (room-d.need())*size/max(room, 1) // where in the shares the work ends, about
	switch {
	case reached < size*(n-1)/n:
		files := int(reached/size*n) + 1
		d.Warn("later-files-untouched", "make --work larger, or --size smaller",
			"the work ends in about file %d of %d: InnoDB fills file after file, so the later ones stay untouched", files, len(d.Files))
	case d.need() > fillHigh*room:
		d.Warn("last-file-outgrows", "leave --work out, or make --size larger",
			"the work needs about %s more than the files hold: the last file grows by that", humanize.IBytes(uint64(d.need()-room)))
	}
}

// need is the room that the program's fixed work takes, in bytes.
func (d *design) need() float64 {
	if !d.Program.Appends() {
		return float64(d.Bytes(d.Page))
	}
	if d.Program.First().OpBytes <= 0 {
		return 0
	}
	return float64(d.Program.WorkBytes) / float64(d.Program.First().OpBytes) * d.rows().BytesPerRow()
}
