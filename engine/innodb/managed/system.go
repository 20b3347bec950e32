package managed

import (
	"fmt"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/innodb/dialect"
)

const (
	defaultGrowth = 64 * dialect.MiB // the server's default
	firstGrowing  = 12 * dialect.MiB // initial size of a single file that grows; the server's default
	// safetyGrowth is the step by which the last of preallocated files grows if the work is more than the files hold.
	safetyGrowth = dialect.MiB
)

// system lays out the system tablespace. Preallocated: N files of equal size, with InnoDB's reserve behind the last
// one. Growing: N−1 fixed files and a last one that starts small.
//
// The last of preallocated files can grow beyond its size, too. Otherwise work that takes a little more than expected
// would look like work that fails. If the file did grow in a trial, there is a warning.
func (d *design) system() error {
	s := d.Layout.Data
	if s.Files > dialect.MaxSystemFiles {
		_, err := dialect.FormatDataFiles(make([]dialect.DataFile, s.Files))
		return err
	}
	if least := d.leastBytes(s.Files); s.Bytes < least && !d.startsLeast() {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("use --size %s or more", sizeArg(least)),
			"a system tablespace of %s in %s is too small: InnoDB itself needs %s of it, and its first file at least %d MiB: %w",
			humanize.IBytes(uint64(s.Bytes)), filewise.FilesName(s.Files),
			humanize.IBytes(uint64(dialect.SystemBase(d.Product.Files.SystemBytes, len(d.Tables))*d.extentMiB())), d.leastFirst()/dialect.MiB,
			filewise.ErrUnsupported)
	}
	sizes := d.systemSizes()
	for i, size := range sizes {
		p := d.placeOf(i)
		d.Files = append(d.Files, dialect.File{File: filewise.File{Role: filewise.RoleData, Volume: p.volume,
			Path: filepath.Join(p.dir, fmt.Sprintf("ibdata%04d", i+1)), Bytes: size}})
	}
	last := &d.Files[len(d.Files)-1]
	last.Grows = true
	if s.Allocation == filewise.Growing {
		if g := d.growth(); g%dialect.MiB != 0 || g > dialect.MaxGrowth {
			return filewise.Errorf(filewise.CodeUsage, "give --growth in whole MiB, up to 1000 MiB",
				"InnoDB's last file cannot grow by %s at a time: %w", humanize.IBytes(uint64(g)), filewise.ErrUnsupported)
		}
		last.Bytes = d.firstOfLast(s.Bytes - last.Bytes)
	}
	if err := d.splitLater(); err != nil {
		return err
	}
	if _, err := dialect.FormatDataFiles(d.systemFiles()); err != nil {
		return err
	}
	if _, err := dialect.FormatDataFiles(dataFiles(d.All())); err != nil && len(d.Later) > 0 {
		return err
	}
	d.warnFill()
	d.Warn("system-scope", "use --kind partitions to compare files that are filled side by side",
		"InnoDB fills the system tablespace one file after another, behind one latch: "+
			"results do not carry over to SQL Server's proportional fill")
	return nil
}

// firstOfLast returns the initial size of the last of growing files. It is as small as possible without growing while
// the empty database is created.
func (d *design) firstOfLast(others int64) int64 {
	if d.startsLeast() {
		return max(d.Layout.Data.Bytes-others, dialect.MiB)
	}
	if d.Layout.Data.Files == 1 {
		return max(firstGrowing, d.leastBytes(1))
	}
	missing := d.leastBytes(1) - others
	return max((missing+dialect.MiB-1)/dialect.MiB*dialect.MiB, dialect.MiB)
}

// startsLeast reports whether growing files begin as small as possible, with less than the empty database takes. Then
// InnoDB enlarges the last file while it creates the database, and again for the first extents of rows.
func (d *design) startsLeast() bool {
	s := d.Layout.Data
	least := int64(s.Files-1)*dialect.MiB + d.leastFirst()
	return s.Allocation == filewise.Growing && s.Bytes < d.leastBytes(s.Files) && s.Bytes >= max(least, 5*dialect.MiB)
}

