package dialect

import (
	"context"
	"database/sql"
	"maps"
	"strings"
	"time"

	"filewise"
)

// Product holds what sets MariaDB and MySQL apart.
type Product struct {
	Name, Title string // "mariadb", "MariaDB"

	// Bytes, RowBytes and Budget are the usual size of the data files, payload of a row and
	// duration of an experiment; BackupKinds and TempKinds the kinds of layout for backups
	// and for temporary tables.
	Bytes       int64
	RowBytes    int
	Budget      time.Duration
	BackupKinds []filewise.Kind
	TempKinds   []filewise.Kind

	Files   Files
	Managed Managed
	// External holds what matters of a server that is another user's.
	External External

	// LogEnd, LogCheckpoint and LogRoom are the status variables of the redo log's end,
	// its last checkpoint and its size, in bytes.
	LogEnd, LogCheckpoint, LogRoom string
	// NoTemp explains why temporary tables do not lie in the files of
	// innodb_temp_data_file_path. If empty, they do.
	NoTemp string
	// Understands are engines whose custom SQL it takes if it is given none of its own.
	Understands []string
}

// Managed describes how a server is installed, created, started and settled by Filewise.
type Managed struct {
	Binary string // for plans that are made if it is not installed
	Remedy string // how it is installed
	// Find looks for an installed server that can be started, in the user's
	// directory or the machine's. Errors have code preflight.
	Find func(ctx context.Context, bin string) (Install, error)
	// Create describes how the server is run once to create a data directory with one
	// account, root, that only the password opens.
	Create func(in Install, password string) (Creation, error)
	// Checkpoint writes every dirty page. It returns the time until the server's
	// first write. A script shows CheckpointSQL for it.
	Checkpoint    func(context.Context, *sql.DB) (idle time.Duration, err error)
	CheckpointSQL []string
	// BackupTool looks for the product's own program for backups of its files, in the
	// user's directory or the machine's. If nil, there is none.
	BackupTool func(bin string) (string, error)
	// LeastMemory is that in which the server works, in bytes: less its buffer pool it took
	// 90 MiB (MariaDB 10.11) and 130 MiB (MySQL 8.0) with 16 connections.
	LeastMemory int64
	// Templates states that a data directory takes so long to create that further ones
	// of the same layout come from an image of the first.
	Templates bool

	Group    string // of the option file
	Redo     string // the setting of the redo log's size in bytes
	Settings []filewise.Fact
	// Binlog are settings of a binary log that keeps all of its files, and ResetBinlog
	// begins it again.
	Binlog      []filewise.Fact
	ResetBinlog string
	// Args returns what else keeps the server to itself and its files together; it is
	// given the data directory and the build's directories. May be nil.
	Args     func(dataDir string, dirs []string) []string
	FullNote string // states in reports what durability full does
}

// Install is an installed server.
type Install struct {
	Binary  string
	Base    string   // its tree, if the command line must give it; else empty
	Version string   // "10.11.19-MariaDB-0+deb12u1"
	Scripts []string // SQL that creates the system tables, if the binary has it not
}

// Creation describes how a data directory is created.
type Creation struct {
	Args  []string
	Stdin string // SQL
}

// Files describes how a server names and sizes its files.
type Files struct {
	Encoded         bool     // the catalogue of files has tables' names as these are in the names of files
	Unreadable      string   // characters of a path that the server does not take as they are
	Partition       string   // between a table's and a partition's name
	EmptyTablePages int64    // of the file of an empty table
	Redo            string   // in the directory of the log: what a script states
	RedoPattern     string   // there: the files
	System          []string // patterns of the server's own files in its data directory
	EmptyBinlog     int64    // bytes of a binary log without transactions
	// BinlogPerRow and BinlogPerCommit hold what the binary log has of a row and of a
	// transaction in addition to the payload, at most, in bytes.
	BinlogPerRow, BinlogPerCommit int64
	// SystemBytes holds what a new server has in its system tablespace before any table.
	SystemBytes int64
	// Room holds what a server needs in addition to data files, redo and binary log, in bytes.
	Room int64
	// Of is the query for name, path, size and allocated size of all files of tables,
	// to which a WHERE on their NAME is added; it needs the right PROCESS.
	Of string
}

