package mariadb

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/engine/internal/innodb/private"
)

// product is MariaDB as a private server.
var product = &private.Product{
	Name: "mariadb", Title: "MariaDB", Binary: server.Names[0], Remedy: "apt-get install " + server.Package,
	Find: find, Create: create, Checkpoint: checkpoint, BackupTool: findBackupTool,
	Options: private.Options{
		Group: "mariadbd",
		Redo:  "innodb_log_file_size",
		// Before MariaDB 11 undo logs lie within the system tablespace unless told
		// otherwise. There they would fill the layout's files by an amount that depends
		// on how far purge lags behind, and the work could not be sized. They get files
		// of their own; --set innodb_undo_tablespaces=0 puts them back.
		Own:    []filewise.Fact{{Name: "innodb_undo_tablespaces", Value: "3"}}, // MariaDB 11's default
		Binlog: []filewise.Fact{{Name: "expire_logs_days", Value: "0"}},
		Args:   func(string, []string) []string { return nil },
	},
	Files: private.Files{
		Partition: "#P#",
		// FIL_IBD_FILE_INITIAL_SIZE of storage/innobase/include/fil0fil.h.
		EmptyTablePages: 4,
		Redo:            "ib_logfile0", RedoPattern: "ib_logfile0",
		// Dictionary and doublewrite buffer: 2.9 MiB with undo logs in files of their
		// own, else 4.9 MiB. Measured on MariaDB 10.11.
		SystemOwn: 3 * innodb.MiB,
		// Events of GTID, statement text, table map, rows and XID: measured on 10.11.
		EmptyBinlog: 330, BinlogPerRow: 32, BinlogPerCommit: 400,
		// InnoDB's temporary tables (12 MiB), dictionary tables, doublewrite and undo of
		// the kinds whose data files hold no system tablespace.
		Room: 64 * innodb.MiB,
	},
	Queries: private.Queries{
		Tablespaces: "SELECT FILENAME, FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE '" + private.Database + "/%'",
		ResetBinlog: "RESET MASTER",
		Checkpoint:  []string{"SET GLOBAL innodb_log_checkpoint_now = ON"},
	},
	Telling:  telling,
	Counters: counters,
	// Since MariaDB 10.6 (MDEV-24341) InnoDB only asks for the redo log to be synced,
	// and the connection waits for that when its command ends
	// (trx_flush_log_if_needed_low in storage/innobase/trx/trx0trx.cc,
	// innodb_thd_increment_pending_ops). Our command is a CALL of many commits, and
	// all of them would share one wait.
	FullNote: "with a binary log that is synced at each commit, as on a server that replicates: " +
		"without one, MariaDB lets the commits inside a CALL wait for the storage together, at its end",
}

// telling are the settings that decide what is measured.
var telling = []string{
	"version", "version_comment",
	"innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_doublewrite", "innodb_page_size", "innodb_checksum_algorithm",
	"innodb_io_capacity", "innodb_io_capacity_max", "innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm", "innodb_adaptive_flushing",
	"innodb_flush_neighbors", "innodb_read_io_threads", "innodb_write_io_threads", "innodb_use_native_aio", "innodb_log_buffer_size",
	"innodb_log_file_buffering", "innodb_undo_tablespaces", "innodb_change_buffering", "innodb_adaptive_hash_index",
	"performance_schema", "log_bin", "sync_binlog", "binlog_format", "transaction_isolation", "tx_isolation", "thread_handling",
}

// counters are those of the binary log besides InnoDB's (MariaDB's documentation,
// “Replication and Binary Log Status Variables”).
var counters = private.CountersWith(map[string]string{
	"Binlog_commits":       "commits",
	"Binlog_group_commits": "groups", // each written and synced at once
})

// create runs the server's bootstrap with the distribution's own SQL.
func create(in private.Install, password string) (private.Creation, error) {
	c := private.Creation{Args: []string{"--bootstrap", "--silent-startup", "--log-warnings=0", "--max-allowed-packet=8M"}}
	var err error
	c.Stdin, err = bootstrapSQL(in.Scripts, password)
	return c, err
}

// bootstrapSQL is the distribution's own, for one account that only a password
// made for this build opens.
func bootstrapSQL(scripts []string, password string) (string, error) {
	var b strings.Builder
	b.WriteString("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n")
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", filewise.Errorf(filewise.CodePreflight, "apt-get install "+server.Package, "SQL of the system tables: %w", err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	b.WriteString("DELETE FROM mysql.global_priv WHERE NOT (User = 'root' AND Host = 'localhost') AND User <> 'mariadb.sys';\n")
	b.WriteString("FLUSH PRIVILEGES;\n")
	fmt.Fprintf(&b, "ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD(%s);\n", innodb.Literal(password))
	return b.String(), nil
}

// checkpoint flushes all of InnoDB. Releases of 10.11 and later do that on one
// command; before, the limit of dirty pages is lowered to nothing for a while.
func checkpoint(ctx context.Context, control *sql.DB) error {
	values, err := private.Variables(ctx, control, "innodb_log_checkpoint_now")
	if err != nil {
		return err
	}
	if _, has := values["innodb_log_checkpoint_now"]; !has {
		return private.FlushByLimit(ctx, control)
	}
	_, err = control.ExecContext(ctx, "SET GLOBAL innodb_log_checkpoint_now = ON")
	return err
}
