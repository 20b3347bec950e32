package mariadb

import (
	"fmt"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/workload"
)

// The names within a build. They are Filewise's own; a layout is a server of its
// own, so nothing of the user's can have them.
const (
	database   = "filewise"
	rowsTable  = "fw_rows"
	procedure  = "fw_inserts"
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
	tables   []table
	warnings []filewise.Warning
}

// dataFile is a file of the layout as it should come about.
type dataFile struct {
	volume string
	path   string
	bytes  int64 // initial; 0: InnoDB decides
	grows  bool
}

// table is a table of the workload, with the procedure that fills it.
type table struct {
	Name, Procedure string
	Options         string // what stands behind ENGINE: partitions, directory
}

// newDesign resolves a layout. What InnoDB cannot do is an error that wraps
// filewise.ErrUnsupported, and nothing is created.
func newDesign(t filewise.Target, l filewise.Layout, p filewise.Program, build int) (*design, error) {
	if len(t.Volumes) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "name one with --volume NAME=DIR", "there is no volume to place files on")
	}
	if !sections.has(p.Workload) {
		return nil, filewise.Errorf(filewise.CodeUsage, "see filewise scenarios", "workload %q on mariadb: %w", p.Workload, filewise.ErrUnsupported)
	}
	if err := innodb.CheckSettings(t.Settings); err != nil {
		return nil, err
	}
	if _, err := flushAtCommit(t.Durability); err != nil {
		return nil, err
	}
	if p.Connections < 1 || p.CommitEvery < 1 || p.OpBytes < 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "both are at least 1", "%d connections and %d rows in a transaction", p.Connections, p.CommitEvery)
	}
	d := &design{target: t, layout: l, program: p}
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
	d.tables = tablesOf(l, p)
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

// tablesOf is the shared table, one for each file of kind per-table, or one for
// each connection.
func tablesOf(l filewise.Layout, p filewise.Program) []table {
	n := 1
	switch {
	case p.Vars["Table"] == workload.TablePerConnection:
		n = p.Connections
	case l.Kind == filewise.KindPerTable:
		n = l.Data.Files
	}
	if n == 1 {
		return []table{{Name: rowsTable, Procedure: procedure}}
	}
	tables := make([]table, n)
	for i := range tables {
		tables[i] = table{Name: fmt.Sprintf("%s_%04d", rowsTable, i), Procedure: fmt.Sprintf("%s_%04d", procedure, i)}
	}
	return tables
}

// tableOf is the table of a worker: where there are fewer than workers, they take
// turns.
func (d *design) tableOf(worker int) table { return d.tables[worker%len(d.tables)] }

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
	return f, " DATA DIRECTORY = " + innodb.Literal(dir)
}

// emptyTable is the size of an empty table's file in bytes.
func (d *design) emptyTable() int64 { return emptyTablePages * d.pageSize() }

// ownGrowth refuses what InnoDB cannot do with the files of tables and
// partitions: it alone decides their size and growth.
func (d *design) ownGrowth() error {
	if bytes := d.layout.Data.Bytes; bytes > 0 && bytes < int64(d.layout.Data.Files)*d.emptyTable() {
		return filewise.Errorf(filewise.CodeUsage, "use fewer files or a larger --size",
			"%d bytes in %s: InnoDB's file of an empty table has %d already: %w", bytes, filewise.FilesName(d.layout.Data.Files), d.emptyTable(), filewise.ErrUnsupported)
	}
	if d.layout.Data.Allocation == filewise.Preallocated {
		return filewise.Errorf(filewise.CodeUsage, "use --allocation growing, or --kind system",
			"InnoDB cannot preallocate the file of a table or partition (kind %s): %w", d.layout.Kind, filewise.ErrUnsupported)
	}
	if d.layout.Data.Growth > 0 {
		d.warn("growth-not-used", "leave --growth out", "InnoDB itself decides by how much the files of kind %s grow (up to 4 MiB at a time); --growth is not used", d.layout.Kind)
	}
	return nil
}

// perTable spreads the connections evenly over a table for each file.
func (d *design) perTable() error {
	files, connections := d.layout.Data.Files, d.program.Connections
	if n := len(d.tables); files != n {
		return filewise.Errorf(filewise.CodeUsage, "leave --table out: the connections then take turns on a table for each file; or use --kind partitions",
			"kind per-table has a file for each table: with one for each of %d connections %s, not %d: %w", connections, filewise.FilesName(n), files, filewise.ErrUnsupported)
	}
	if files > connections {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("give up to %d files, more --connections, or --kind partitions", connections),
			"kind per-table has a file for each table, and %d connections would leave some of %d tables empty: %w", connections, files, filewise.ErrUnsupported)
	}
	for i := range d.tables {
		f, directory := d.tableFile(i, d.tables[i].Name)
		d.files = append(d.files, f)
		d.tables[i].Options = directory
	}
	return d.ownGrowth()
}

// maxPartitions is MariaDB's limit for one table.
const maxPartitions = 8192

func (d *design) partitions() error {
	files := d.layout.Data.Files
	if files > maxPartitions {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("give 1 to %d files", maxPartitions),
			"a table of MariaDB has up to %d partitions, not %d: %w", maxPartitions, files, filewise.ErrUnsupported)
	}
	if n := len(d.tables); n > 1 {
		d.warn("files-of-each-table", "use --table shared to count files as in the layout's name",
			"each of the %d tables has %d partitions of its own: %d files in all", n, files, n*files)
	}
	for t := range d.tables {
		var list []string
		for p := range files {
			name := fmt.Sprintf("p%04d", p)
			f, directory := d.tableFile(p, d.tables[t].Name+"#P#"+name)
			d.files = append(d.files, f)
			list = append(list, "PARTITION "+name+directory)
		}
		d.tables[t].Options = "\nPARTITION BY HASH (id) (\n  " + strings.Join(list, ",\n  ") + ")"
	}
	return d.ownGrowth()
}
