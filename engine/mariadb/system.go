package mariadb

import (
	"fmt"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/internal/innodb"
)

const (
	defaultGrowth = 64 * innodb.MiB // the server's own
	firstGrowing  = 12 * innodb.MiB // of a single file that grows; the server's own
	// safetyGrowth is by how much the last of preallocated files may grow, should
	// the work be more than they hold.
	safetyGrowth = 8 * innodb.MiB
)

// system lays the system tablespace out: preallocated, N files of equal size;
// growing, N−1 fixed files and a last one that starts small.
//
// Also the last of preallocated files may grow beyond its size. InnoDB refuses
// rows (“table is full”) long before the last extents are used: it holds back 1 %
// and some 5 MiB, and how many rows a page takes varies by 10 % with the order in
// which connections overtake one another. Without room to grow, work that
// reaches the last of 16 files could not be told from work that fails.
func (d *design) system() error {
	s := d.layout.Data
	if s.Files > innodb.MaxSystemFiles {
		_, err := innodb.FormatDataFiles(make([]innodb.DataFile, s.Files))
		return err
	}
	if least := leastBytes(len(d.tables), s.Files); s.Bytes < least {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("use --size %s or more", sizeArg(least)),
			"a system tablespace of %s in %s is too small: InnoDB itself needs %s of it, and its first file at least 3 MiB: %w",
			humanize.IBytes(uint64(s.Bytes)), filewise.FilesName(s.Files), humanize.IBytes(uint64(innodb.SystemBase(len(d.tables)))), filewise.ErrUnsupported)
	}
	sizes := d.systemSizes()
	for i, size := range sizes {
		volume, dir := d.volumeOf(i)
		d.files = append(d.files, dataFile{volume: volume, path: filepath.Join(dir, fmt.Sprintf("ibdata%04d", i+1)), bytes: size})
	}
	last := &d.files[len(d.files)-1]
	last.grows = true
	if s.Allocation == filewise.Growing {
		if g := d.growth(); g%innodb.MiB != 0 || g > innodb.MaxGrowth {
			return filewise.Errorf(filewise.CodeUsage, "give --growth in whole MiB, up to 1000 MiB",
				"InnoDB's last file cannot grow by %s at a time: %w", humanize.IBytes(uint64(g)), filewise.ErrUnsupported)
		}
		last.bytes = innodb.MiB
		if s.Files == 1 {
			last.bytes = firstGrowing
		}
	}
	if _, err := innodb.FormatDataFiles(d.systemFiles()); err != nil {
		return err
	}
	d.warnFill()
	return nil
}

// leastBytes is the smallest system tablespace in which work has any room.
func leastBytes(tables, files int) int64 {
	least := innodb.SystemBase(tables) + 8*innodb.MiB
	return max((least+innodb.MiB-1)/innodb.MiB*innodb.MiB, int64(files+2)*innodb.MiB)
}

// sizeArg writes a size for the command line.
func sizeArg(bytes int64) string {
	return fmt.Sprintf("%dMiB", (bytes+innodb.MiB-1)/innodb.MiB)
}

// systemSizes are equal sizes in whole MiB, except that InnoDB wants 3 MiB of
// the first file.
func (d *design) systemSizes() []int64 {
	s := d.layout.Data
	sizes := s.Sizes(innodb.MiB)
	if sizes[0] >= innodb.MinFirstFile {
		return sizes
	}
	rest := filewise.Spread{Files: s.Files - 1, Bytes: s.Bytes - innodb.MinFirstFile}
	d.warn("first-file-larger", "use "+sizeArg(int64(s.Files)*innodb.MinFirstFile)+" or more for files of equal size",
		"the first of %s is larger than the others: InnoDB wants at least 3 MiB of it", filewise.FilesName(s.Files))
	return append([]int64{innodb.MinFirstFile}, rest.Sizes(innodb.MiB)...)
}

// growth is the step by which the last file grows.
func (d *design) growth() int64 {
	if d.layout.Data.Allocation != filewise.Growing {
		return safetyGrowth
	}
	if d.layout.Data.Growth > 0 {
		return d.layout.Data.Growth
	}
	return defaultGrowth
}

// systemFiles are the files of the system tablespace, for every kind of layout.
func (d *design) systemFiles() []innodb.DataFile {
	if !d.isSystem() {
		return []innodb.DataFile{{Path: filepath.Join(d.dirs[0], "ibdata1"), Bytes: firstGrowing, Grows: true}}
	}
	files := make([]innodb.DataFile, len(d.files))
	for i, f := range d.files {
		files[i] = innodb.DataFile{Path: f.path, Bytes: f.bytes, Grows: f.grows}
	}
	return files
}
