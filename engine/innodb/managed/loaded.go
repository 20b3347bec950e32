package managed

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/builds"
)

// LoadedBytes returns the size of data files that a program's given rows fill, in bytes, or 0 if the rows are not
// given. It is the right --size for layouts of kind system in scan, backup and orders, whose files fill in order.
func (e Engine) LoadedBytes(t filewise.Target, p filewise.Program) (int64, error) {
	schema, err := dialect.NewSchema(Database, filewise.Layout{}, p)
	d := &design{Design: dialect.Design{Schema: schema, Product: e.Product, Target: t, Page: pageSize(t)}}
	if err != nil || !d.Program.Loads() {
		return 0, err
	}
	return d.sizeFor(d.need()), nil
}

// sizeFor returns the size of preallocated files in which data of need bytes end close to the end of the last file's
// share. It is the inverse of capacity and reserve.
func (d *design) sizeFor(need float64) int64 {
	share := need*(1+loadedSlack) +
		float64(dialect.SystemBase(d.Product.Files.SystemBytes, len(d.Tables))+int64(3+len(d.Tables)/3)*dialect.MiB)
	size := (share + float64(8*dialect.MiB*d.extentMiB())) * 64 / 63
	return (int64(size)/dialect.MiB + 1) * dialect.MiB
}

// loadedSlack is the part by which rows can take more than the model predicts. It keeps the last file from growing.
const loadedSlack = 0.03

// warnLoaded compares the program's rows with the files of the system tablespace, which InnoDB fills one after the
// other.
func (d *design) warnLoaded() {
	n := float64(len(d.Files))
	size, space := float64(d.Layout.Data.Bytes-d.reserve()), float64(d.capacity())
	reached := size - (space - d.need()) // about where in the shares the data end
	right := sizeArg(d.sizeFor(d.need()))
	data := "--rows"
	if d.Grows() {
		data = "--warehouses"
	}
	switch {
	case d.Program.Custom != nil: // no one can predict the size of its rows
		if n > 1 {
			d.Warn("files-filled-in-order", "use --kind partitions, whose files are filled evenly",
				"InnoDB fills file after file; the data of workload %s may end before the later files are touched", d.Program.Workload)
		}
	case n > 1 && !d.Program.Loads():
		// A small table takes single pages of InnoDB's own extents, a larger one reserves some of its own.
		end := float64(dialect.SystemBase(d.Product.Files.SystemBytes, len(d.Tables))) + d.need() + min(d.need(), 3*dialect.MiB)
		if at := d.fileHolding(end); at < len(d.Files) {
			d.Warn("later-files-untouched", "use --kind partitions, whose files are filled evenly",
				"InnoDB fills file after file: in %s the %s of workload %s end in about file %d, so the later ones stay untouched",
				d.named(), humanize.IBytes(uint64(d.need())), d.Program.Workload, at)
		}
	case n > 1 && reached < size*(n-1)/n:
		d.Warn("later-files-untouched", "use --size "+right+", or more "+data,
			"the data end in about file %d of %d: InnoDB fills file after file, so the later ones stay untouched", fileAt(reached, size,
				n), len(d.Files))
	case d.Program.Loads() && d.need() > fillHigh*space:
		d.Warn("last-file-outgrows", "use --size "+right+", or fewer "+data,
			"the data of %s need about %s more than the files hold: the last file grows by that", d.named(),
			humanize.IBytes(uint64(d.need()-space)))
	}
}

// named returns the layout's name for a warning. Layouts with the same number of files can differ in other parts of the
// name.
func (d *design) named() string {
	return cmp.Or(d.Layout.Name, filewise.FilesName(d.Layout.Data.Files))
}

// fileHolding returns the number of the file in which so many bytes of the tablespace end.
func (d *design) fileHolding(bytes float64) int {
	for i, f := range d.Files {
		if bytes -= float64(f.Bytes); bytes < 0 {
			return i + 1
		}
	}
	return len(d.Files)
}

// fileAt returns the number of the file that contains a position in the shares.
func fileAt(at, size, n float64) int { return min(max(int(at/size*n)+1, 1), int(n)) }

// Data and buffer pool of scan keep the article's ratio of 1.5 GB to 128 MB. InnoDB accepts no pool below 5 MiB.
// MariaDB accepts none below 256 pages and a third (“innodb_page_size=16384 requires innodb_buffer_pool_size >= 6
// MiB”).
const (
	dataPerPool = 12
	mostAskew   = 8 // ratio of data to pool below which a warning is given
)

// scanPool returns the buffer pool of scan, in bytes.
func (d *design) scanPool() int64 {
	return max(d.Bytes(d.Page)/dataPerPool/dialect.MiB*dialect.MiB, d.startsWith())
}

// startsWith returns the smallest buffer pool that InnoDB starts with, in bytes.
func (d *design) startsWith() int64 {
	return max((256*d.Page*4/3+dialect.MiB-1)/dialect.MiB*dialect.MiB, 5*dialect.MiB)
}

// loadsApart reports whether the data are loaded with a larger buffer pool than they are measured with. In a small
// pool, data that arrive in another order than their keys' load at the speed of single pages.
func (d *design) loadsApart() bool {
	_, set := setting(d.Target, "innodb_buffer_pool_size")
	return d.Program.Queries() && !set || d.Program.Preload > 0 || d.Program.Restored()
}

// loadRedo is the size of the redo log while a dump is restored, in bytes.
const loadRedo = 256 << 20

