package dialect

import (
	"context"
	"database/sql"
	"maps"
	"strings"
	"time"

	"filewise"
)

// Product describes how MariaDB and MySQL differ.
type Product struct {
	Name, Title string // "mariadb", "MariaDB"

	// Bytes is the usual size of the data files, RowBytes a row's payload, and Budget an experiment's duration.
	// BackupKinds and TempKinds are the kinds of layout for backups and for temporary tables.
	Bytes       int64
	RowBytes    int
	Budget      time.Duration
	BackupKinds []filewise.Kind
	TempKinds   []filewise.Kind

	Files   Files
	Managed Managed
	// External describes how Filewise uses a server that belongs to someone else.
	External External

	// LogEnd, LogCheckpoint and LogRoom name the status variables of the redo log's end, its last checkpoint and its size,
	// in bytes.
	LogEnd, LogCheckpoint, LogRoom string
	// NoTemp explains why temporary tables do not lie in the files of innodb_temp_data_file_path. If empty, they do.
	NoTemp string
	// Understands lists the engines whose custom SQL this product accepts if there is none for it.
	Understands []string
}

// Managed describes how Filewise installs, creates, starts and settles a server.
type Managed struct {
	Binary string // for plans, if the product is not installed
	Remedy string // how to install it
	// Find returns an installed server that can be started, in the user's directory or on the machine. Errors have
	// CodePreflight.
	Find func(ctx context.Context, bin string) (Install, error)
	// Create describes how to run the server once to create a data directory. It has one account, root, which only the
	// password opens.
	Create func(in Install, password string) (Creation, error)
	// Checkpoint writes every dirty page, and returns the time until the server's first write. CheckpointSQL is its text
	// in scripts.
	Checkpoint    func(context.Context, *sql.DB) (idle time.Duration, err error)
	CheckpointSQL []string
	// BackupTool returns the product's own program for physical backups, in the user's directory or on the machine. If
	// nil, there is none.
	BackupTool func(bin string) (string, error)
	// LeastMemory is the memory in which the server can work, in bytes. Without the buffer pool it took 90 MiB (MariaDB
	// 10.11) and 130 MiB (MySQL 8.0) with 16 connections.
	LeastMemory int64
	// Templates is true if a data directory takes long to create. Further ones of the same layout then come from an image
	// of the first.
	Templates bool

	Group    string // of the option file
	Redo     string // the setting of the redo log's size in bytes
	Settings []filewise.Fact
	// Binlog holds the settings of a binary log that keeps all of its files. ResetBinlog is the statement that starts the
	// log afresh.
	Binlog      []filewise.Fact
	ResetBinlog string
	// Args returns further arguments that isolate the server and keep its files together, given the data directory and the
	// build's directories. It can be nil.
	Args     func(dataDir string, dirs []string) []string
	FullNote string // what durability full does, for reports
}

// Install is an installed server.
type Install struct {
	Binary  string
	Base    string   // the installation's tree if the command line must name it, else empty
	Version string   // "10.11.19-MariaDB-0+deb12u1"
	Scripts []string // SQL files that create the system tables, if the binary does not contain them
}

// Creation describes how to create a data directory.
type Creation struct {
	Args  []string
	Stdin string // SQL
}

// Files describes how a server names and sizes its files.
type Files struct {
	Encoded         bool     // in the catalogue of files, tables' names are encoded as in the names of files
	Unreadable      string   // characters of a path that the server does not take literally
	Partition       string   // between a table's and a partition's name
	EmptyTablePages int64    // pages in the file of an empty table
	Redo            string   // in the log's directory: the name that scripts show
	RedoPattern     string   // in the log's directory: a pattern of the files
	System          []string // patterns of the server's own files in its data directory
	EmptyBinlog     int64    // bytes of a binary log without transactions
	// BinlogPerRow and BinlogPerCommit are the most that the binary log takes for a row and for a transaction in addition
	// to the payload, in bytes.
	BinlogPerRow, BinlogPerCommit int64
	// SystemBytes is the part of its system tablespace that a new server uses before there is any table.
	SystemBytes int64
	// Overhead is the space that a server needs in addition to data files, redo log and binary log, in bytes.
	Overhead int64
	// Of is the query for name, path, size and allocated size of all tables' files. A WHERE on their NAME is added to it.
	// It needs the privilege PROCESS.
	Of string
}

// External describes how to use a server that belongs to someone else.
type External struct {
	Oldest [2]int // the oldest release that Filewise supports
	// Session returns the variables that every connection sets, by release, as SQL expressions. Reading holds the
	// variables of a session that only reads, which limit how long it waits.
	Session func(release [2]int) map[string]string
	Reading func(patience time.Duration) map[string]string
	// Comments is true if a database can have a comment, so that it is marked when it is created. If false, a table
	// carries the marker.
	Comments bool
	// FlushRight is the privilege that FLUSH TABLES … FOR EXPORT needs in addition to LOCK TABLES.
	FlushRight string
	// IdleSetting names the setting that, at 0, keeps an idle server from writing. If empty, there is none.
	IdleSetting string
	// Directories is true if innodb_directories limits the directories of tables, and using them needs the privilege FILE.
	Directories bool
	// SharedCommits explains that commits within a call share one wait if the server has no binary log and durability is
	// full. If empty, they do not.
	SharedCommits string
}

// Products returns MariaDB and MySQL.
func Products() []*Product { return []*Product{MariaDB, MySQL} }

// sessionVariables returns the values of session variables that Filewise sets on both products, and those in more.
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

// SQLMode is the mode of sessions on external servers, as an SQL expression.
const SQLMode = "'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"

// Telling lists the settings that affect what is measured, for reports. A setting that only one product has is absent
// on the other.
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

// CheckKnown returns an error that names a directory in which MySQL does not look for tables.
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

// searched reports whether a directory is one in which MySQL looks for tables, or lies below one.
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

// NoSystem explains why a layout on an external server cannot use files of the system tablespace.
const NoSystem = "the files of InnoDB's system tablespace are a start-up option of the server (innodb_data_file_path), which Filewise " +
	"does not change on an external one"

// Dirs returns the directories of the volumes that name one.
func Dirs(volumes []filewise.Volume) (all []string) {
	for _, v := range volumes {
		if v.Dir != "" {
			all = append(all, v.Dir)
		}
	}
	return all
}
