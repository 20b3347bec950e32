package dialect

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"sync"

	"filewise"
)

// Instruments holds the probes of performance_schema, for a server on which it is enabled.
type Instruments struct {
	Host Host
	// User is the account whose sessions' waits are read. Other accounts' sessions are not the workload's.
	User string
	// File returns a file's path as Observe reports it, and its role. ok is false if the file does not belong to the build
	// or its logs.
	File func(path string) (name string, role filewise.Role, ok bool)
	// Redo is the redo log's path as Observe reports it. If empty, the path is unknown, or File counts the log.
	Redo string

	mu      sync.Mutex
	written float64 // see sessionIO
}

// Probes returns the waits of sessions and of the background, and the I/O by file.
func (i *Instruments) Probes() []filewise.Probe {
	return []filewise.Probe{
		ask(i.Host, filewise.ProbeWaits, i.sessions), ask(i.Host, filewise.ProbeBackground, i.background),
		ask(i.Host, filewise.ProbeFiles, i.files),
	}
}

// Probes returns the probes that work on any server: the release's counters for the whole server since its start, named
// after the product; the waits of a database's sessions; and the sums that InnoDB keeps itself.
func Probes(host Host, p *Product, database string) []filewise.Probe {
	return []filewise.Probe{
		ask(host, p.Name, readCounters), NewWaits(host, database), ask(host, filewise.ProbeWaits, ReadStatusWaits),
		ask(host, filewise.ProbeCheckpoints, readCheckpoints),
	}
}

// ask returns a probe that queries the host's server.
func ask(host Host, name string, read func(context.Context, *sql.DB) ([]filewise.Counter, error)) filewise.Probe {
	return filewise.ProbeOf(name, func(ctx context.Context) ([]filewise.Counter, error) {
		link, err := host.Link()
		if err != nil {
			return nil, err
		}
		all, err := read(ctx, link.Control)
		return all, link.Explain(err)
	})
}

// Picosecond is the unit of performance_schema's times, in seconds.
const Picosecond = 1e-12

// DataFileIO is the instrument for I/O on data files.
const DataFileIO = "wait/io/file/innodb/innodb_data_file"

// event is a row of a summary of waits.
type event struct {
	name    string
	seconds float64
}

func readEvents(ctx context.Context, db *sql.DB, where string, args ...any) (all []event, err error) {
	err = Each(ctx, db, func(scan Scan) error {
		var e event
		err := scan(&e.name, &e.seconds)
		e.seconds *= Picosecond
		all = append(all, e)
		return err
	}, "SELECT EVENT_NAME, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_by_user_by_event_name"+
		" WHERE COUNT_STAR > 0 AND EVENT_NAME LIKE 'wait/%' AND "+where+" ORDER BY EVENT_NAME", args...)
	return all, err
}

// sessions returns the waits of the user's sessions. It leaves out the server's counts, which include calls that did
// not wait.
func (i *Instruments) sessions(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	events, err := readEvents(ctx, db, "USER = ?", i.User)
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, e := range events {
		if e.name == DataFileIO {
			io, err := i.sessionIO(ctx, db, e.seconds)
			if err != nil {
				return nil, err
			}
			all = append(all, io...)
			continue
		}
		// The I/O of a log, which one session does for a group, is part of the sessions' state “commit”. It would count
		// twice.
		if class := classOfInstrument(e.name); class != "" && class != filewise.WaitLog {
			all = append(all, filewise.Counter{Name: e.name, Unit: "s", Value: e.seconds, Class: class})
		}
	}
	return all, nil
}

// sessionIO splits the sessions' time on data files into reading, and writing or extending. The server has it by
// session and by kind of call, but not by both. Nearly all reading is done by sessions, so all of it is taken as
// theirs.
func (i *Instruments) sessionIO(ctx context.Context, db *sql.DB, seconds float64) ([]filewise.Counter, error) {
	reading, err := readingTime(ctx, db, seconds)
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	i.written = max(i.written, seconds-reading) // never falls, although the share of the others' reading can grow
	written := i.written
	i.mu.Unlock()
	return dataIO(reading, written), nil
}

// readingTime returns how long data files were read, in seconds, but at most all, the sessions' total.
func readingTime(ctx context.Context, db *sql.DB, all float64) (s float64, err error) {
	err = db.QueryRowContext(ctx,
		"SELECT COALESCE(SUM(SUM_TIMER_READ), 0) FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME = '"+DataFileIO+"'").Scan(&s)
	return min(s*Picosecond, all), err
}

func dataIO(reading, written float64) []filewise.Counter {
	return []filewise.Counter{
		{Name: DataFileIO + " read", Unit: "s", Value: reading, Class: filewise.WaitDataRead},
		{Name: DataFileIO + " written or extended", Unit: "s", Value: written, Class: filewise.WaitDataWrite},
	}
}

// SessionWaits returns the waits of all sessions since the server's start, including waits for its logs. It leaves out
// the server's own threads, which keep no session waiting.
func SessionWaits(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	sums, err := readEvents(ctx, db, "USER IS NOT NULL")
	if err != nil {
		return nil, err
	}
	seconds := map[string]float64{}
	for _, e := range sums { // one for each user
		seconds[e.name] += e.seconds
	}
	reading, err := readingTime(ctx, db, seconds[DataFileIO])
	if err != nil {
		return nil, err
	}
	all := dataIO(reading, seconds[DataFileIO]-reading)
	delete(seconds, DataFileIO)
	for _, name := range slices.Sorted(maps.Keys(seconds)) {
		if class := classOfInstrument(name); class != "" {
			all = append(all, filewise.Counter{Name: name, Unit: "s", Value: seconds[name], Class: class})
		}
	}
	return all, nil
}

