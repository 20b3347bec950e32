package mariadb

import (
	"fmt"
	"path/filepath"

	"filewise"
	"filewise/engine/internal/innodb"
)

// The names within a build. They are Filewise's own; a layout is a server of its
// own, so nothing of the user's can have them.
const (
	database   = "filewise"
	redoFile   = "ib_logfile0"
	socketName = "fw.sock"
	firstBuild = 1 // the number of a build when no other is there
	// emptyTablePages is the size of an empty table's file (FIL_IBD_FILE_INITIAL_SIZE).
	emptyTablePages = 4
)

// design is what a layout comes to on MariaDB: files, settings, tables.
type design struct {
	target   filewise.Target
	layout   filewise.Layout
	program  filewise.Program
	dirs     []string // the build's directory on each volume
	files    []dataFile
	schema   innodb.Schema
	warnings []filewise.Warning
}

// dataFile is a file of the layout as it should come about.
type dataFile struct {
	volume string
	path   string
	bytes  int64 // initial; 0: InnoDB decides
	grows  bool
}

// newDesign resolves a layout. What InnoDB cannot do is an error that wraps
// filewise.ErrUnsupported, and nothing is created.
func newDesign(t filewise.Target, l filewise.Layout, p filewise.Program, build int) (*design, error) {
	if len(t.Volumes) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "name one with --volume NAME=DIR", "there is no volume to place files on")
	}
	schema, err := innodb.NewSchema(database, l, p)
	if err != nil {
		return nil, err
	}
	if err := innodb.CheckSettings(t.Settings); err != nil {
		return nil, err
	}
	if _, err := flushAtCommit(t.Durability); err != nil {
		return nil, err
	}
	d := &design{target: t, layout: l, program: p, schema: schema}
	if err := d.checkConnections(); err != nil {
		return nil, err
	}
	for i, v := range t.Volumes {
		dir, err := filepath.Abs(filepath.Join(v.Dir, fmt.Sprintf("mariadb-%04d-%d", build, i)))
		if err != nil {
			return nil, filewise.Errorf(filewise.CodeUsage, "", "volume %s: %w", v.Name, err)
		}
		d.dirs = append(d.dirs, dir)
	}
	if l.Data.Files < 1 || l.Data.Bytes < 0 || l.Data.Growth < 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "", "a layout of %d files and %d bytes growing by %d", l.Data.Files, l.Data.Bytes, l.Data.Growth)
	}
	switch l.Kind {
	case filewise.KindSystem, "":
		return d, d.system()
	case filewise.KindPerTable:
		return d, d.perTable()
	case filewise.KindPartitions:
		return d, d.partitions()
	}
	return nil, filewise.Errorf(filewise.CodeUsage, "kinds of mariadb: system, per-table, partitions", "kind %q on mariadb: %w", l.Kind, filewise.ErrUnsupported)
}

func (d *design) isSystem() bool {
	return d.layout.Kind == filewise.KindSystem || d.layout.Kind == ""
}

// dataDir is the server's data directory: redo log, dictionary, tables.
func (d *design) dataDir() string { return filepath.Join(d.dirs[0], "data") }

// volumeOf is the volume of data file i and the build's directory there.
func (d *design) volumeOf(i int) (name, dir string) {
	v := i
	if d.layout.Data.Placement != filewise.PlaceRoundRobin {
		v = 0
	}
	v %= len(d.dirs)
	return d.target.Volumes[v].Name, d.dirs[v]
}

// warn adds what a reader must know about the layout.
func (d *design) warn(code, remedy, format string, args ...any) {
	d.warnings = append(d.warnings, filewise.Warning{Code: code, Message: fmt.Sprintf(format, args...), Remedy: remedy})
}

// tableFile is where InnoDB puts the file of a table or partition, which on
// other volumes than the first is named by DATA DIRECTORY.
func (d *design) tableFile(i int, name string) (f dataFile, directory string) {
	volume, dir := d.volumeOf(i)
	f = dataFile{volume: volume, bytes: d.emptyTable(), grows: true}
	if dir == d.dirs[0] {
		f.path = filepath.Join(d.dataDir(), database, name+".ibd")
		return f, ""
	}
	f.path = filepath.Join(dir, database, name+".ibd")
	return f, innodb.DataDirectory(dir)
}

// emptyTable is the size of an empty table's file in bytes.
func (d *design) emptyTable() int64 { return emptyTablePages * d.pageSize() }

// ownGrowth refuses sizes that InnoDB alone decides.
func (d *design) ownGrowth() error {
	warnings, err := innodb.CheckOwnGrowth(d.layout, d.emptyTable())
	d.warnings = append(d.warnings, warnings...)
	return err
}

// perTable spreads the connections evenly over a table for each file.
func (d *design) perTable() error {
	if err := d.schema.CheckPerTable(d.layout.Data.Files); err != nil {
		return err
	}
	for i, t := range d.schema.Tables {
		f, directory := d.tableFile(i, t.Name)
		d.files = append(d.files, f)
		d.schema.Tables[i].Options = directory
	}
	return d.ownGrowth()
}

func (d *design) partitions() error {
	files := d.layout.Data.Files
	if err := innodb.CheckPartitions(files); err != nil {
		return err
	}
	if n := len(d.schema.Tables); n > 1 {
		d.warn("files-of-each-table", "use --table shared to count files as in the layout's name",
			"each of the %d tables has %d partitions of its own: %d files in all", n, files, n*files)
	}
	for n, t := range d.schema.Tables {
		directories := make([]string, files)
		for p := range files {
			f, directory := d.tableFile(p, t.Name+"#P#"+innodb.PartitionName(p))
			d.files, directories[p] = append(d.files, f), directory
		}
		d.schema.Tables[n].Options = innodb.PartitionByHash(files, func(p int) string { return directories[p] })
	}
	return d.ownGrowth()
}
