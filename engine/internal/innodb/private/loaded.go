package private

import (
	"context"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/internal/innodb"
)

// LoadedBytes is the size of data files that a program's given rows fill, in
// bytes: what --size should be on this engine for the layouts of kind system of
// scan, backup and orders, whose files are filled in order. 0: the program's rows
// are not given.
func (product *Product) LoadedBytes(t filewise.Target, p filewise.Program) (int64, error) {
	d := &design{product: product, target: t, program: p}
	var err error
	d.schema, err = innodb.NewSchema(Database, filewise.Layout{}, p)
	if err != nil || !d.schema.Loads() {
		return 0, err
	}
	return d.sizeFor(d.need()), nil
}

// sizeFor is the size of preallocated files in which data of that many bytes end
// close to the end of the last one's share: the inverse of room and reserve.
func (d *design) sizeFor(need float64) int64 {
	share := need*(1+loadedSlack) + float64(innodb.SystemBase(d.product.Files.SystemOwn, len(d.schema.Tables))+int64(3+len(d.schema.Tables)/3)*innodb.MiB)
	size := (share + float64(8*innodb.MiB*d.extentMiB())) * 64 / 63
	return (int64(size)/innodb.MiB + 1) * innodb.MiB
}

// loadedSlack keeps the last file from growing: by so much the rows may take more
// than the model says.
const loadedSlack = 0.03

// warnLoaded compares the program's rows with the files of the system
// tablespace, which InnoDB fills one after the other.
func (d *design) warnLoaded() {
	n := float64(len(d.files))
	size, room := float64(d.layout.Data.Bytes-d.reserve()), float64(d.room())
	reached := size - (room - d.need()) // where in the shares the data end, about
	right := sizeArg(d.sizeFor(d.need()))
	data := "--rows"
	if d.schema.Grows() {
		data = "--warehouses"
	}
	switch {
	case d.program.Own != nil: // whose rows nobody can foretell
		if n > 1 {
			d.warn("files-filled-in-order", "use --kind partitions, whose files are filled evenly", "InnoDB fills file after file; the data of workload %s may end before the later files are touched", d.program.Workload)
		}
	case n > 1 && !d.schema.Loads():
		d.warn("later-files-untouched", "use --kind partitions, whose files are filled evenly",
			"InnoDB fills file after file: the %s of workload %s end in about file %d of %d, so the later ones stay untouched",
			humanize.IBytes(uint64(d.need())), d.program.Workload, fileAt(reached, size, n), len(d.files))
	case n > 1 && reached < size*(n-1)/n:
		d.warn("later-files-untouched", "use --size "+right+", or more "+data,
			"the data end in about file %d of %d: InnoDB fills file after file, so the later ones stay untouched", fileAt(reached, size, n), len(d.files))
	case d.schema.Loads() && d.need() > fillHigh*room:
		d.warn("last-file-outgrows", "use --size "+right+", or fewer "+data,
			"the data need about %s more than the files hold: the last file grows by that", humanize.IBytes(uint64(d.need()-room)))
	}
}

// fileAt is the number of the file in which a place of the shares lies.
func fileAt(at, size, n float64) int { return min(max(int(at/size*n)+1, 1), int(n)) }

// Data and buffer pool of scan keep the article's proportion of 1.5 GB to 128 MB.
// InnoDB takes no pool of less than 5 MiB, and MariaDB none of less than 256 pages
// and a third (“innodb_page_size=16384 requires innodb_buffer_pool_size >= 6 MiB”).
const (
	dataPerPool = 12
	mostAskew   = 8 // data : pool, below which it is said
)

// scanPool is the buffer pool of scan in bytes.
func (d *design) scanPool() int64 {
	least := max((256*d.pageSize()*4/3+innodb.MiB-1)/innodb.MiB*innodb.MiB, 5*innodb.MiB)
	return max(d.schema.Bytes(d.pageSize())/dataPerPool/innodb.MiB*innodb.MiB, least)
}

// loadsApart says whether the program's data are loaded with a larger buffer pool
// than they are measured with: in a small one, data that come in another order
// than their keys' are loaded at the speed of single pages.
func (d *design) loadsApart() bool {
	_, set := d.setting("innodb_buffer_pool_size")
	return d.program.Workload == "scan" && !set
}

// loadPool is the buffer pool for loading, in bytes.
func (d *design) loadPool() int64 {
	return min(max(d.schema.Bytes(d.pageSize())/innodb.MiB*innodb.MiB, leastPool), mostPool)
}

// loader loads with one buffer pool, and restarts the server with the one that
// is measured. It implements filewise.BulkLoader.
type loader struct {
	filewise.BulkLoader
	instance *instance
}

// Finish ends the load.
func (l loader) Finish(ctx context.Context) error {
	if err := l.BulkLoader.Finish(ctx); err != nil {
		return err
	}
	if !l.instance.design.loading {
		return nil
	}
	l.instance.design.loading = false
	return restarter{l.instance}.Restart(ctx)
}

// loader of a build; nil: its program loads nothing.
func (i *instance) loader() filewise.BulkLoader {
	bulk := innodb.NewBulk(i, i.design.schema, i.design.binlog())
	if bulk == nil {
		return nil
	}
	return loader{bulk, i}
}

// warnPool says when the proportion is not kept.
func (d *design) warnPool() {
	if d.program.Workload != "scan" {
		return
	}
	data, pool := d.schema.Bytes(d.pageSize()), d.scanPool()
	if _, set := d.setting("innodb_buffer_pool_size"); !set && data < mostAskew*pool {
		d.warn("data-fit-the-pool", "use more --rows",
			"the data are %.1f times the buffer pool of %s, which is the least that InnoDB takes; as published they were %d times as large",
			float64(data)/float64(pool), humanize.IBytes(uint64(pool)), dataPerPool)
	}
}

// setting is what the user sets of a name.
func (d *design) setting(name string) (string, bool) {
	for own, value := range d.target.Settings {
		if canonical(own) == name {
			return value, true
		}
	}
	return "", false
}
