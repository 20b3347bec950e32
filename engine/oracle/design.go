package oracle

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/oracle/dialect"
	"filewise/lab/workload"
)

// design holds a layout resolved for Oracle: tablespaces, files, tables.
type design struct {
	target   filewise.Target
	layout   filewise.Layout
	program  filewise.Program
	names    names
	block    int64      // bytes of a block
	files    []datafile // of the data, including those added later
	index    []datafile // of the indexes, if they lie apart
	tables   []table    // of workload inserts
	objects  objects    // of the other workloads
	custom   userNames
	dump     dump // the dump that fills a copy
	commit   string
	warnings []filewise.Warning
}

// usualBlock is the block size that is assumed if the server has not reported one.
const usualBlock = 8 * kib

// maxRow is the longest payload. If MAX_STRING_SIZE is STANDARD, no text has more than 4,000 bytes. That includes the
// text of the check, which has the key and a comma before the payload (ORA-01489).
const maxRow = 4000 - 20

// newDesign resolves a layout. If Oracle cannot do what it demands, the error wraps filewise.ErrUnsupported.
func newDesign(t filewise.Target, l filewise.Layout, p filewise.Program, n names, block int64) (*design, error) {
	d := &design{target: t, layout: l, program: p, names: n, block: block}
	for _, check := range []func() error{d.checkPhases, d.checkTarget, d.checkProgram, d.checkLayout, d.checkPlaces} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if p.Appends() {
		count := 1
		if p.Table().PerConnection {
			count = p.Connections()
		}
		for i := range count {
			d.tables = append(d.tables, n.table(i))
		}
	} else if d.isCustom() {
		d.custom = userSQL(n, p.Custom)
	} else {
		d.objects = objectsOf(n, p)
	}
	return d, d.layOut()
}

func (d *design) checkTarget() error {
	t := d.target
	if t.Mode != filewise.External {
		return filewise.Errorf(filewise.CodeUsage, "name a server with --target oracle://USER@HOST:1521/SERVICE",
			"oracle as a managed server: Filewise has no Oracle to start: %w", filewise.ErrUnsupported)
	}
	if len(t.Volumes) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "name one with --volume NAME=DIR", "there is no volume to place files on")
	}
	for name := range t.Settings {
		return absent("leave --set out", "--set %s: the settings of an existing server are not Filewise's to change", name)
	}
	switch t.Durability {
	case filewise.DurabilityFull, "":
		d.commit = "COMMIT WRITE IMMEDIATE WAIT"
	case filewise.DurabilityNormal:
		d.commit = "COMMIT WRITE BATCH NOWAIT"
	default:
		return absent("use --durability full or normal", "durability %s: an Oracle session cannot turn the log off", t.Durability)
	}
	return nil
}

func (d *design) checkProgram() error {
	p := d.program
	if workloads[p.SQL()] == nil && !d.isCustom() {
		return absent("see filewise scenarios", "workload %q on oracle", p.Workload)
	}
	if p.Connections() < 1 || p.First().CommitEvery < 1 || p.Appends() && p.First().OpBytes < 1 {
		return filewise.Errorf(filewise.CodeUsage, "all are at least 1", "%d connections, %d rows in a transaction, rows of %d bytes",
			p.Connections(), p.First().CommitEvery, p.First().OpBytes)
	}
	if p.Connections() > workload.MaxConnections {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("use up to %d", workload.MaxConnections), "%d connections", p.Connections())
	}
	for _, phase := range p.Phases {
		if phase.Connections > workload.MaxConnections {
			return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("use up to %d", workload.MaxConnections), "%d connections", phase.Connections)
		}
	}
	if p.First().OpBytes > maxRow && d.program.Appends() {
		return absent(fmt.Sprintf("use --row-bytes %d or less", maxRow),
			"rows of %d bytes: a text of more than %d bytes is, with its key, more than the 4000 that an Oracle row holds in itself",
			p.First().OpBytes, maxRow)
	}
	return nil
}

func (d *design) bigfile() bool { return d.layout.Kind == filewise.KindBigfile }

