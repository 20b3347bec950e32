package managed

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
	"filewise/internal/openfiles"
)

// flushAtCommit returns innodb_flush_log_at_trx_commit for a durability. 1 syncs the redo log at each commit. 2 writes
// it at each commit and syncs it once a second. 0 writes and syncs it once a second.
func flushAtCommit(d filewise.Durability) (string, error) {
	switch d {
	case filewise.DurabilityFull, "":
		return "1", nil
	case filewise.DurabilityNormal:
		return "2", nil
	case filewise.DurabilityOff:
		return "0", nil
	}
	return "", filewise.Errorf(filewise.CodeUsage, "durability is full, normal or off", "durability %q is unknown", d)
}

// canonical returns a setting's name as the server shows it.
func canonical(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// Redo log and buffer pool scale with the data. On a database of a few MiB, the server's defaults would keep all writes
// to data files out of the measured time. Then only the redo log would be measured.
const (
	leastRedo, mostRedo = 8 * dialect.MiB, 96 * dialect.MiB // 96 MiB is the server's default
	leastPool, mostPool = 16 * dialect.MiB, 128 * dialect.MiB
	mostLoadPool        = 1 << 30
	preloadPerPool      = 4 // ratio of data to cache
)

func (d *design) redoBytes() int64 {
	return min(max(d.Layout.ServerBytes()/4, leastRedo), mostRedo) / dialect.MiB * dialect.MiB
}

func (d *design) poolBytes() int64 {
	switch {
	case d.Program.Queries():
		return d.scanPool()
	case d.Program.Table().Temporary:
		return d.tempPool()
	}
	data := d.Layout.ServerBytes()
	if d.Program.Preload > 0 {
		data = d.Program.Preload
	}
	return max(d.Target.Cache(min(max(data/preloadPerPool, leastPool), mostPool))/dialect.MiB*dialect.MiB, d.startsWith())
}

// settings returns the server's settings in the order of its option file. The user's settings come last and take
// precedence.
func (d *design) settings() []filewise.Fact {
	flush, _ := flushAtCommit(d.Target.Durability) // newDesign has checked it
	files := len(d.Files) + len(d.Later)
	files += files/4 + 64 // MySQL stalls if 90 % of innodb_open_files are files that it cannot close
	s := []filewise.Fact{
		{Name: "innodb_flush_log_at_trx_commit", Value: flush},
		{Name: "innodb_file_per_table", Value: onOff(!d.isSystem())},
		{Name: d.Product.Managed.Redo, Value: strconv.FormatInt(d.redoBytes(), 10)},
		{Name: "innodb_buffer_pool_size", Value: strconv.FormatInt(d.poolBytes(), 10)},
		{Name: "innodb_buffer_pool_dump_at_shutdown", Value: "OFF"},
		{Name: "innodb_buffer_pool_load_at_startup", Value: "OFF"},
		{Name: "innodb_open_files", Value: strconv.Itoa(max(files, 300))},
		// The soft limit that a server inherits is often 1024.
		{Name: "open_files_limit", Value: strconv.Itoa(max(files, 300) + d.Program.Connections() + 700)},
		{Name: "innodb_temp_data_file_path", Value: "ibtmp1:12M:autoextend"},
		{Name: "max_connections", Value: strconv.Itoa(max(d.Program.Connections()+32, 100))},
		{Name: "skip_name_resolve", Value: "ON"},
		{Name: "local_infile", Value: onOff(d.Program.Loads())},
		{Name: "character_set_server", Value: "utf8mb4"},
	}
	s = append(append(s, instruments...), d.Product.Managed.Settings...)
	if d.Program.Restored() { // rows can be large, and events belong to no one's work
		s = append(s, filewise.Fact{Name: "max_allowed_packet", Value: "1G"}, filewise.Fact{Name: "event_scheduler", Value: "OFF"})
	}
	if d.binlog() {
		s = append(s, filewise.Fact{Name: "binlog_format", Value: "ROW"}, filewise.Fact{Name: "sync_binlog", Value: "1"},
			filewise.Fact{Name: "max_binlog_size", Value: strconv.Itoa(binlogBytes)})
		s = append(s, d.Product.Managed.Binlog...)
	}
	switch {
	case len(d.temps) > 0: // the last temporary file grows by as little as possible
		s = append(s, filewise.Fact{Name: "innodb_autoextend_increment", Value: "1"})
	case d.isSystem():
		s = append(s, filewise.Fact{Name: "innodb_autoextend_increment", Value: strconv.FormatInt(d.growth()/dialect.MiB, 10)})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Target.Settings)) {
		s = append(s, filewise.Fact{Name: name, Value: d.Target.Settings[name]})
	}
	return s
}

