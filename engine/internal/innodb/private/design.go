package private

import (
	"fmt"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
)

// The names within a build. They are Filewise's own; a layout is a server of its
// own, so nothing of the user's can have them.
const (
	// Database is the name of the one database of a build.
	Database   = "filewise"
	socketName = "fw.sock"
	firstBuild = 1 // the number of a build when no other is there
)

// design is what a layout comes to on a private server: files, settings, tables.
type design struct {
	product  *Product
	target   filewise.Target
	layout   filewise.Layout
	program  filewise.Program
	dirs     []string // the build's directory on each volume of the target
	data     []place  // on each volume that holds data, in order
	log      place
	files    []dataFile
	temps    []dataFile // of the temporary tablespace, where the layout varies them
	later    []dataFile // those that Extend adds
	schema   innodb.Schema
	loading  bool // until Finish, with a buffer pool for loading
	warnings []filewise.Warning
}

// place is the build's directory on a volume.
type place struct{ volume, dir string }

// dataFile is a file of the layout as it should come about.
type dataFile struct {
	volume string
	path   string
	bytes  int64 // initial; 0: InnoDB decides
	grows  bool
}

// newDesign resolves a layout. What InnoDB cannot do is an error that wraps
// filewise.ErrUnsupported, and nothing is created.
func (p *Product) newDesign(t filewise.Target, l filewise.Layout, program filewise.Program, build int) (*design, error) {
	if len(t.Volumes) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "name one with --volume NAME=DIR", "there is no volume to place files on")
	}
	schema, err := innodb.NewSchema(Database, l, program)
	if err != nil {
		return nil, err
	}
	if err := innodb.CheckSettings(t.Settings); err != nil {
		return nil, err
	}
	if _, err := flushAtCommit(t.Durability); err != nil {
		return nil, err
	}
	if l.Data.Files < 1 || l.Data.Bytes < 0 || l.Data.Growth < 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "", "a layout of %d files and %d bytes growing by %d", l.Data.Files, l.Data.Bytes, l.Data.Growth)
	}
	if err := innodb.CheckIndexes(l); err != nil {
		return nil, err
	}
	d := &design{product: p, target: t, layout: l, program: program, schema: schema}
	d.loading = d.loadsApart()
	if err := d.checkConnections(); err != nil {
		return nil, err
	}
	if err := d.place(build); err != nil {
		return nil, err
	}
	if err := d.checkLater(); err != nil {
		return nil, err
	}
	if err := d.checkBackup(); err != nil {
		return nil, err
	}
	if err := d.temp(); err != nil {
		return nil, err
	}
	switch l.Kind {
	case filewise.KindSystem, "":
		err = d.system()
	case filewise.KindPerTable:
		err = d.perTable()
	case filewise.KindPartitions:
		err = d.partitions()
	default:
		err = filewise.Errorf(filewise.CodeUsage, "kinds of "+p.Name+": system, per-table, partitions", "kind %q on %s: %w", l.Kind, p.Name, filewise.ErrUnsupported)
	}
	d.warnPool()
	d.warnBackup()
	return d, err
}

// place names the build's directories.
func (d *design) place(build int) error {
	dirs := map[string]string{}
	for i, v := range d.target.Volumes {
		dir, err := filepath.Abs(filepath.Join(v.Dir, fmt.Sprintf("%s-%04d-%d", d.product.Name, build, i)))
		if err != nil {
			return filewise.Errorf(filewise.CodeUsage, "", "volume %s: %w", v.Name, err)
		}
		if strings.ContainsAny(dir, d.product.Files.Unreadable) {
			return filewise.Errorf(filewise.CodeUsage, "use a directory without these characters",
				"%s cannot read the path %q: it holds one of %q: %w", d.product.Title, dir, d.product.Files.Unreadable, filewise.ErrUnsupported)
		}
		d.dirs, dirs[v.Name] = append(d.dirs, dir), dir
	}
	for _, v := range d.layout.DataVolumes(d.target.Volumes) {
		d.data = append(d.data, place{v.Name, dirs[v.Name]})
	}
	if len(d.data) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "name a second one with --volume NAME=DIR", "volume %s is to hold the log alone, and there is no other for the data", d.layout.LogVolume)
	}
	d.log = d.data[0]
	if name := d.layout.LogVolume; name != "" {
		dir, ok := dirs[name]
		if !ok {
			return filewise.Errorf(filewise.CodeUsage, "name it with --volume "+name+"=DIR", "the log is to lie on volume %q, which there is not", name)
		}
		d.log = place{name, dir}
	}
	return nil
}

func (d *design) isSystem() bool {
	return d.layout.Kind == filewise.KindSystem || d.layout.Kind == ""
}

// home is the directory of what belongs to no file of the layout.
func (d *design) home() string { return d.data[0].dir }

// dataDir is the server's data directory: dictionary, tables.
func (d *design) dataDir() string { return filepath.Join(d.home(), "data") }

// redoDir is the directory of the redo log.
func (d *design) redoDir() string {
	if d.log == d.data[0] {
		return d.dataDir()
	}
	return filepath.Join(d.log.dir, "redo")
}

// placeOf is where data file i lies.
func (d *design) placeOf(i int) place {
	if d.layout.Data.Placement != filewise.PlaceRoundRobin {
		i = 0
	}
	return d.data[i%len(d.data)]
}

// warn adds what a reader must know about the layout.
func (d *design) warn(code, remedy, format string, args ...any) {
	d.warnings = append(d.warnings, filewise.Warning{Code: code, Message: fmt.Sprintf(format, args...), Remedy: remedy})
}
