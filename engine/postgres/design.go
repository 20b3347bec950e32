package postgres

import (
	"fmt"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/engine/postgres/dialect"
)

// Names within a build. The database or the whole server is Filewise's own, so they cannot collide with the user's
// names.
const (
	rowsTable = "fw_rows"
	procedure = "fw_inserts"
)

// Sizes of PostgreSQL, in bytes.
const (
	mib       = 1 << 20
	pageBytes = 8192    // BLCKSZ, unless compiled otherwise
	segment   = 1 << 30 // a larger relation is split into several files
	// inline is the largest payload that stays within a row's page if toast_tuple_target is at its maximum, 8160 for the
	// whole row.
	inline = 8100
	// toasted is the payload from which rows would by default be compressed or moved to a separate file
	// (TOAST_TUPLE_THRESHOLD, 2 kB for the whole row).
	toasted = 1900
)

// Versions, written like server_version_num.
const (
	versionFlush = 150000 // pg_stat_force_next_flush
	versionCRC   = 180000 // crc32(bytea)
)

// maxPartitions is Filewise's own limit. A statement on all partitions locks each of them, and PostgreSQL takes seconds
// to plan for more than a few thousand.
const maxPartitions = 4096

// design holds a layout resolved for PostgreSQL: tables, partitions and their tablespaces. It does not depend on where
// the server is.
type design struct {
	target   filewise.Target
	layout   filewise.Layout
	program  filewise.Program
	version  int    // server_version_num; 0 if not known yet
	database string // the external server's database, if objects created in it are signed
	spaces   []space
	data     []space // tablespaces for data
	temps    []tempPlace
	index    *space // the tablespace for indexes; nil if they lie next to their tables
	tables   []table
	newFrom  int64 // the first key of new data; 1 until it is known
	warnings []filewise.Warning
}

// space is a tablespace on a volume.
type space struct {
	volume filewise.Volume
	name   string // the tablespace's name; "" is the database's default
}

// clause returns the clause that puts a table into the tablespace.
func (s space) clause(keyword string) string {
	if s.name == "" {
		return ""
	}
	return keyword + dialect.Ident(s.name)
}

// table is a table of the workload and the procedure that fills it.
type table struct {
	Name, Procedure string
	Number          int // the table's number in scan and orders, from 1
	Partitioned     bool
	Leaves          []leaf // the tables that hold rows: the table itself, or its partitions
	// If files are added later: the names of the loaded table and of the table of new data, and the partitions.
	Loaded, New string
	Added       []leaf
	// In orders: primary key and further indexes, and the column of partitions.
	Key     string
	Further []furtherIndex
	by      string
}

// leaf is a table that holds rows: one data file, and one file of its primary key.
type leaf struct {
	Name, Of string
	Values   string // FOR VALUES …
	Index    string // USING INDEX TABLESPACE …
	// IndexSpace is the TABLESPACE clause of its indexes.
	IndexSpace string
	Options    string // WITH …, TABLESPACE …
	space      space
	index      space
}

// newDesign resolves a layout. If PostgreSQL cannot do what it demands, the error wraps filewise.ErrUnsupported. nameOf
// returns the name of a volume's tablespace. Nothing is created.
func newDesign(t filewise.Target, l filewise.Layout, p filewise.Program, version int, nameOf func(i int) string) (*design, error) {
	if len(t.Volumes) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "name one with --volume NAME=DIR", "there is no volume to place files on")
	}
	d := &design{target: t, layout: l, program: p, version: version, newFrom: 1}
	for _, check := range []func() error{d.checkProgram, d.checkSpread, d.checkKind, d.checkVolumes, d.checkPhases} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	for i, v := range t.Volumes {
		d.spaces = append(d.spaces, space{v, nameOf(i)})
	}
	if err := d.place(); err != nil {
		return nil, err
	}
	if err := d.placeTemps(); err != nil {
		return nil, err
	}
	d.lay()
	d.warnSizes()
	return d, nil
}

// refuse returns an error that states what PostgreSQL cannot do and what to do instead.
var refuse = filewise.Unsupported

func (d *design) checkProgram() error {
	p := d.program
	if sections[p.SQL()] == nil && p.Custom == nil {
		return refuse("see filewise scenarios", "workload %q on postgres", p.Workload)
	}
	if p.Connections() < 1 || p.First().CommitEvery < 1 || p.First().OpBytes < 0 {
		return filewise.Errorf(filewise.CodeUsage, "both are at least 1", "%d connections and %d rows in a transaction", p.Connections(),
			p.First().CommitEvery)
	}
	return checkDurability(d.target)
}

func (d *design) checkSpread() error {
	s := d.layout.Data
	if s.Files < 1 || s.Bytes < 0 || s.Growth < 0 {
		return filewise.Errorf(filewise.CodeUsage, "", "a layout of %d files and %d bytes growing by %d", s.Files, s.Bytes, s.Growth)
	}
	if s.Bytes > 0 && s.Bytes < int64(s.Files)*2*pageBytes {
		return refuse("use fewer files or a larger --size",
			"%d bytes in %s: PostgreSQL needs a page of %d bytes for rows and one for keys in each", s.Bytes, filewise.FilesName(s.Files), pageBytes)
	}
	switch s.Allocation {
	case filewise.Preallocated:
		return filewise.Errorf(filewise.CodeUsage, "use --allocation growing", "%w", errPreallocate)
	case filewise.Growing, "":
	default:
		return refuse("use --allocation growing", "allocation %q on postgres", s.Allocation)
	}
	if s.Growth > 0 {
		d.warn("growth-not-used", "leave --growth out", "PostgreSQL itself decides by how much its files grow: --growth is not used")
	}
	return nil
}