func (d *design) checkLayout() error {
	l := d.layout
	switch {
	case l.Kind != filewise.KindSmallfile && l.Kind != filewise.KindBigfile && l.Kind != "":
		return absent("kinds of oracle: smallfile, bigfile", "kind %q on oracle", l.Kind)
	case l.Data.Files < 1 || l.Data.Bytes < 0 || l.Data.Growth < 0:
		return filewise.Errorf(filewise.CodeUsage, "", "a layout of %d files and %d bytes growing by %d", l.Data.Files, l.Data.Bytes,
			l.Data.Growth)
	case d.bigfile() && l.Data.Files > 1:
		return absent("use --kind smallfile, or 1 file", "a bigfile tablespace has one datafile, not %d", l.Data.Files)
	case d.bigfile() && l.AddedLater != "":
		return absent("use --kind smallfile", "files added later: a bigfile tablespace has one datafile for ever")
	case l.Data.Files > maxFiles:
		return absent(fmt.Sprintf("use up to %d files", maxFiles), "a smallfile tablespace has up to %d datafiles, not %d", maxFiles,
			l.Data.Files)
	case l.LogVolume != "":
		return absent("leave the log's volume out", "log on volume %s: the redo log is the instance's and serves all of its databases",
			l.LogVolume)
	}
	switch l.AddedLater {
	case "", filewise.LaterUntouched, filewise.LaterNewData, filewise.LaterRebuilt:
	default:
		return absent("use untouched, new-data or rebuilt", "files added later as %q", l.AddedLater)
	}
	switch l.Data.Allocation {
	case filewise.Preallocated, filewise.Growing, "":
	default:
		return absent("use preallocated or growing", "allocation %q", l.Data.Allocation)
	}
	return d.checkIndexes()
}

func (d *design) checkIndexes() error {
	switch d.layout.Indexes {
	case "", filewise.IndexesTogether, filewise.IndexesApart:
	default:
		return absent("use together or apart", "indexes %q", d.layout.Indexes)
	}
	if d.layout.IndexVolume == "" {
		return nil
	}
	if !d.apart() {
		return filewise.Errorf(filewise.CodeUsage, "add --indexes apart",
			"a volume for the index files (%s), and indexes that lie with the table", d.layout.IndexVolume)
	}
	for _, v := range d.target.Volumes {
		if v.Name == d.layout.IndexVolume {
			return nil
		}
	}
	return filewise.Errorf(filewise.CodeUsage, "add --volume "+d.layout.IndexVolume+"=DIR", "there is no volume %s for the index files",
		d.layout.IndexVolume)
}

func (d *design) apart() bool { return d.layout.Indexes == filewise.IndexesApart }

// checkPlaces refuses volumes that are no place on the server, or that cannot be used.
func (d *design) checkPlaces() error {
	kinds := map[dialect.PlaceKind]bool{}
	for _, v := range d.target.Volumes {
		p, err := dialect.PlaceOf(v)
		if err != nil {
			return err
		}
		kinds[p.Kind] = true
	}
	if kinds[dialect.PlaceUnix] && kinds[dialect.PlaceWindows] {
		return filewise.Errorf(filewise.CodeUsage, "give all directories as the server sees them",
			"some volumes are directories of Windows and some of Unix: one server has one kind")
	}
	if len(d.layout.DataVolumes(d.target.Volumes)) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "name another with --volume NAME=DIR", "there is no volume left for the data files")
	}
	return nil
}

// layOut sets the names and sizes of the files.
func (d *design) layOut() error {
	d.asPublished()
	if d.program.Table().IndexedFirst {
		d.warn("indexed-last", "", "the indexes are made "+
			"after the load, not before it as the article's: their pages do not lie between the rows' pages")
	}
	growing := d.layout.Data.Allocation == filewise.Growing
	if growing && d.layout.Data.Growth == 0 {
		remedy := "give the step with --growth"
		if d.published() { // it is not used
			remedy = ""
		}
		d.warn("grows-by-a-block", remedy,
			"AUTOEXTEND without NEXT has an increment of one block (%d bytes): an extent takes as many as it needs", d.block)
	}
	d.coldTurns()
	sizes := d.layout.Data.Sizes(unit)
	volumes := d.layout.DataVolumes(d.target.Volumes)
	for i, size := range sizes {
		if d.layout.AddedLater == filewise.LaterUntouched && i > 0 {
			break
		}
		f, err := d.file(filewise.RoleData, d.names.Tablespace, i, d.layout.Data.VolumeOf(i, volumes), size, growing)
		if err != nil {
			return err
		}
		d.files = append(d.files, f)
	}
	d.fit(d.files)
	d.reach()
	if !d.apart() {
		return nil
	}
	v := volumes[0]
	for _, given := range d.target.Volumes {
		if given.Name == d.layout.IndexVolume {
			v = given
		}
	}
	f, err := d.file(filewise.RoleIndex, d.names.Index, 0, v, d.indexBytes(), growing)
	d.index = []datafile{f}
	return err
}

