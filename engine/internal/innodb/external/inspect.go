package external

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/engine/internal/inspecting"
)

// readingOf are the variables of a session that only looks: it cannot write, and
// gives up what a lock or a large catalogue would make long.
func (d *Dialect) readingOf(release [2]int) map[string]string {
	all := d.sessionOf(release)
	for _, name := range []string{"tx_read_only", "transaction_read_only"} {
		if _, ok := all[name]; ok {
			all[name] = "1"
		}
	}
	patience := inspecting.Patience - time.Second
	if d == MySQL {
		all["max_execution_time"] = strconv.FormatInt(patience.Milliseconds(), 10)
		all["information_schema_stats_expiry"] = "86400" // s: no statistics are gathered for us
	} else {
		all["max_statement_time"] = strconv.FormatFloat(patience.Seconds(), 'f', -1, 64)
	}
	all["lock_wait_timeout"] = "1"
	return all
}

// Inspect looks at an existing server.
func (d *Dialect) Inspect(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	first, cancel := context.WithTimeout(ctx, 4*inspecting.Patience)
	defer cancel()
	s, err := d.open(first, t, d.readingOf)
	if err != nil {
		return filewise.Inspection{}, err
	}
	defer s.db.Close()
	i := &inspection{server: s, status: map[string]string{}, times: map[string]map[string]float64{}}
	i.Asker = inspecting.New(i.remedy)
	i.look(ctx)
	return *i.Inspection, nil
}

type inspection struct {
	*inspecting.Asker
	server *server
	status map[string]string
	times  map[string]map[string]float64 // I/O by path
}

// remedy: rights are the usual reason (ER_SPECIFIC_ACCESS_DENIED, ER_TABLEACCESS_DENIED,
// ER_DBACCESS_DENIED).
func (i *inspection) remedy(question string, err error) string {
	switch n, _ := innodb.Number(err); n {
	case 1227:
		return i.server.grant([]string{"PROCESS"}, "*.*")
	case 1142, 1044:
		return i.server.grant([]string{"SELECT"}, "performance_schema.*")
	}
	return ""
}

func (i *inspection) look(ctx context.Context) {
	s := i.server
	i.Server = s.dialect.Product + " " + s.version
	i.Local, _ = s.local()
	i.Ask(ctx, "status", func(ctx context.Context) (err error) {
		i.status, err = readPairs(ctx, s.db, "SHOW GLOBAL STATUS")
		return s.explain(err)
	})
	i.settings()
	i.figures()
	i.ofPerformanceSchema(ctx)
	i.Ask(ctx, "files of tables", i.tables)
	i.serverFiles()
	i.places()
}

// inspected are the variables that decide how files are made and written.
var inspected = []string{
	"innodb_file_per_table", "innodb_data_file_path", "innodb_autoextend_increment", "innodb_temp_data_file_path", "innodb_log_file_size", "innodb_log_files_in_group",
	"innodb_redo_log_capacity", "innodb_buffer_pool_size", "innodb_flush_method", "innodb_flush_log_at_trx_commit", "innodb_io_capacity", "performance_schema", "sync_binlog", "tmp_table_size",
}

func (i *inspection) settings() {
	for _, name := range inspected {
		if v, ok := i.server.vars[name]; ok {
			i.Settings[name] = v
		}
	}
	if !i.server.on("innodb_file_per_table") {
		i.Settings["new tables"] = "lie in the system tablespace"
	}
}

func (i *inspection) figures() {
	if n := number64(i.status, "Uptime"); n >= 0 {
		i.Since = time.Duration(n) * time.Second
	}
	for variable, name := range map[string]string{
		"Innodb_buffer_pool_read_requests": filewise.FigureRequests, "Innodb_buffer_pool_reads": filewise.FigureMisses,
		"Created_tmp_tables": filewise.FigureTempTables, "Created_tmp_disk_tables": filewise.FigureTempDisk,
		"Innodb_os_log_written": filewise.FigureLogBytes, "Innodb_log_waits": filewise.FigureLogWaits, "Innodb_buffer_pool_wait_free": filewise.FigureFreeWaits,
	} {
		if n := number64(i.status, variable); n >= 0 {
			i.Figures[name] = float64(n)
		}
	}
	if n := number64(i.server.vars, "innodb_buffer_pool_size"); n > 0 {
		i.Figures[filewise.FigureBuffer] = float64(n)
	}
}

// picosecond is the unit of performance_schema's timers.
const picosecond = 1e-12

// Of the files that the server has waited most for.
const readFileTimes = `
SELECT FILE_NAME, COUNT_READ, SUM_NUMBER_OF_BYTES_READ, SUM_TIMER_READ, COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, SUM_TIMER_WRITE
  FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME LIKE 'wait/io/file/innodb/%' ORDER BY SUM_TIMER_WAIT DESC LIMIT 500`

const readEvents = `
SELECT EVENT_NAME, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name
 WHERE SUM_TIMER_WAIT > 0 ORDER BY SUM_TIMER_WAIT DESC LIMIT 200`