func onOff(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

// optionFile returns the text of the server's own option file. The machine's /etc/mysql is never read.
func (d *design) optionFile() string {
	var b strings.Builder
	b.WriteString("# Made by Filewise for a managed server; paths are on its command line.\n[" + d.Product.Managed.Group + "]\n")
	for _, s := range d.settings() {
		fmt.Fprintf(&b, "%s = %s\n", s.Name, optionValue(s.Value))
	}
	return b.String()
}

// optionValue quotes a value that the option file would otherwise misread: “#” begins a comment, and a backslash an
// escape.
func optionValue(v string) string {
	if strings.ContainsAny(v, "#;'\" \t") || v == "" {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
	}
	return strings.ReplaceAll(v, `\`, `\\`)
}

// arguments returns the server's command line. Options that isolate the server are here, because the command line
// overrides the option file. Long lists of files are here, because option files cut lines at 4096 bytes.
//
// The bootstrap writes no binary log: no one measures it.
func (d *design) arguments(in dialect.Install, bootstrap bool) ([]string, error) {
	spec, err := dialect.FormatDataFiles(d.systemFiles())
	if err != nil {
		return nil, err
	}
	args := []string{
		"--defaults-file=" + d.optionPath(),
		"--datadir=" + d.dataDir(),
		"--tmpdir=" + d.tmpDir(),
		"--socket=" + socketName,
		"--pid-file=" + filepath.Join(d.home(), "server.pid"),
		"--secure-file-priv=" + d.tmpDir(),
		"--skip-networking",
		"--innodb-data-home-dir=",
		"--innodb-log-group-home-dir=" + d.dataDir(),
		"--innodb-data-file-path=" + spec,
	}
	if len(d.temps) > 0 && !bootstrap {
		temps, err := dialect.FormatDataFiles(dataFiles(d.temps))
		if err != nil {
			return nil, err
		}
		args = append(args, "--innodb-temp-data-file-path="+temps)
	}
	if d.binlog() && !bootstrap {
		args = append(args, "--log-bin="+filepath.Join(d.binlogDir(), binlogName))
	} else {
		args = append(args, "--skip-log-bin")
	}
	if d.loading && !(bootstrap && d.Program.Restored()) {
		args = append(args, d.loadArguments()...)
	}
	if more := d.Product.Managed.Args; more != nil {
		args = append(args, more(d.dataDir(), d.dirs)...)
	}
	if in.Base != "" {
		args = append(args, "--basedir="+in.Base)
	}
	if os.Getuid() == 0 {
		args = append(args, "--user=root") // servers refuse root without it
	}
	return args, nil
}

func (d *design) optionPath() string { return filepath.Join(d.home(), "my.cnf") }
func (d *design) tmpDir() string     { return filepath.Join(d.home(), "tmp") }
func (d *design) logPath() string    { return filepath.Join(d.home(), "server.log") }

// environment returns the server's environment. It contains the scratch directories, by which an orphaned server is
// recognized.
func (d *design) environment() []string {
	return server.Environment(d.dirs, "LC_ALL=C", "HOME="+d.home(), "TMPDIR="+d.tmpDir())
}

// Link returns the running server. With Pool and Touched, Link makes an instance a dialect.Host.
func (i *instance) Link() (dialect.Link, error) {
	p, control, err := i.running()
	if err != nil {
		return dialect.Link{}, err
	}
	return dialect.Link{Control: control, Alive: p.Died, Explain: func(err error) error { return i.why(p, err) },
		Busy: func() (int, error) { return server.Busy(p) }}, nil
}

// Pool returns a pool for a session's connection.
func (i *instance) Pool() *sql.DB { return i.pool(Database) }

// Touched records that the server is no longer settled.
func (i *instance) Touched() { i.settled.Store(false) }

// checkLimits refuses layouts for which the server could not open all files. The server can raise its own limit only up
// to the hard one.
func (d *design) checkLimits() error {
	_, hard, known := openfiles.Limits()
	need := uint64(len(d.Files) + d.Program.Connections() + 200) // 200: system tables, logs, sockets
	if known && hard < need {                                    // if the limit is not known, the server reports the problem
		return filewise.Errorf(filewise.CodePreflight, "raise it (ulimit -Hn, or LimitNOFILE of the service), or use fewer files",
			"%s and %d connections need %d open files, but the hard limit "+
				"is %d", filewise.FilesName(len(d.Files)), d.Program.Connections(), need, hard)
	}
	return nil
}

// controlConnections counts the connections that Filewise opens in addition to the workload's: control, probes, and the
// one that stops a call.
const controlConnections = 10

// checkConnections refuses a user's limit that is too low for the workload's connections. If the value is no number,
// the server refuses it.
func (d *design) checkConnections() error {
	need := int64(d.Program.Connections() + controlConnections)
	for name, value := range d.Target.Settings {
		c := strings.TrimPrefix(canonical(name), "loose_")
		if len(c) < len("max_connecti") || !strings.HasPrefix("max_connections", c) {
			continue
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n < need {
			return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("leave it out, or give %d or more", need),
				"--set %s=%s is too few: %d connections work, and Filewise itself needs %d", name, value, d.Program.Connections(), controlConnections)
		}
	}
	return nil
}
