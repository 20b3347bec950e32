package mysql

import (
	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/engine/internal/innodb/private"
)

// product is MySQL as a private server.
var product = &private.Product{
	Name: "mysql", Title: "MySQL", Binary: "mysqld", Remedy: getMySQL,
	Find: find, Create: create, Checkpoint: checkpoint, Templates: true,
	Options: private.Options{
		Group: "mysqld",
		Redo:  "innodb_redo_log_capacity",
		Own: []filewise.Fact{
			{Name: "innodb_dedicated_server", Value: "OFF"},     // it would size pool and redo log by the machine's memory
			{Name: "performance_schema_error_size", Value: "0"}, // 33 MiB for what nobody reads
			{Name: "mysqlx", Value: "OFF"},                      // a second protocol with a port and a socket of its own
			// No connection is encrypted: there is only the socket.
			{Name: "auto_generate_certs", Value: "OFF"},
			{Name: "sha256_password_auto_generate_rsa_keys", Value: "OFF"},
			{Name: "caching_sha2_password_auto_generate_rsa_keys", Value: "OFF"},
		},
		Binlog: []filewise.Fact{{Name: "binlog_expire_logs_auto_purge", Value: "OFF"}},
		Args:   arguments,
	},
	Files: private.Files{
		Unreadable: `\`, // it reads a slash (Fil_path::normalize)
		Partition:  "#p#",
		// FIL_IBD_FILE_INITIAL_SIZE of storage/innobase/include/fil0fil.h.
		EmptyTablePages: 7,
		Redo:            "#innodb_redo", RedoPattern: "#innodb_redo/#ib_redo*",
		// Doublewrite files and the dictionary have files of their own since 8.0.20 and
		// 8.0.0, undo logs too.
		Own:       []string{"#ib_*.dblwr", "undo_*", "mysql.ibd", "ibtmp*"},
		SystemOwn: 3 * innodb.MiB, // 2.7 MiB, measured on 8.0.31
		// Events of GTID, statement, table map, rows and XID: measured on 8.0.31.
		EmptyBinlog: 157, BinlogPerRow: 32, BinlogPerCommit: 400,
		// Dictionary (27 MiB), two undo tablespaces (32), temporary tables (12) and
		// doublewrite files (9 with pages of 16 KiB), as a new 8.0.31 has them.
		Room: 128 * innodb.MiB,
	},
	Queries: private.Queries{
		Tablespaces: "SELECT d.PATH, t.FILE_SIZE FROM information_schema.INNODB_TABLESPACES t JOIN information_schema.INNODB_DATAFILES d USING (SPACE) " +
			"WHERE t.NAME LIKE '" + private.Database + "/%'",
		ResetBinlog: "RESET MASTER",
		Checkpoint: []string{
			"SET GLOBAL innodb_io_capacity_max = 1000000", "SET GLOBAL innodb_io_capacity = 1000000",
			"SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0", "SET GLOBAL innodb_max_dirty_pages_pct = 0", "FLUSH ENGINE LOGS",
			redoOff, redoOn,
		},
	},
	Telling:  telling,
	Counters: private.CountersWith(nil),
	FullNote: "with a binary log that is synced at each commit, as MySQL ships",
	NoTemp:   innodb.NoTempMySQL,
}

// telling are the settings that decide what is measured.
var telling = []string{
	"version", "version_comment",
	"innodb_flush_log_at_trx_commit", "innodb_flush_method", "innodb_doublewrite", "innodb_doublewrite_files", "innodb_doublewrite_pages",
	"innodb_page_size", "innodb_checksum_algorithm",
	"innodb_io_capacity", "innodb_io_capacity_max", "innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm", "innodb_adaptive_flushing",
	"innodb_flush_neighbors", "innodb_read_io_threads", "innodb_write_io_threads", "innodb_use_native_aio", "innodb_use_fdatasync",
	"innodb_log_buffer_size", "innodb_log_writer_threads", "innodb_change_buffering", "innodb_adaptive_hash_index", "innodb_page_cleaners",
	"performance_schema", "log_bin", "sync_binlog", "binlog_format", "binlog_order_commits", "transaction_isolation", "thread_handling",
}
