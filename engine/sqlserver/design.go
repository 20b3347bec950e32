package sqlserver

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"filewise"
)

// indexGroup is the filegroup for indexes that lie apart.
const indexGroup = "INDEXES"

// Limits of SQL Server ("Maximum capacity specifications").
const (
	maxFiles      = 32767 // files of a database
	maxSessions   = 32767 // user connections
	maxRowPayload = 8000  // of a varchar(n); a larger payload is stored outside the row
)

// design holds a layout resolved for SQL Server.
type design struct {
	target   filewise.Target
	layout   filewise.Layout
	program  filewise.Program
	settings settings
	name     string // the database's name
	marker   string
	// data, index and log are all files. Extend adds those from first on.
	data, index, log []file
	where            map[string]joiner // directories by volume
	logDir           joiner            // for the log of a restored database
	first            int
	tables           []table
	warnings         []filewise.Warning
}

// table is a table of the workload, and the procedure that fills it.
type table struct{ Name, Key, Procedure string }

// newDesign resolves a layout at a place. If SQL Server cannot do what it demands, the error wraps
// filewise.ErrUnsupported. It queries nothing from the server.
func newDesign(t filewise.Target, l filewise.Layout, p filewise.Program, at place) (*design, error) {
	d := &design{target: t, layout: l, program: p, name: at.name, marker: at.marker, first: l.FilesAtFirst()}
	if p.Restored() {
		d.first = 0
	}
	for _, check := range []func() error{d.checkProgram, d.checkPhases, d.checkLayout, d.checkLater} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	var err error
	if d.settings, err = readSettings(t.Settings); err != nil {
		return nil, err
	}
	if _, err := delayed(t.Durability); err != nil {
		return nil, err
	}
	if err := d.place(at); err != nil {
		return nil, err
	}
	d.tables = tablesOf(p)
	d.warn()
	return d, nil
}

func (d *design) checkProgram() error {
	p := d.program
	switch {
	case p.Table().Temporary && (d.layout.Temp.Files > 0 || d.layout.AddedLater != ""):
		return unsupported("leave --files and --layout out", "layouts of temporary files on sqlserver: %s", asItIs)
	case p.Table().Temporary && p.Table().RowBytes > maxRowPayload:
		return unsupported(fmt.Sprintf("use --row-bytes %d or less", maxRowPayload), "temporary rows of %d bytes on sqlserver",
			p.Table().RowBytes)
	case sections[p.SQL()] == nil && !d.custom() || p.Dumps():
		return unsupported("see filewise scenarios", "workload %q on sqlserver", p.Workload)
	case p.Connections() < 1 || d.program.Connections() > maxSessions-100:
		return usage(fmt.Sprintf("give 1 to %d", maxSessions-100), "%d connections", p.Connections())
	case p.First().CommitEvery < 1 || p.First().OpBytes < 0:
		return usage("both are at least 1", "%d rows in a transaction, of %d bytes", p.First().CommitEvery, p.First().OpBytes)
	}
	return nil
}

func (d *design) checkLayout() error {
	l := d.layout
	switch {
	case l.Kind != filewise.KindFilegroup && l.Kind != "":
		return unsupported("the kind of sqlserver is filegroup", "kind %q on sqlserver", l.Kind)
	case l.Data.Files < 1 || l.Data.Bytes < 0 || l.Data.Growth < 0:
		return usage("give 1 file or more", "a layout of %d files and %d bytes growing by %d", l.Data.Files, l.Data.Bytes, l.Data.Growth)
	case l.Data.Files > maxFiles/2-1:
		return unsupported(fmt.Sprintf("give up to %d files", maxFiles/2-1),
			"a database of SQL Server has up to %d files, and %d with index files are more", maxFiles, l.Data.Files)
	case l.Data.Growth > 0 && l.Data.Growth < extent:
		return usage("give --growth 64KiB or more", "SQL Server grows files by whole extents of 64 KiB, not by %d bytes", l.Data.Growth)
	case l.Indexes != "" && l.Indexes != filewise.IndexesTogether && l.Indexes != filewise.IndexesApart:
		return usage("use together or apart", "indexes %q", l.Indexes)
	case l.IndexVolume != "" && l.Indexes != filewise.IndexesApart:
		return usage("use --indexes apart as well", "a volume for indexes, which do not lie apart")
	}
	if least := leastFile + int64(l.Data.Files-1)*leastFurther; l.Data.Allocation == filewise.Growing && l.Data.Bytes < least {
		return usage("use --size "+sizeFlag(least)+" or more",
			"%s that grow begin with %s: the first is as large as model's, and the others have 1 MiB", filewise.FilesName(l.Data.Files),
			humanize.IBytes(uint64(least)))
	}
	if each := l.Data.Bytes / int64(l.Data.Files); l.Data.Allocation != filewise.Growing && each < leastFile {
		return usage(fmt.Sprintf("use --size %s or more, or fewer files", sizeFlag(int64(l.Data.Files)*leastFile)),
			"%d bytes in %s are less than %s each: the first file cannot be smaller than model's, and proportional fill needs all equal",
			l.Data.Bytes, filewise.FilesName(l.Data.Files), humanize.IBytes(leastFile))
	}
	return nil
}

