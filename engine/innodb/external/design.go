package external

import (
	"cmp"
	"path"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/internal/marker"
)

const usualPage = 16 << 10 // bytes; a plan cannot read the server's own

// newDesign resolves a layout. If it cannot be built on an external server, the error wraps filewise.ErrUnsupported.
func newDesign(p *dialect.Product, t filewise.Target, l filewise.Layout, program filewise.Program, database string,
	page int64) (*dialect.Design, error) {
	schema, err := dialect.NewSchema(database, l, program)
	if err != nil {
		return nil, err
	}
	schema.Cut = true // the server's owner chooses how its binary log is written
	schema.Signed = true
	if err := checkTarget(t); err != nil {
		return nil, err
	}
	if err := checkLayout(p, l, program); err != nil {
		return nil, err
	}
	d := &dialect.Design{Schema: schema, Product: p, Target: t, Layout: l, Page: page}
	d.Place = func(i int, name string) (dialect.File, string) { return place(d, i, name) }
	spread := d.Partitions
	if l.Kind == filewise.KindPerTable {
		spread = d.PerTable
	}
	if err := spread(); err != nil {
		return nil, err
	}
	if len(directories(t, l)) > 0 {
		d.Warn("empty-directories-stay", "remove them on the server's host: their names begin with "+marker.Prefix,
			"%s leaves an empty directory in a volume when a database is dropped; Filewise removes it only if the server runs on the "+
				"same host and permits it", p.Title)
	}
	return d, d.CheckGrowth()
}

// place returns where file i of the layout lies. Paths are as the server names them: relative to its data directory if
// the file lies there.
func place(d *dialect.Design, i int, name string) (f dialect.File, directory string) {
	v := d.Layout.Data.VolumeOf(i, d.Layout.DataVolumes(d.Target.Volumes))
	base := strings.TrimRight(cmp.Or(v.Dir, "."), "/")
	f.Volume, f.Object, f.Path = v.Name, name, base+"/"+d.Database+"/"+name+".ibd"
	return f, v.Dir
}

// checkTarget refuses settings and volumes that an external target cannot have.
func checkTarget(t filewise.Target) error {
	if len(t.Volumes) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "", "there is no volume to place files on")
	}
	for name := range t.Settings {
		return filewise.Errorf(filewise.CodeUsage, "leave --set out, or use a managed server: --engine NAME without --target",
			"--set %s: the settings of an external server are its owner's, Filewise changes none: %w", name, filewise.ErrUnsupported)
	}
	for _, v := range t.Volumes {
		if v.Dir != "" && !path.IsAbs(v.Dir) && !windowsPath(v.Dir) {
			return filewise.Errorf(filewise.CodeUsage, "give the whole path as the server sees it", "volume %s: %q is no absolute path", v.Name,
				v.Dir)
		}
	}
	return nil
}

func windowsPath(dir string) bool { return len(dir) > 2 && dir[1] == ':' }

func checkLayout(d *dialect.Product, l filewise.Layout, p filewise.Program) error {
	no := filewise.Unsupported
	switch {
	case p.Table().Temporary:
		return no("give --engine mariadb or postgres without --target, or --target sqlserver://USER@HOST", "%s", noTemp(d))
	case p.BacksUp() && !p.Dumps():
		return no("use a managed server: --engine "+d.Name+" without --target", noBackup)
	case p.Dumps():
		return no("use a managed server: --engine "+d.Name+" without --target", noDump)
	case l.Kind == filewise.KindSystem:
		return no("use --kind partitions, or a managed server: --engine "+d.Name, dialect.NoSystem)
	case l.Kind != filewise.KindPartitions && l.Kind != filewise.KindPerTable && l.Kind != "":
		return no("kinds of an external server: partitions, per-table", "kind %q on %s", l.Kind, d.Title)
	case dialect.CheckSpread(l) != nil:
		return dialect.CheckSpread(l)
	case l.LogVolume != "":
		return no("leave --log-volume out", noLogApart)
	case l.Indexes != "" || l.IndexVolume != "":
		return no("leave --indexes and --index-volume out", noIndexApart)
	case l.AddedLater != "" && l.Kind == filewise.KindPerTable:
		return no("use --kind partitions", "kind per-table: a table that is added later would be another table, with none of the data")
	case l.AddedLater == filewise.LaterNewData:
		return no("leave that layout out: --added-later=rebuilt", noNewData)
	case l.AddedLater != "" && l.AddedLater != filewise.LaterUntouched && l.AddedLater != filewise.LaterRebuilt:
		return no("arms: untouched, rebuilt", "files added later %q", l.AddedLater)
	}
	return nil
}

// Reasons why an external server does not offer a capability.
const (
	noTempExternal = "the temporary files of InnoDB are a start-up option of the server (innodb_temp_data_file_path), which Filewise does " +
		"not change on an external one"
	noLogApart   = "the place of the redo log is a start-up option of the server, which Filewise does not change on an external one"
	noIndexApart = "InnoDB keeps the indexes of a table in the table's own file"
	noNewData    = "a partitioned table is spread over its partitions by the hash of its key: when partitions are added, InnoDB spreads " +
		"the old rows again as well"
	noBackup = "a backup of the server's own files needs to read them on its host, and a second server to restore them to; a logical " +
		"dump is another scenario"
	noDump = "mydumper stops all writes on the server for a moment (FLUSH TABLES WITH READ LOCK), also other users', which " +
		"Filewise does to no server that is not its own"
	noPreallocated = "InnoDB itself sizes the files of tables and partitions; only its system tablespace can be preallocated, by a " +
		"start-up option of the server"
)

// noTemp returns why temporary files cannot be varied.
func noTemp(p *dialect.Product) string { return cmp.Or(p.NoTemp, noTempExternal) }

// directories returns the directories of the layout, except the server's default place.
func directories(t filewise.Target, l filewise.Layout) []string {
	var all []string
	volumes := l.DataVolumes(t.Volumes)
	for i := range l.Data.Files {
		if dir := l.Data.VolumeOf(i, volumes).Dir; dir != "" {
			all = append(all, dir)
		}
	}
	return all
}