// External describes how a server that is another user's is talked to.
type External struct {
	Oldest [2]int // release that Filewise supports
	// Session are the variables that every connection to a server of a release sets, as
	// SQL expressions; Reading holds the variables of one that only looks, and waits so long.
	Session func(release [2]int) map[string]string
	Reading func(patience time.Duration) map[string]string
	// Comments: a database has a comment, so that it is marked as it is created;
	// without, a table carries the mark.
	Comments bool
	// FlushRight holds what FLUSH TABLES … FOR EXPORT needs in addition to LOCK TABLES.
	FlushRight string
	// IdleSetting names the setting that, at 0, keeps an idle server from writing. Empty means there is none.
	IdleSetting string
	// Directories: the directories of tables are limited by innodb_directories, and
	// need the right FILE.
	Directories bool
	// SharedCommits explains for a server without a binary log, where durability is full,
	// that commits within a call share one wait. If empty, they do not.
	SharedCommits string
}

// Products returns MariaDB and MySQL.
func Products() []*Product { return []*Product{MariaDB, MySQL} }

// sessionVariables returns the variables of both products, against whatever the server's
// defaults are, and more.
func sessionVariables(more map[string]string) map[string]string {
	all := map[string]string{
		"sql_mode":                 SQLMode,
		"autocommit":               "1",
		"completion_type":          "'NO_CHAIN'",
		"sql_safe_updates":         "0",
		"sql_auto_is_null":         "0",
		"sql_select_limit":         "18446744073709551615",
		"unique_checks":            "1",
		"wait_timeout":             "28800", // s
		"lock_wait_timeout":        "60",    // s
		"innodb_lock_wait_timeout": "50",    // s
	}
	maps.Copy(all, more)
	return all
}

// SQLMode holds the mode of sessions on external servers, as an SQL expression.
const SQLMode = "'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"

// Telling are the settings that decide what is measured, for reports; settings of one
// product only are absent on the other.
var Telling = []string{
	"version", "version_comment",
	"innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_doublewrite", "innodb_doublewrite_files", "innodb_doublewrite_pages",
	"innodb_page_size", "innodb_checksum_algorithm",
	"innodb_io_capacity", "innodb_io_capacity_max", "innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm", "innodb_adaptive_flushing",
	"innodb_flush_neighbors", "innodb_read_io_threads", "innodb_write_io_threads", "innodb_use_native_aio", "innodb_use_fdatasync",
	"innodb_log_buffer_size", "innodb_log_file_buffering", "innodb_log_writer_threads", "innodb_undo_tablespaces",
	"innodb_change_buffering", "innodb_adaptive_hash_index", "innodb_page_cleaners",
	"performance_schema", "log_bin", "sync_binlog", "binlog_format", "binlog_order_commits", "thread_handling",
}

// CheckKnown reports which directory MySQL does not look for tables in.
func (p *Product) CheckKnown(vars map[string]string, dirs []string) error {
	for _, dir := range dirs {
		if p.External.Directories && !searched(vars, dir) {
			return filewise.Errorf(filewise.CodePreflight, "leave --volume out, or have innodb_directories of the server name "+dir+
				" (a start-up option)", "MySQL puts tables only into directories that its settings list when it starts: %s is not in "+
				"innodb_directories (%q): %w", dir, vars["innodb_directories"], filewise.ErrUnsupported)
		}
	}
	return nil
}

// searched reports whether a directory is, or lies below, one that MySQL looks for
// tables in.
func searched(vars map[string]string, dir string) bool {
	places := strings.Split(vars["innodb_directories"], ";")
	for _, name := range []string{"datadir", "innodb_data_home_dir", "innodb_undo_directory"} {
		places = append(places, vars[name])
	}
	dir = strings.TrimRight(dir, "/") + "/"
	for _, p := range places {
		if p = strings.TrimRight(strings.Trim(strings.TrimSpace(p), `"'`), "/"); p != "" && strings.HasPrefix(p, "/") &&
			strings.HasPrefix(dir, p+"/") {
			return true
		}
	}
	return false
}

// NoSystem explains why a server by URL gets no files of the system tablespace.
const NoSystem = "the files of InnoDB's system tablespace are a start-up option of the server (innodb_data_file_path), which Filewise " +
	"does not change on an external one"

// Dirs returns the directories that volumes name.
func Dirs(volumes []filewise.Volume) (all []string) {
	for _, v := range volumes {
		if v.Dir != "" {
			all = append(all, v.Dir)
		}
	}
	return all
}
