package managed

import (
	"fmt"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// The names within a build. They are Filewise's own; a layout is a server of its
// own, so nothing of the user's can have them.
const (
	// Database is the name of the one database of a build.
	Database   = "filewise"
	socketName = "fw.sock"
)

// design holds what a layout comes to on a managed server: files, settings, tables.
type design struct {
	dialect.Design
	dirs    []string       // the build's directory on each volume of the target
	data    []place        // on each volume that holds data, in order
	log     place          // and what is the server's own
	temps   []dialect.File // of the temporary tablespace, if the layout varies them
	loading bool           // until Finish, with a buffer pool for loading
}

// place is the build's directory on a volume.
type place struct{ volume, dir string }

// newDesign resolves a layout. What InnoDB cannot do is an error that wraps
// filewise.ErrUnsupported, and nothing is created.
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

// again returns the design of another build of the same layout.
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

// home returns the directory of what belongs to no file of the layout. It is next to the log, so that
// volumes of the data hold no dictionary, undo logs or doublewrite files.
func (d *design) home() string { return d.log.dir }

// dataDir returns the server's data directory: dictionary, tables.
func (d *design) dataDir() string { return filepath.Join(d.home(), "data") }

// placeOf returns where data file i lies.
func (d *design) placeOf(i int) place {
	if d.Layout.Data.Placement != filewise.PlaceRoundRobin {
		i = 0
	}
	return d.data[i%len(d.data)]
}

// tableFile returns InnoDB's place for the file of a table or partition, which on other
// volumes than the data directory's is named by DATA DIRECTORY.
func (d *design) tableFile(i int, name string) (f dialect.File, directory string) {
	p, dir := d.placeOf(i), d.dataDir()
	if p != d.log {
		dir, directory = p.dir, p.dir
	}
	f.Volume, f.Path = p.volume, filepath.Join(dir, Database, name+".ibd")
	return f, directory
}