// loadPool returns the buffer pool for loading, in bytes.
func (d *design) loadPool() int64 {
	bytes, most := d.Bytes(d.Page), int64(mostPool)
	switch {
	case d.Program.Preload > 0:
		bytes, most = d.Layout.Data.Bytes, mostLoadPool
	case d.Program.Restored():
		bytes = mostPool
	}
	return max(d.Target.Cache(min(max(bytes/dialect.MiB*dialect.MiB, leastPool), most)), d.startsWith())
}

// loadArguments returns the arguments of a server while it loads. Nothing has to survive a crash, because the data are
// used only after a clean shutdown.
func (d *design) loadArguments() []string {
	args := []string{"--innodb-buffer-pool-size=" + strconv.FormatInt(d.loadPool(), 10), "--innodb-flush-log-at-trx-commit=0"}
	if d.Program.Restored() { // a dump has any size, and the redo log is for the layout's size
		args = append(args, "--"+strings.ReplaceAll(d.Product.Managed.Redo, "_", "-")+"="+strconv.Itoa(loadRedo))
	}
	if d.binlog() {
		args = append(args, "--sync-binlog=0")
	}
	return args
}

// loader loads with one buffer pool, and then restarts the server with the pool that is measured. It implements
// filewise.BulkLoader.
type loader struct {
	filewise.BulkLoader
	instance *instance
}

// Finish ends the load and restarts the server.
func (l loader) Finish(ctx context.Context) error {
	if err := l.BulkLoader.Finish(ctx); err != nil {
		return err
	}
	if !l.instance.design.loading {
		return nil
	}
	l.instance.design.loading = false
	return l.instance.life.Restart(ctx)
}

// loader returns the loader of a build, or nil if its program loads nothing.
func (i *instance) loader() filewise.BulkLoader {
	bulk := dialect.NewBulk(i, i.design.Schema, i.design.binlog())
	if bulk == nil {
		return nil
	}
	return loader{bulk, i}
}

// warnPool warns if the ratio of data to pool is not kept.
func (d *design) warnPool() {
	if !d.Program.Queries() {
		return
	}
	data, pool := d.Bytes(d.Page), d.scanPool()
	if _, set := setting(d.Target, "innodb_buffer_pool_size"); !set && data < mostAskew*pool {
		d.Warn("data-fit-the-pool", "use more --rows",
			"the data are %.1f times the buffer pool of %s, which is the least that InnoDB takes; as published they were %d times as large",
			float64(data)/float64(pool), humanize.IBytes(uint64(pool)), dataPerPool)
	}
}

// setting returns the value that the user sets for a name, and whether there is one.
func setting(t filewise.Target, name string) (string, bool) {
	for given, value := range t.Settings {
		if canonical(given) == name {
			return value, true
		}
	}
	return "", false
}

// InnoDB fills the files of its system tablespace one after the other. If work ends early, the later files stay
// untouched, and N files are measured as fewer. So the work of a trial is fixed, at FillWork by default, and throughput
// is work over time. What a row takes comes from a model. The work aims at the end of the last file's share, before
// InnoDB's reserve, so that no file grows. If a share is smaller than the model's error, the work aims beyond it.
// Unreached files would be worse than a last file that grows; a warning covers either.
const (
	fillError  = 0.10 // of the size: how much less than predicted rows can take
	mostBeyond = 0.04 // of the size: less than the growth that causes a warning
	fillHigh   = 1.20 // beyond this the last file outgrows the others, and a warning reports it
)

// FillWork returns the work, in payload bytes, that fills a layout's files, or 0 if the files fill evenly. Files that
// are added later do not change it, so that all arms do the same work.
func (e Engine) FillWork(t filewise.Target, l filewise.Layout, p filewise.Program) (int64, error) {
	l.AddedLater = ""
	d, err := newDesign(e.Product, t, l, p, builds.First)
	if err != nil || !d.isSystem() || !p.Appends() { // LoadedBytes covers given rows
		return 0, err
	}
	rows := d.rows().Whole(float64(d.capacity()))
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

// capacity returns how much rows can take of the tablespace up to where the work should end.
func (d *design) capacity() int64 {
	size := d.Layout.Data.Bytes - d.reserve()
	beyond := min(max(fillError-1/float64(d.Layout.Data.Files), 0), mostBeyond)
	return dialect.Capacity(size+int64(float64(size)*beyond), d.Product.Files.SystemBytes, len(d.Tables))
}

// pageSize returns the server's page size: 16 KiB unless the user sets another.
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

// warnFill compares the work with the space for it, before anything is built.
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
	size, space := float64(d.Layout.Data.Bytes-d.reserve()), float64(d.capacity())
	reached := size - (space-d.need())*size/max(space, 1) // about where in the shares the work ends
	switch {
	case reached < size*(n-1)/n:
		files := int(reached/size*n) + 1
		d.Warn("later-files-untouched", "make --work larger, or --size smaller",
			"the work ends in about file %d of %d: InnoDB fills file after file, so the later ones stay untouched", files, len(d.Files))
	case d.need() > fillHigh*space:
		d.Warn("last-file-outgrows", "leave --work out, or make --size larger",
			"the work needs about %s more than the files hold: the last file grows by that", humanize.IBytes(uint64(d.need()-space)))
	}
}

// need returns the space that the program's fixed work takes, in bytes.
func (d *design) need() float64 {
	if !d.Program.Appends() {
		return float64(d.Bytes(d.Page))
	}
	if d.Program.First().OpBytes <= 0 {
		return 0
	}
	return float64(d.Program.WorkBytes) / float64(d.Program.First().OpBytes) * d.rows().BytesPerRow()
}