var errPreallocate = fmt.Errorf("PostgreSQL cannot preallocate a table's files, which grow page by page: %w", filewise.ErrUnsupported)

func (d *design) checkKind() error {
	l := d.layout
	switch l.Kind {
	case filewise.KindPartitions, "":
		if l.Data.Files > maxPartitions {
			return refuse(fmt.Sprintf("give 1 to %d files", maxPartitions),
				"a table of %d partitions is more than the %d that Filewise tries", l.Data.Files, maxPartitions)
		}
	case filewise.KindSingle:
		if l.Data.Files != 1 {
			return refuse("use --kind partitions",
				"a table that is not partitioned is one file (and one more for each further GiB), not %d", l.Data.Files)
		}
	default:
		return refuse("kinds of postgres: partitions, single", "kind %q on postgres", l.Kind)
	}
	switch l.AddedLater {
	case "", filewise.LaterUntouched, filewise.LaterRebuilt:
	case filewise.LaterNewData:
		if d.program.Table().RandomKeys {
			return refuse("use --key sequential, or only the layouts untouched and rebuilt",
				"new data can go to new partitions only if their keys are above all loaded keys, not with --key random")
		}
	default:
		return refuse("the layouts are untouched, new-data and rebuilt", "files added later: %q on postgres", l.AddedLater)
	}
	switch l.Indexes {
	case "", filewise.IndexesTogether, filewise.IndexesApart:
		return nil
	}
	return refuse("indexes are together or apart", "indexes %q on postgres", l.Indexes)
}

func (d *design) checkVolumes() error {
	known := map[string]bool{"": true}
	for _, v := range d.target.Volumes {
		known[v.Name] = true
	}
	l := d.layout
	for flag, name := range map[string]string{"log": l.LogVolume, "indexes": l.IndexVolume} {
		if !known[name] {
			return filewise.Errorf(filewise.CodeUsage, "name it with --volume NAME=DIR", "volume %q for the %s is not among the volumes", name, flag)
		}
	}
	if l.IndexVolume != "" && l.Indexes != filewise.IndexesApart {
		return filewise.Errorf(filewise.CodeUsage, "put the indexes apart, or name no volume for them",
			"volume %q is for indexes, but these are not apart", l.IndexVolume)
	}
	if len(l.DataVolumes(d.target.Volumes)) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "name one more with --volume NAME=DIR",
			"no volume is left for data: the log and the indexes have them all")
	}
	return nil
}

// place resolves the tablespaces of data and indexes.
func (d *design) place() error {
	byName := map[string]space{}
	for _, s := range d.spaces {
		if _, twice := byName[s.volume.Name]; twice {
			return filewise.Errorf(filewise.CodeUsage, "give each volume a separate name", "two volumes are called %q", s.volume.Name)
		}
		byName[s.volume.Name] = s
	}
	for _, v := range d.layout.DataVolumes(d.target.Volumes) {
		d.data = append(d.data, byName[v.Name])
	}
	if d.layout.Indexes == filewise.IndexesApart {
		index := d.data[0]
		if d.layout.IndexVolume != "" {
			index = byName[d.layout.IndexVolume]
		}
		d.index = &index
	}
	return nil
}

// spaceOf returns the tablespace of data file i.
func (d *design) spaceOf(i int) space {
	if d.layout.Data.Placement == filewise.PlaceRoundRobin {
		return d.data[i%len(d.data)]
	}
	return d.data[0]
}

func (d *design) partitioned() bool { return d.layout.Kind != filewise.KindSingle }

// wide reports whether rows are so wide that they stay whole and uncompressed only by a setting of PostgreSQL.
func (d *design) wide() bool { return d.program.Appends() && d.program.First().OpBytes > toasted }

// warn adds a warning about the layout.
func (d *design) warn(code, remedy, format string, args ...any) {
	d.warnings = append(d.warnings, filewise.Warning{Code: code, Message: fmt.Sprintf(format, args...), Remedy: remedy})
}

func (d *design) warnSizes() {
	if files := int64(d.layout.Data.Files); d.layout.Data.Bytes/files > segment {
		d.warn("segments", "use more partitions, or a smaller --size",
			"a table or partition of more than 1 GiB lies in several files (segments) of PostgreSQL itself; Filewise counts them as one")
	}
	if d.wide() && d.program.First().OpBytes > inline {
		d.warn("toast", fmt.Sprintf("use --row-bytes %d or less to keep rows whole", inline),
			"rows larger than a page are cut up and stored in a second file of each table (TOAST)")
	}
	d.warnings = append(d.warnings, operations.PrunedPartitions(d.program, d.layout.Data.Files, "use --index key to see the files alone")...)
	switch n := len(d.tables); {
	case n > 1 && !d.program.Appends():
		d.warn("files-of-each-table", "read a layout's name as the files of one table",
			"Each of the workload's %d tables has as many separate files as a layout is named by, and as many again for each of its indexes", n)
	case n > 1:
		d.warn("files-of-each-table", "use --table shared to count files as in the layout's name",
			"each of the %d tables has as many separate files as a layout is named by", n)
	}
}