// leastBytes returns the smallest system tablespace in which there is any space for work.
func (d *design) leastBytes(files int) int64 {
	least := (dialect.SystemBase(d.Product.Files.SystemBytes, len(d.Tables)) + 8*dialect.MiB) * d.extentMiB()
	return max((least+dialect.MiB-1)/dialect.MiB*dialect.MiB, int64(files-1)*dialect.MiB+d.leastFirst())
}

// extentMiB returns the size of an extent in MiB: 64 pages, at least 1 MiB. Space that InnoDB takes in extents is
// proportional to it.
func (d *design) extentMiB() int64 { return max(64*d.Page/dialect.MiB, 1) }

// leastFirst returns the size of the smallest possible first file: 3 extents.
func (d *design) leastFirst() int64 { return dialect.MinFirstFile * d.extentMiB() }

// sizeArg formats a size for the command line.
func sizeArg(bytes int64) string {
	return fmt.Sprintf("%dMiB", (bytes+dialect.MiB-1)/dialect.MiB)
}

// reserve returns what InnoDB keeps free at the end of a tablespace that can grow. Before a page is split, InnoDB
// enlarges the tablespace if no more than 2 + 3 extents and 1 % of it are free (fsp_reserve_free_extents in
// storage/innobase/fsp/fsp0fsp.cc). A tree takes up to 4 extents beforehand (fseg_fill_free_list). Rows never fill the
// reserve. So it lies behind the last file's share, and no file grows while it is measured. The smallest layouts have
// no space for it, and grow. If files are added later, the first has exactly its share, and grows when it is filled.
func (d *design) reserve() int64 {
	s := d.Layout.Data
	if s.Allocation == filewise.Growing || d.Layout.AddedLater != "" {
		return 0
	}
	want := 8*dialect.MiB*d.extentMiB() + s.Bytes/64 + int64(fillError*float64(s.Bytes))
	return min(want, max(s.Bytes-d.leastBytes(s.Files), 0)) / dialect.MiB * dialect.MiB
}

// systemSizes returns equal shares in whole MiB, except that InnoDB needs 3 MiB of the first file. The last file has
// the reserve in addition.
func (d *design) systemSizes() []int64 {
	s, reserve := d.Layout.Data, d.reserve()
	s.Bytes -= reserve
	sizes := s.Sizes(dialect.MiB)
	if sizes[0] < d.leastFirst() {
		rest := filewise.Spread{Files: s.Files - 1, Bytes: s.Bytes - d.leastFirst()}
		d.Warn("first-file-larger", "use "+sizeArg(int64(s.Files)*d.leastFirst()+reserve)+" or more for files of equal size",
			"the first of %s is larger than the others: InnoDB needs at least %d MiB of it", filewise.FilesName(s.Files), d.leastFirst()/dialect.MiB)
		sizes = append([]int64{d.leastFirst()}, rest.Sizes(dialect.MiB)...)
	}
	sizes[len(sizes)-1] += reserve
	return sizes
}

// growth returns the step by which the last file grows.
func (d *design) growth() int64 {
	if d.Layout.Data.Allocation != filewise.Growing {
		return safetyGrowth
	}
	if d.Layout.Data.Growth > 0 {
		return d.Layout.Data.Growth
	}
	return defaultGrowth
}

// systemFiles returns the files of the system tablespace, which every kind of layout has.
func (d *design) systemFiles() []dialect.DataFile {
	if !d.isSystem() {
		return []dialect.DataFile{{Path: filepath.Join(d.home(), "ibdata1"), Bytes: max(firstGrowing, d.leastBytes(1)), Grows: true}}
	}
	return dataFiles(d.Files)
}

// dataFiles returns the files for innodb_data_file_path: only the last can grow.
func dataFiles(files []dialect.File) []dialect.DataFile {
	all := make([]dialect.DataFile, len(files))
	for i, f := range files {
		all[i] = dialect.DataFile{Path: f.Path, Bytes: f.Bytes, Grows: f.Grows && i == len(files)-1}
	}
	return all
}