// coldTurns warns about work that reads what the turn before has left. The drain takes the tablespace offline, which
// removes its blocks from the cache.
func (d *design) coldTurns() {
	p := d.program
	if p.ReadOnly || p.Appends() || p.SQL() == "dml" {
		return
	}
	// A longer window alone has more turns, not longer ones.
	d.warn("cold-turns", "add --rounds 2 and --window 2m: in turns of a minute, reading is a smaller part", "each turn begins with none of "+
		"its data in the buffer "+
		"cache, since what was written before is drained by taking the tablespaces offline: pilots fix the lead with that in it, and a turn "+
		"that is judged from rest to rest has those reads")
}

const (
	// usualStep is the step by which a preallocated file grows if it must.
	usualStep = 8 * mib
	// windowed is the space in bytes for work that ends by time and not by size.
	windowed = 16 << 30
)

// file returns file i of a tablespace.
func (d *design) file(role filewise.Role, tablespace string, i int, v filewise.Volume, size int64, growing bool) (datafile, error) {
	p, err := dialect.PlaceOf(v)
	if err != nil {
		return datafile{}, err
	}
	least, most, kind := leastSmall(d.block), maxSmallBlocks*d.block, "smallfile"
	if d.bigfile() && role == filewise.RoleData {
		least, most, kind = roundUp(leastBigBlocks*d.block), maxBigBlocks*d.block, "bigfile"
	}
	if size < least {
		return datafile{}, absent("use fewer files or a larger --size", "a datafile of %d bytes: a %s's has at least %d", size, kind, least)
	}
	if size > most {
		return datafile{}, absent("use more files, or a smaller --size",
			"a datafile of %d bytes: a %s's has at most %d (with blocks of %d bytes)", size, kind, most, d.block)
	}
	f := datafile{
		role: role, tablespace: tablespace, number: i, volume: v.Name, place: p, bytes: size, full: !growing,
		path: p.File(fmt.Sprintf("%s_%04d.dbf", strings.ToLower(tablespace), i+1)),
	}
	if f.next = roundUp(d.layout.Data.Growth); growing {
		f.bytes = least
	} else {
		f.bytes = min(size+header, most/unit*unit)
		f.next = max(f.next, usualStep)
	}
	f.max = min(d.most(size), most/unit*unit)
	return f, nil
}

// most returns the size to which a file can grow. It is enough for twice the work, or for work with a time limit, but
// not for all of the server's storage.
func (d *design) most(size int64) int64 {
	work := 3 * d.program.WorkBytes
	if work == 0 {
		work = windowed
	}
	need := work / int64(d.layout.Data.Files)
	return roundUp(max(2*size, need) + 64*mib)
}

// indexBytes returns the size of the indexes' file. An entry has some 30 bytes with its rowid and the free space of a
// B-tree. The data take at least their payload.
func (d *design) indexBytes() int64 {
	if !d.program.Appends() { // up to three indexes, one of them on a text
		return roundUp(d.layout.Data.Bytes/2 + 8*mib)
	}
	rows := max(d.layout.Data.Bytes, 3*d.program.WorkBytes/2) / d.program.First().OpBytes
	return roundUp(30*rows + 8*mib)
}

// space returns the space on each volume, in bytes. Files that grow can take all of the work.
func (d *design) space() map[string]int64 {
	space := map[string]int64{}
	sizes := d.layout.Data.Sizes(unit)
	for i, f := range d.files {
		space[f.volume] += max(f.bytes, sizes[i])
		if !f.full {
			space[f.volume] += max(d.program.WorkBytes*13/10/int64(len(d.files))-sizes[i], 0)
		}
	}
	for _, f := range d.index {
		space[f.volume] += max(f.bytes, d.indexBytes())
	}
	return space
}

// atFirst returns the data files of a new build. The others are added later.
func (d *design) atFirst() []datafile { return d.files[:min(d.layout.FilesAtFirst(), len(d.files))] }

// tableOf returns a worker's table. It is the zero table if the workload's SQL names its tables.
func (d *design) tableOf(worker int) table {
	if len(d.tables) == 0 {
		return table{}
	}
	return d.tables[worker%len(d.tables)]
}

// warn adds a warning about the layout.
func (d *design) warn(code, remedy, format string, args ...any) {
	d.warnings = append(d.warnings, filewise.Warning{Code: code, Message: fmt.Sprintf(format, args...), Remedy: remedy})
}
