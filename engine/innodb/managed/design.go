package managed

import (
	"fmt"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// Names within a build. A layout has its own server, so these names cannot collide with the user's.
const (
	// Database is the only database of a build.
	Database   = "filewise"
	socketName = "fw.sock"
)

// design holds a layout resolved for a managed server: files, settings, tables.
type design struct {
	dialect.Design
	dirs    []string       // the build's directory on each of the target's volumes
	data    []place        // on each data volume, in order
	log     place          // for the log and the server's own files
	temps   []dialect.File // of the temporary tablespace, if the layout varies it
	loading bool           // until Finish; the server then has a buffer pool for loading
}

// place is the build's directory on a volume.
type place struct{ volume, dir string }

// newDesign resolves a layout. If InnoDB cannot do what it demands, the error wraps filewise.ErrUnsupported. Nothing is
// created.
func newDesign(p *dialect.Product, t filewise.Target, l filewise.Layout, program filewise.Program, build int) (*design, error) {
	if len(t.Volumes) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "name one with --volume NAME=DIR", "there is no volume to place files on")
	}
	schema, err := dialect.NewSchema(Database, l, program)
	if err != nil {
		return nil, err
	}
	if program.Restored() && l.AddedLater != "" {
		return nil, refuse("leave --added-later out", "files added later to a dump's tables")
	}
	if err := dialect.CheckSettings(t.Settings); err != nil {
		return nil, err
	}
	if _, err := flushAtCommit(t.Durability); err != nil {
		return nil, err
	}
	if err := dialect.CheckSpread(l); err != nil {
		return nil, err
	}
	if err := dialect.CheckIndexes(l); err != nil {
		return nil, err
	}
	d := &design{Design: dialect.Design{Schema: schema, Product: p, Target: t, Layout: l, Page: pageSize(t)}}
	d.Place = d.tableFile
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
		if err = d.PerTable(); err == nil {
			err = d.CheckGrowth()
		}
		if p == dialect.MySQL && program.Restored() {
			d.General()
		}
	case filewise.KindPartitions:
		if err = d.Partitions(); err == nil {
			err = d.CheckGrowth()
		}
	default:
		err = refuse("kinds of "+p.Name+": system, per-table, partitions", "kind %q on %s", l.Kind, p.Name)
	}
	d.warnPool()
	d.warnBackup()
	return d, err
}

// again returns the same layout's design with the directories of another build.
func (d *design) again(build int) (*design, error) {
	return newDesign(d.Product, d.Target, d.Layout, d.Program, build)
}

// place names the build's directories.
func (d *design) place(build int) error {
	dirs := map[string]string{}
	for i, v := range d.Target.Volumes {
		dir, err := filepath.Abs(filepath.Join(v.Dir, fmt.Sprintf("%s-%04d-%d", d.Product.Name, build, i)))
		if err != nil {
			return filewise.Errorf(filewise.CodeUsage, "", "volume %s: %w", v.Name, err)
		}
		if strings.ContainsAny(dir, d.Product.Files.Unreadable) {
			return filewise.Errorf(filewise.CodeUsage, "use a directory without these characters",
				"%s cannot read the path %q: it holds one of %q: %w", d.Product.Title, dir, d.Product.Files.Unreadable, filewise.ErrUnsupported)
		}
		d.dirs, dirs[v.Name] = append(d.dirs, dir), dir
	}
	for _, v := range d.Layout.DataVolumes(d.Target.Volumes) {
		d.data = append(d.data, place{v.Name, dirs[v.Name]})
	}
	if len(d.data) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "name a second one with --volume NAME=DIR",
			"volume %s is to hold the log alone, and there is no other for the data", d.Layout.LogVolume)
	}
	d.log = d.data[0]
	if name := d.Layout.LogVolume; name != "" {
		dir, ok := dirs[name]
		if !ok {
			return filewise.Errorf(filewise.CodeUsage, "name it with --volume "+name+"=DIR", "the log is to lie on volume %q, which there is not",
				name)
		}
		d.log = place{name, dir}
	}
	return nil
}

func (d *design) isSystem() bool {
	return d.Layout.Kind == filewise.KindSystem || d.Layout.Kind == ""
}

// home returns the directory of everything that is not a file of the layout. It is next to the log, so that data
// volumes hold no dictionary, undo logs or doublewrite files.
func (d *design) home() string { return d.log.dir }

// dataDir returns the server's data directory: dictionary, tables.
func (d *design) dataDir() string { return filepath.Join(d.home(), "data") }

// placeOf returns the place of data file i.
func (d *design) placeOf(i int) place {
	if d.Layout.Data.Placement != filewise.PlaceRoundRobin {
		i = 0
	}
	return d.data[i%len(d.data)]
}

// tableFile returns the path at which InnoDB puts the file of a table or partition. If that is not on the data
// directory's volume, directory is the value for DATA DIRECTORY.
func (d *design) tableFile(i int, name string) (f dialect.File, directory string) {
	p, dir := d.placeOf(i), d.dataDir()
	if p != d.log {
		dir, directory = p.dir, p.dir
	}
	f.Volume, f.Path = p.volume, filepath.Join(dir, Database, name+".ibd")
	return f, directory
}
