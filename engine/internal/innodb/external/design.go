package external

import (
	"fmt"
	"path"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/engine/internal/mark"
)

const usualPage = 16 << 10 // bytes; a plan does not know the server's own

// design is what a layout comes to on a server: files and tables.
type design struct {
	dialect  *Dialect
	target   filewise.Target
	layout   filewise.Layout
	schema   innodb.Schema
	page     int64
	files    []filewise.File // as a build creates them, those of Extend included
	warnings []filewise.Warning
}

// newDesign resolves a layout. What cannot be done on an external server is an
// error that wraps filewise.ErrUnsupported.
func (d *Dialect) newDesign(t filewise.Target, l filewise.Layout, p filewise.Program, database string, page int64) (*design, error) {
	schema, err := innodb.NewSchema(database, l, p)
	if err != nil {
		return nil, err
	}
	schema.Cut = true // how the server writes its binary log is its owner's choice
	if err := checkTarget(t); err != nil {
		return nil, err
	}
	if err := d.checkLayout(t, l, p); err != nil {
		return nil, err
	}
	g := &design{dialect: d, target: t, layout: l, schema: schema, page: page}
	if l.Kind == filewise.KindPerTable {
		err = g.perTable()
	} else {
		err = g.partitions()
	}
	if err != nil {
		return nil, err
	}
	if len(directories(t, l)) > 0 {
		g.warn("empty-directories-stay", "remove them on the server's host: their names begin with "+mark.Prefix,
			"%s leaves an empty directory in a volume when a database is dropped; Filewise removes it where the server runs on its host, and it may", d.Product)
	}
	warnings, err := innodb.CheckOwnGrowth(l, d.EmptyPages*page)
	g.warnings = append(g.warnings, warnings...)
	return g, err
}

// checkTarget refuses what a target cannot have.
func checkTarget(t filewise.Target) error {
	if len(t.Volumes) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "", "there is no volume to place files on")
	}
	for name := range t.Settings {
		return filewise.Errorf(filewise.CodeUsage, "leave --set out, or use a private server: --engine NAME without --target",
			"--set %s: the settings of an external server are its owner's, Filewise changes none: %w", name, filewise.ErrUnsupported)
	}
	for _, v := range t.Volumes {
		if v.Dir != "" && !path.IsAbs(v.Dir) && !windowsPath(v.Dir) {
			return filewise.Errorf(filewise.CodeUsage, "give the whole path as the server sees it", "volume %s: %q is no absolute path", v.Name, v.Dir)
		}
	}
	return nil
}

func windowsPath(dir string) bool { return len(dir) > 2 && dir[1] == ':' }

func (d *Dialect) checkLayout(t filewise.Target, l filewise.Layout, p filewise.Program) error {
	no := func(remedy, why string) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "%s: %w", why, filewise.ErrUnsupported)
	}
	switch {
	case p.Workload == innodb.WorkloadTemp:
		return no("use a private server: --engine mariadb or postgres without --target", d.noTemp())
	case p.Workload == "backup":
		return no("use a private server: --engine "+d.Name+" without --target", noBackup)
	case p.Workload == "dump":
		return no("use a private server: --engine "+d.Name+" without --target", noDump)
	case l.Kind == filewise.KindSystem:
		return no("use --kind partitions, or a private server: --engine "+d.Name, noSystem)
	case l.Kind != filewise.KindPartitions && l.Kind != filewise.KindPerTable && l.Kind != "":
		return no("kinds of an external server: partitions, per-table", fmt.Sprintf("kind %q on %s", l.Kind, d.Product))
	case l.Data.Files < 1 || l.Data.Bytes < 0 || l.Data.Growth < 0:
		return filewise.Errorf(filewise.CodeUsage, "", "a layout of %d files and %d bytes growing by %d", l.Data.Files, l.Data.Bytes, l.Data.Growth)
	case l.LogVolume != "":
		return no("leave --log-volume out", noLogApart)
	case l.Indexes != "" || l.IndexVolume != "":
		return no("leave --indexes and --index-volume out", noIndexApart)
	case l.AddedLater != "" && l.Kind == filewise.KindPerTable:
		return no("use --kind partitions", "kind per-table: a table that is added later would be another table, with none of the data")
	case l.AddedLater == filewise.LaterNewData:
		return no("leave that arm out: --added-later=rebuilt", noNewData)
	case l.AddedLater != "" && l.AddedLater != filewise.LaterUntouched && l.AddedLater != filewise.LaterRebuilt:
		return no("arms: untouched, rebuilt", fmt.Sprintf("files added later %q", l.AddedLater))
	}
	return nil
}