func (i *inspection) ofPerformanceSchema(ctx context.Context) {
	if !i.server.on("performance_schema") {
		i.Lack("I/O per file and waits", "performance_schema is off, which is a start-up option", "ask its owner for performance_schema = ON")
		i.Ask(ctx, "waits", i.statusWaits)
		return
	}
	i.Ask(ctx, "I/O per file", i.fileTimes)
	i.Ask(ctx, "waits", i.events)
}

func (i *inspection) fileTimes(ctx context.Context) error {
	rows, err := i.server.db.QueryContext(ctx, readFileTimes)
	if err != nil {
		return i.server.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var reads, read, readTime, writes, written, writeTime float64
		if err := rows.Scan(&name, &reads, &read, &readTime, &writes, &written, &writeTime); err != nil {
			return err
		}
		io := map[string]float64{filewise.FileReads: reads, filewise.FileBytesRead: read, filewise.FileWrites: writes, filewise.FileBytes: written}
		if readTime > 0 || writeTime > 0 { // else the instrument counts, and times nothing
			io[filewise.FileReadTime], io[filewise.FileWriteTime] = readTime*picosecond, writeTime*picosecond
		}
		i.times[i.whole(name)] = io
	}
	return i.server.explain(rows.Err())
}

// whole is a path as the server has it, which may begin at the data directory.
func (i *inspection) whole(name string) string {
	if name == "" || path.IsAbs(name) || windowsPath(name) {
		return path.Clean(name)
	}
	return path.Join(i.server.vars["datadir"], name)
}

func (i *inspection) events(ctx context.Context) error {
	rows, err := i.server.db.QueryContext(ctx, readEvents)
	if err != nil {
		return i.server.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var time float64
		if err := rows.Scan(&name, &time); err != nil {
			return err
		}
		if class := classOfEvent(name); class != "" {
			i.Waits = append(i.Waits, filewise.Counter{Name: name, Unit: "s", Value: time * picosecond, Class: class})
		}
	}
	if err := rows.Err(); err != nil {
		return i.server.explain(err)
	}
	return i.statusWaits(ctx)
}

// statusWaits are those that InnoDB adds up itself.
func (i *inspection) statusWaits(ctx context.Context) error {
	all, err := innodb.ReadStatusWaits(ctx, i.server.db)
	for _, w := range all {
		if w.Value > 0 {
			i.Waits = append(i.Waits, w)
		}
	}
	return i.server.explain(err)
}

// classOfEvent is the class of an instrument of performance_schema; empty: it is
// benign, for it waits for a client (idle, sockets) or for work (conditions of
// background threads).
func classOfEvent(name string) filewise.WaitClass {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(name, p) {
				return true
			}
		}
		return false
	}
	switch {
	case name == "idle", has("wait/io/socket/", "wait/synch/cond/"):
		return ""
	case has("wait/io/file/innodb/innodb_temp"), has("wait/io/file/sql/", "wait/io/file/aria/", "wait/io/file/myisam/") && has("temp", "tmp", "FILE_IO_CACHE", "io_cache"):
		return filewise.WaitTemp
	case has("innodb_log_file", "/binlog", "relaylog", "aria/translog"):
		return filewise.WaitLog
	case has("wait/io/file/innodb/"): // reading and writing are one instrument
		return filewise.WaitDataRead
	case has("fil_space_latch", "fil_system", "fsp", "ibuf", "fil_space"):
		return filewise.WaitAllocation
	case has("wait/lock/"):
		return filewise.WaitLock
	case has("wait/io/table/"): // it has the waits above within it
		return ""
	case has("wait/synch/"):
		return filewise.WaitLatch
	}
	return filewise.WaitOther
}

// largest is the query for name, path and size of the largest files.
func (d *Dialect) largest() string {
	if d == MySQL {
		return "SELECT t.NAME, COALESCE(d.PATH, ''), t.FILE_SIZE FROM information_schema.INNODB_TABLESPACES t LEFT JOIN information_schema.INNODB_DATAFILES d ON d.SPACE = t.SPACE " +
			"WHERE t.NAME LIKE '%/%' ORDER BY t.FILE_SIZE DESC LIMIT 2000"
	}
	return "SELECT NAME, COALESCE(FILENAME, ''), FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE '%/%' ORDER BY FILE_SIZE DESC LIMIT 2000"
}

// ofServer are the databases of the server itself.
var ofServer = map[string]bool{"mysql": true, "sys": true, "information_schema": true, "performance_schema": true}

func (i *inspection) tables(ctx context.Context) error {
	rows, err := i.server.db.QueryContext(ctx, i.server.dialect.largest())
	if err != nil {
		return i.server.explain(err)
	}
	defer rows.Close()
	groups := map[string]int{}
	for rows.Next() {
		var name, file string
		var bytes int64
		if err := rows.Scan(&name, &file, &bytes); err != nil {
			return err
		}
		table, database, partitioned := tableOf(name)
		n, ok := groups[table]
		if !ok {
			n = len(i.Groups)
			groups[table] = n
			g := filewise.FileGroup{Name: "table " + table, Database: database, Use: filewise.UseData, Fill: filewise.FillOwn, System: ofServer[database], Own: inspecting.Own(database)}
			if partitioned {
				g.Fill = filewise.FillPartitions
			}
			i.Groups = append(i.Groups, g)
		}
		if file == "" {
			file = name + ".ibd"
		}
		i.Groups[n].Files = append(i.Groups[n].Files, i.file(file, bytes))
	}
	return i.server.explain(rows.Err())
}