// background returns the waits of the server's own threads.
func (i *Instruments) background(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	events, err := readEvents(ctx, db, "USER IS NULL")
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, e := range events {
		class := classOfInstrument(e.name)
		if e.name == DataFileIO {
			class = filewise.WaitDataWrite
		}
		if class != "" {
			all = append(all, filewise.Counter{Name: e.name, Unit: "s", Value: e.seconds, Class: class})
		}
	}
	return all, nil
}

// classOfInstrument returns the class of an instrument, or "" if the instrument is benign or part of another
// (docs/waits.md).
func classOfInstrument(name string) filewise.WaitClass {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case has("/cond/", "/io/socket/", "/io/table/"): // idle, or a sum of other instruments
		return ""
	case has("fil_space_latch", "/fil_space"):
		return filewise.WaitAllocation
	case strings.HasPrefix(name, "wait/lock/"):
		return filewise.WaitLock
	case has("io/file/innodb/innodb_temp_file", "binlog_cache"):
		return filewise.WaitTemp
	case has("innodb_log_file", "binlog", "BINLOG", "log_sys", "LOCK_log", "LOCK_commit", "LOCK_sync", "log_write", "log_flush"):
		return filewise.WaitLog
	case has("io/file/innodb/innodb_dblwr_file", DataFileIO):
		return filewise.WaitDataWrite
	case strings.HasPrefix(name, "wait/synch/"):
		return filewise.WaitLatch
	case strings.HasPrefix(name, "wait/io/file/innodb/"):
		return filewise.WaitOther
	}
	return ""
}

const readFiles = "SELECT FILE_NAME, COUNT_READ, SUM_NUMBER_OF_BYTES_READ, SUM_TIMER_READ, COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, " +
	"SUM_TIMER_WRITE, COUNT_MISC, SUM_TIMER_MISC" +
	" FROM performance_schema.file_summary_by_instance" +
	" WHERE EVENT_NAME LIKE 'wait/io/file/innodb/%' OR EVENT_NAME = 'wait/io/file/sql/binlog' ORDER BY FILE_NAME"

// misc names the counters of calls that neither read nor write. On a log nearly all of these are syncs (true); on other
// files they include extensions (false).
var misc = map[bool][2]string{true: {filewise.FileSyncs, filewise.FileSyncTime}, false: {"syncs and extensions", "sync and extension time"}}

// files returns the counters of every file of the build and of the logs.
func (i *Instruments) files(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	rows, err := db.QueryContext(ctx, readFiles)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []filewise.Counter
	for rows.Next() {
		var path string
		var n [8]float64
		if err := rows.Scan(&path, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]); err != nil {
			return nil, err
		}
		name, role, ok := i.File(path)
		if !ok {
			continue
		}
		other := misc[role == filewise.RoleLog]
		for k, c := range []filewise.Counter{
			{Name: filewise.FileReads, Unit: "requests"}, {Name: filewise.FileBytesRead, Unit: "B"}, {Name: filewise.FileReadTime, Unit: "s"},
			{Name: filewise.FileWrites, Unit: "requests"}, {Name: filewise.FileBytes, Unit: "B"}, {Name: filewise.FileWriteTime, Unit: "s"},
			{Name: other[0], Unit: "requests"}, {Name: other[1], Unit: "s"},
		} {
			if c.Value, c.File = n[k], name; c.Unit == "s" {
				c.Value *= Picosecond
			}
			all = append(all, c)
		}
	}
	if err := rows.Err(); err != nil || i.Redo == "" {
		return all, err
	}
	redo, err := i.redo(ctx, db)
	return append(all, redo...), err
}

// redo returns the redo log's counters from InnoDB's status. Not every release has instruments for the log, and its
// files come and go.
func (i *Instruments) redo(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	values, err := readStatus(ctx, db, "Innodb_os_log_written", "Innodb_log_writes", "Innodb_os_log_fsyncs")
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for variable, c := range map[string]filewise.Counter{
		"Innodb_os_log_written": {Name: filewise.FileBytes, Unit: "B"}, "Innodb_log_writes": {Name: filewise.FileWrites, Unit: "requests"},
		"Innodb_os_log_fsyncs": {Name: filewise.FileSyncs, Unit: "requests"},
	} {
		if x, ok := values[variable]; ok {
			c.Value, c.File = x, i.Redo
			all = append(all, c)
		}
	}
	return all, nil
}

// Instrumented returns an error if a server's performance_schema cannot be used here, and nil if it counts I/O by file.
func Instrumented(ctx context.Context, db *sql.DB) error {
	var on bool
	if err := db.QueryRowContext(ctx, "SELECT @@performance_schema").Scan(&on); err != nil || !on {
		return unsupported("have it turned on for the time of the experiment (a start-up option), which Filewise never does on an external "+
			"server",
			"performance_schema, which alone counts I/O by file, is off")
	}
	var counts int
	err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME = '"+DataFileIO+
		"' AND ENABLED = 'YES'").Scan(&counts)
	if err == nil {
		var sum float64
		err = db.QueryRowContext(ctx, "SELECT COALESCE(SUM(COUNT_STAR), 0) FROM performance_schema.file_summary_by_instance").Scan(&sum)
	}
	if err == nil {
		var sum float64
		err = db.QueryRowContext(ctx,
			"SELECT COALESCE(SUM(COUNT_STAR), 0) FROM performance_schema.events_waits_summary_by_user_by_event_name").Scan(&sum)
	}
	if err != nil {
		return unsupported("GRANT SELECT ON performance_schema.* TO the account",
			"the account may not read performance_schema, which alone counts I/O by file")
	}
	if counts == 0 {
		return unsupported("have the instrument turned on, which Filewise never does on an external server",
			"the instrument "+DataFileIO+" of performance_schema is off")
	}
	return nil
}