// Why an external server does not offer what it does not.
const (
	noSystem       = "the files of InnoDB's system tablespace are a start-up option of the server (innodb_data_file_path), which Filewise does not change on an external one"
	noTempExternal = "the temporary files of InnoDB are a start-up option of the server (innodb_temp_data_file_path), which Filewise does not change on an external one"
	noLogApart     = "the place of the redo log is a start-up option of the server, which Filewise does not change on an external one"
	noIndexApart   = "InnoDB keeps the indexes of a table in the table's own file"
	noNewData      = "a partitioned table is spread over its partitions by the hash of its key: when partitions are added, InnoDB spreads the old rows anew as well"
	noBackup       = "a backup of the server's own files needs to read them on its host, and a second server to restore them to; a logical dump is another scenario"
	noDump         = "mydumper stops all writes on the server for a moment (FLUSH TABLES WITH READ LOCK), also those of others, which Filewise does to no server that is not its own"
	noPreallocated = "InnoDB itself sizes the files of tables and partitions; only its system tablespace can be preallocated, by a start-up option of the server"
)

// noTemp is why temporary files cannot be varied.
func (d *Dialect) noTemp() string {
	if d == MySQL {
		return innodb.NoTempMySQL
	}
	return noTempExternal
}

// place adds file i of the layout, of a table or partition, and returns the
// directory for DATA DIRECTORY. Paths are as the server names them: relative to
// its data directory where that is the place.
func (g *design) place(i int, name string) (directory string) {
	v := g.layout.Data.VolumeOf(i, g.layout.DataVolumes(g.target.Volumes))
	f := filewise.File{Role: filewise.RoleData, Volume: v.Name, Object: name, Bytes: g.dialect.EmptyPages * g.page}
	base := v.Dir
	if base == "" {
		base = "."
	}
	f.Path = strings.TrimRight(base, "/") + "/" + g.schema.Database + "/" + name + ".ibd"
	g.files = append(g.files, f)
	return innodb.DataDirectory(v.Dir)
}

func (g *design) perTable() error {
	if err := g.schema.CheckPerTable(g.layout.Data.Files); err != nil {
		return err
	}
	for i, t := range g.schema.Tables {
		g.schema.Tables[i].Options = g.place(i, t.Name)
		g.schema.Spots = append(g.schema.Spots, g.schema.Tables[i].Options)
	}
	g.warnings = append(g.warnings, g.schema.WarnChurn()...)
	return nil
}

func (g *design) partitions() error {
	files := g.layout.Data.Files
	if g.layout.AddedLater == filewise.LaterUntouched {
		files = 1
	}
	if err := innodb.CheckPartitions(g.layout.Data.Files); err != nil {
		return err
	}
	warnings, err := g.schema.WarnPartitions(files)
	if err != nil {
		return err
	}
	g.warnings = append(g.warnings, warnings...)
	for n, t := range g.schema.Tables {
		var directories []string
		for p := range files {
			directories = append(directories, g.place(p, t.Name+g.dialect.Infix+innodb.PartitionName(p)))
		}
		g.schema.Tables[n].Options = byHash(t, min(g.layout.FilesAtFirst(), files), directories)
		g.schema.Spots = directories[:min(g.layout.FilesAtFirst(), files)]
	}
	return nil
}

// byHash is the clause for the first n partitions of a table.
func byHash(t innodb.Table, n int, directories []string) string {
	return innodb.PartitionByHash(t.Key, n, func(p int) string { return directories[p] })
}

// atFirst are the files before Extend, of every table the first.
func (g *design) atFirst() []filewise.File {
	if g.layout.AddedLater == "" {
		return g.files
	}
	var first []filewise.File
	each := len(g.files) / len(g.schema.Tables)
	for i := 0; i < len(g.files); i += each {
		first = append(first, g.files[i])
	}
	return first
}

// rebuild are the statements of Extend: every table is spread over all of its
// partitions. None when the files stay as they are.
func (g *design) rebuild() []string {
	if g.layout.AddedLater != filewise.LaterRebuilt {
		return nil
	}
	var all []string
	n := g.layout.Data.Files
	for _, t := range g.schema.Tables {
		directories := make([]string, n)
		for p := range n {
			directories[p] = innodb.DataDirectory(g.layout.Data.VolumeOf(p, g.layout.DataVolumes(g.target.Volumes)).Dir)
		}
		all = append(all, "ALTER TABLE "+innodb.Ident(g.schema.Database)+"."+innodb.Ident(t.Name)+byHash(t, n, directories))
	}
	return all
}

// warn adds what a reader must know about the layout.
func (g *design) warn(code, remedy, format string, args ...any) {
	g.warnings = append(g.warnings, filewise.Warning{Code: code, Message: fmt.Sprintf(format, args...), Remedy: remedy})
}

// directories are the places of the layout that are not the server's own.
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