func (d *design) checkLater() error {
	switch d.layout.AddedLater {
	case "", filewise.LaterUntouched, filewise.LaterNewData:
		return nil
	case filewise.LaterRebuilt:
		if d.program.First().OpBytes > maxRowPayload {
			return unsupported(fmt.Sprintf("use --row-bytes %d or less", maxRowPayload),
				"rows of more than %d bytes are stored outside their index, and REBUILD does not move them", maxRowPayload)
		}
		return nil
	}
	return usage("use untouched, new-data or rebuilt", "files added later %q", d.layout.AddedLater)
}

// tablesOf returns the tables of workload inserts. Other workloads name their tables in their SQL.
func tablesOf(p filewise.Program) []table {
	if !p.Appends() {
		return nil
	}
	if !p.Table().PerConnection {
		return []table{{"fw_rows", "fw_rows_key", "fw_inserts"}}
	}
	tables := make([]table, p.Connections())
	for i := range tables {
		tables[i] = table{fmt.Sprintf("fw_rows_%04d", i), fmt.Sprintf("fw_rows_key_%04d", i), fmt.Sprintf("fw_inserts_%04d", i)}
	}
	return tables
}

// tableOf returns a worker's table. It is the zero table if the workload's SQL names its tables.
func (d *design) tableOf(worker int) table {
	if len(d.tables) == 0 {
		return table{}
	}
	return d.tables[worker%len(d.tables)]
}

// payloadType returns the type of a column of n bytes.
func payloadType(n int64) string {
	switch {
	case n > maxRowPayload:
		return "varchar(max)"
	default:
		return fmt.Sprintf("varchar(%d)", max(n, 1))
	}
}

// warn adds warnings about the layout.
func (d *design) warn() {
	add := func(code, message, remedy string) {
		d.warnings = append(d.warnings, filewise.Warning{Code: code, Message: message, Remedy: remedy})
	}
	d.warnBackup(add)
	if d.program.Table().Temporary {
		add("tempdb-as-it-is", "The server's "+asItIs+".", "")
	}
	d.warnReach(add)
	if d.program.Table().IndexedFirst {
		add("indexed-last", "The indexes are made "+
			"after the load, not before it as the article's: their pages do not lie between the rows' pages.", "")
	}
	if d.program.Restored() {
		add("values-stay", "Values of (max) types, xml and the like outside their rows stay in the files that they are restored to: indexes are "+
			"built again in the files of the layout, with the rows.", "")
	}
	if d.layout.LogVolume == "" && len(d.target.Volumes) > 1 {
		add("log-with-data", "The log lies with the first data file: what it writes is taken from that volume.",
			"Name a volume for it with --log-volume.")
	}
	if d.layout.AddedLater == filewise.LaterRebuilt {
		add("rebuilt-fill", "A rebuild fills files in proportion to their free space, so the first file's share differs from the others'; see "+
			"the files' use in the trials.", "")
	}
	if d.startsLeast() {
		add("unequal-start", "The first file begins with 8 MiB and the others with 1 MiB, so that it is filled first: proportional fill goes "+
			"by free space. See the files' use in the trials.", fmt.Sprintf("Give --size %s or more for equal ones.",
			sizeFlag(int64(d.layout.Data.Files)*leastFile)))
	}
	if d.layout.Data.Growth%extent != 0 {
		add("growth-rounded", "SQL Server grows files by whole extents of 64 KiB: the growth is rounded down.", "Give a multiple of 64 KiB.")
	}
}

// sizeFlag formats a size as a flag's value. It never rounds down.
func sizeFlag(n int64) string { return fmt.Sprintf("%dMiB", (n+1<<20-1)>>20) }
