// Package private runs private servers of MariaDB and MySQL for experiments: it
// lays a layout's files out, starts a server on them, observes, settles, resets
// and extends them. Where the two servers differ, a Product says how.
//
// A private server runs as Filewise's own user, root included (told explicitly,
// as the servers want it). Running it as the machine's account "mysql" would need
// directories that this account, and with it the machine's own server, may write
// to while Filewise, being root, reads and removes files there.
package private

import (
	"context"
	"database/sql"

	"filewise"
)

// Product is what sets one server apart from its sibling.
type Product struct {
	Name, Title string // "mariadb", "MariaDB"
	Binary      string // for plans that are made where it is not installed
	Remedy      string // how it is installed
	// Find looks for an installed server that can be started, in the user's
	// directory or the machine's. Errors have code preflight.
	Find func(ctx context.Context, bin string) (Install, error)
	// Create says how the server is run once to create a data directory with one
	// account, root, that only the password opens.
	Create func(in Install, password string) (Creation, error)
	// Checkpoint writes every dirty page and moves the checkpoint behind them.
	Checkpoint func(context.Context, *sql.DB) error

	// BackupTool looks for the product's own program for backups of its files, in the
	// user's directory or the machine's; nil: there is none, and tables are exported.
	BackupTool func(bin string) (string, error)

	Options  Options
	Files    Files
	Queries  Queries
	Telling  []string          // settings that decide what is measured, for reports
	Counters map[string]string // cumulative status counters, with their units
	FullNote string            // says in reports what durability full does
	// NoTemp says why temporary tables do not lie in the files of
	// innodb_temp_data_file_path; empty: they do.
	NoTemp string

	// Templates says that a data directory takes so long to create that further ones
	// of the same layout come from an image of the first.
	Templates bool

	tried *tried // nil: every Open tries
}

// Install is an installed server.
type Install struct {
	Binary  string
	Base    string   // its tree, where that must be told on the command line; else empty
	Version string   // "10.11.19-MariaDB-0+deb12u1"
	Scripts []string // SQL that creates the system tables, where the binary has it not
}

// Creation is how a data directory is created.
type Creation struct {
	Args  []string
	Stdin string // SQL
}

// Options are a server's own settings.
type Options struct {
	Group string // of the option file
	Redo  string // the setting of the redo log's size in bytes
	Own   []filewise.Fact
	// Binlog are settings of a binary log that keeps all of its files.
	Binlog []filewise.Fact
	// Args are what else keeps the server private and its files together; it is
	// given the data directory and the build's directories.
	Args func(dataDir string, dirs []string) []string
}

// Files is how a server names and sizes its files.
type Files struct {
	Unreadable      string   // characters of a path that the server does not take as they are
	Partition       string   // between a table's and a partition's name
	EmptyTablePages int64    // of the file of an empty table
	Redo            string   // in the directory of the log: what a script says
	RedoPattern     string   // there: the files
	Own             []string // patterns of the server's own files in its data directory
	EmptyBinlog     int64    // bytes of a binary log without transactions
	// BinlogPerRow and BinlogPerCommit are what the binary log has of a row and of a
	// transaction besides the payload, at most, in bytes.
	BinlogPerRow, BinlogPerCommit int64
	// SystemOwn is what a new server has in its system tablespace before any table,
	// in bytes.
	SystemOwn int64
	// Room is what a server needs besides data files, redo and binary log, in bytes.
	Room int64
}

// Queries are statements that differ.
type Queries struct {
	// Tablespaces returns path and size of each file of tables in the database.
	Tablespaces string
	// ResetBinlog begins the binary log anew.
	ResetBinlog string
	// Checkpoint is what a script shows for Product.Checkpoint.
	Checkpoint []string
}
