package dialect

import (
	"context"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/internal/server"
)

// MySQL describes how MySQL differs from MariaDB.
var MySQL = &Product{
	Name: "mysql", Title: "MySQL",
	// Every commit is synced three times, in two logs. With rows of 3000 bytes a trial fills the files in some 2 s on two
	// cores, with 600 bytes in 20 s on busy cores. With less than 128 MiB, starting, checking and ending a server takes
	// longer than measuring it.
	Bytes: 128 * MiB, RowBytes: 3000, Budget: 10 * time.Minute,
	// Only tables with their own files can be exported.
	BackupKinds: []filewise.Kind{filewise.KindPartitions, filewise.KindPerTable},
	Files: Files{
		Unreadable: `\`, // MySQL reads it as a slash (Fil_path::normalize)
		Partition:  "#p#",
		// FIL_IBD_FILE_INITIAL_SIZE of storage/innobase/include/fil0fil.h: 4, and the
		// dictionary's own copy of the table.
		EmptyTablePages: 7,
		Redo:            "#innodb_redo", RedoPattern: "#innodb_redo/#ib_redo*",
		// The dictionary has its own files since 8.0.0, doublewrite since 8.0.20, and undo logs too.
		System:      []string{"#ib_*.dblwr", "undo_*", "mysql.ibd", "ibtmp*"},
		SystemBytes: 3 * MiB, // 2.7 MiB, measured on 8.0.31
		// Events of GTID, statement, table map, rows and XID; measured on 8.0.31.
		EmptyBinlog: 157, BinlogPerRow: 32, BinlogPerCommit: 400,
		// Dictionary (27 MiB), two undo tablespaces (32), temporary tables (12) and doublewrite files (9 with pages of 16
		// KiB), as in a new 8.0.31.
		Overhead: 128 * MiB,
		Of: "SELECT t.NAME, COALESCE(d.PATH, ''), t.FILE_SIZE, t.ALLOCATED_SIZE FROM information_schema.INNODB_TABLESPACES t " +
			"LEFT JOIN information_schema.INNODB_DATAFILES d ON d.SPACE = t.SPACE",
	},
	Managed: Managed{
		Binary: "mysqld", Remedy: getMySQL, Find: findMySQL, Create: createMySQL, Templates: true, LeastMemory: 256 * MiB,
		// There is no command for a checkpoint: innodb_log_checkpoint_now is for debugging.
		Checkpoint: FlushByLimit, CheckpointSQL: flushByLimitSQL(),
		Group: "mysqld", Redo: "innodb_redo_log_capacity",
		Settings: []filewise.Fact{
			{Name: "innodb_flush_method", Value: "O_DIRECT"},    // as on MariaDB: bypasses the system's cache
			{Name: "innodb_dedicated_server", Value: "OFF"},     // ON would size pool and redo log by the machine's memory
			{Name: "performance_schema_error_size", Value: "0"}, // saves 33 MiB that no one reads
			{Name: "mysqlx", Value: "OFF"},                      // a second protocol with its own port and socket
			// No connection is encrypted: there is only the socket.
			{Name: "auto_generate_certs", Value: "OFF"},
			{Name: "sha256_password_auto_generate_rsa_keys", Value: "OFF"},
			{Name: "caching_sha2_password_auto_generate_rsa_keys", Value: "OFF"},
		},
		Binlog: []filewise.Fact{{Name: "binlog_expire_logs_auto_purge", Value: "OFF"}}, ResetBinlog: "RESET MASTER",
		Args:     argumentsMySQL,
		FullNote: "with a binary log that is synced at each commit, as MySQL ships",
	},
	External: External{
		Oldest: [2]int{8, 0}, Session: sessionMySQL, FlushRight: "FLUSH_TABLES", Directories: true,
		Reading: func(patience time.Duration) map[string]string {
			return map[string]string{
				"max_execution_time":              strconv.FormatInt(patience.Milliseconds(), 10),
				"information_schema_stats_expiry": "86400", // s: the server does not gather statistics for these sessions
			}
		},
	},
	LogEnd: "Innodb_redo_log_current_lsn", LogCheckpoint: "Innodb_redo_log_checkpoint_lsn", LogRoom: "Innodb_redo_log_capacity_resized",
	// Its manual, 15.6.3.5 “Temporary Tablespaces”.
	NoTemp: "MySQL 8 gives every session separate temporary tablespaces (innodb_temp_tablespaces_dir), and keeps only their rollback " +
		"segments in the files of " +
		"innodb_temp_data_file_path: there is no number of files to choose for temporary tables",
}

func sessionMySQL([2]int) map[string]string {
	return sessionVariables(map[string]string{
		"transaction_isolation": "'REPEATABLE-READ'", "transaction_read_only": "0", "max_execution_time": "0",
		"information_schema_stats_expiry": "0",
	})
}

// getMySQL returns how to install MySQL if the distribution does not have it.
const getMySQL = "scripts/get-mysql (in Filewise's source), or install mysql-community-server"

// mysqlServer returns the server's binary. Its places are the directories of MySQL's own packages and
// archives, of Ubuntu's packages, and of scripts/get-mysql.
func mysqlServer() server.Binary {
	return server.Binary{
		Names: []string{"mysqld"},
		Places: []string{server.Fetched("mysql-*"), "/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/libexec",
			"/opt/mysql*/bin", "/opt/mysql/*/bin", "/usr/local/mysql*/bin"},
		Remedy: getMySQL,
	}
}

// findMySQL returns a MySQL that can be started, in the user's directory or on the machine. Errors have CodePreflight.
func findMySQL(ctx context.Context, bin string) (Install, error) {
	return find(ctx, mysqlServer(), bin, isMySQL)
}

// isMySQL refuses MariaDB, whose packages also bring a mysqld, and releases whose redo log has other settings
// (innodb_redo_log_capacity came with 8.0.30).
func isMySQL(v Version, path string) error {
	switch {
	case v.MariaDB:
		return filewise.Errorf(filewise.CodePreflight, getMySQL+"; or name MySQL's directory with --server-bin DIR",
			"%s is not MySQL but MariaDB %s (--engine mariadb)", path, v.Text)
	case v.Before(8, 0, 30):
		return filewise.Errorf(filewise.CodePreflight, "install a newer MySQL", "%s is MySQL %s; Filewise supports 8.0.30 and later", path, v)
	}
	return nil
}

// createMySQL describes how the server creates its data directory, with one account that only this build's password
// opens. The password is passed through standard input, so that it is never written down.
func createMySQL(_ Install, password string) (Creation, error) {
	return Creation{
		Args:  append([]string{"--initialize-insecure", "--init-file=/dev/stdin"}, withoutSync...),
		Stdin: "ALTER USER root@localhost IDENTIFIED BY " + Literal(password) + ";\n",
	}, nil
}

// withoutSync lists the options that create a data directory without syncing it. A power cut would end the experiment
// anyway. Before anything is measured, Settle syncs the layout's files.
var withoutSync = []string{"--innodb-flush-method=nosync", "--innodb-doublewrite=OFF", "--innodb-flush-log-at-trx-commit=0"}

// argumentsMySQL returns the arguments that keep MySQL's other files in the data directory, and allow tables in the
// build's directories (DATA DIRECTORY).
func argumentsMySQL(dataDir string, dirs []string) []string {
	return []string{
		"--innodb-undo-directory=" + dataDir,
		"--innodb-doublewrite-dir=" + dataDir,
		"--innodb-directories=" + strings.Join(dirs, ";"),
	}
}