// tableOf reads the name of a tablespace: “sales/orders#P#p0”, with “#SP#” behind
// where there are subpartitions; special characters are written as “@0040”.
func tableOf(name string) (table, database string, partitioned bool) {
	database, table, _ = strings.Cut(name, "/")
	for _, infix := range []string{"#P#", "#p#"} {
		if head, _, ok := strings.Cut(table, infix); ok {
			return database + "." + head, database, true
		}
	}
	return database + "." + table, database, false
}

func (i *inspection) file(name string, bytes int64) filewise.FileInspect {
	name = i.whole(name)
	return filewise.FileInspect{Path: name, Bytes: bytes, Volume: path.Dir(path.Dir(name)), Dir: path.Dir(name), IO: i.times[name]}
}

// serverFiles are those that start-up options name: the system tablespace, those for
// temporary tables, and the redo log.
func (i *inspection) serverFiles() {
	s := i.server
	home := s.vars["innodb_data_home_dir"]
	if home == "" {
		home = s.vars["datadir"]
	}
	step := number64(s.vars, "innodb_autoextend_increment") * (1 << 20)
	system := i.ofPath("system tablespace", filewise.UseData, home, s.vars["innodb_data_file_path"], step)
	system.System = s.on("innodb_file_per_table")
	i.Groups = append(i.Groups, system, i.ofPath("temporary tablespace", filewise.UseTemp, home, s.vars["innodb_temp_data_file_path"], step))
	logs, size := number64(s.vars, "innodb_log_files_in_group"), number64(s.vars, "innodb_log_file_size")
	if capacity := number64(s.vars, "innodb_redo_log_capacity"); capacity > 0 {
		logs, size = 32, capacity/32 // “Redo Log”: 32 files since 8.0.30
	}
	if logs <= 0 {
		logs = 1 // MariaDB 10.5
	}
	dir := s.vars["innodb_log_group_home_dir"]
	if dir == "" || dir == "./" {
		dir = s.vars["datadir"]
	}
	redo := filewise.FileGroup{Name: "redo log", Use: filewise.UseLog, Fill: filewise.FillOrder}
	for n := range logs {
		redo.Files = append(redo.Files, i.file(path.Join(i.whole(dir), "ib_logfile"+strconv.FormatInt(n, 10)), size))
	}
	i.Groups = append(i.Groups, redo)
}

// ofPath reads a list such as “ibdata1:12M;ibdata2:50M:autoextend:max:500M”; where
// the file can be seen here, its size is that of the file.
func (i *inspection) ofPath(name string, use filewise.FileUse, home, list string, step int64) filewise.FileGroup {
	g := filewise.FileGroup{Name: name, Use: use, Fill: filewise.FillOrder, System: use != filewise.UseData}
	for part := range strings.SplitSeq(list, ";") {
		fields := strings.Split(part, ":")
		if len(fields) < 2 || fields[0] == "" {
			continue
		}
		bytes, err := humanize.ParseBytes(fields[1] + "iB")
		if err != nil {
			i.Lack("size of "+fields[0], fmt.Sprintf("%q is no size", fields[1]), "")
		}
		where := fields[0]
		if !path.IsAbs(where) {
			where = path.Join(i.whole(home), where)
		}
		f := i.file(where, int64(bytes))
		if info, err := os.Stat(f.Path); i.Local && err == nil {
			f.Bytes = info.Size()
		}
		f.Volume = f.Dir
		f.Growth = &filewise.Growth{}
		if strings.Contains(strings.ToLower(part), ":autoextend") && step > 0 {
			f.Growth.Bytes = step
		}
		g.Files = append(g.Files, f)
	}
	return g
}

// places are where tables may be put besides: MySQL tells, MariaDB takes any.
func (i *inspection) places() {
	s := i.server
	i.Places = []filewise.Place{{Volume: filewise.Volume{Name: "default"}, Path: strings.TrimRight(s.vars["datadir"], "/")}}
	for _, dir := range slices.Sorted(maps.Keys(i.directories())) {
		name := strings.Trim(strings.ReplaceAll(path.Clean(dir), "/", "-"), "-.")
		i.Places = append(i.Places, filewise.Place{Volume: filewise.Volume{Name: name, Dir: dir}, Path: dir})
	}
}

func (i *inspection) directories() map[string]bool {
	all := map[string]bool{}
	for dir := range strings.SplitSeq(i.server.vars["innodb_directories"], ";") {
		if dir = strings.TrimSpace(dir); path.IsAbs(dir) && path.Clean(dir) != path.Clean(i.server.vars["datadir"]) {
			all[path.Clean(dir)] = true
		}
	}
	return all
}
