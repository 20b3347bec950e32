package dialect

import (
	"context"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/internal/server"
)

// MySQL holds what MySQL does in its own way.
var MySQL = &Product{
	Name: "mysql", Title: "MySQL",
	// Every commit is synced three times, in two logs: with rows of 3000 bytes a trial
	// fills the files in some 2 s on two cores, with 600 in 20 s on busy ones. In fewer
	// than 128 MiB, to start, check and end a server takes longer than to measure it.
	Bytes: 128 * MiB, RowBytes: 3000, Budget: 5 * time.Minute,
	// Tables are exported that have files of their own.
	BackupKinds: []filewise.Kind{filewise.KindPartitions, filewise.KindPerTable},
	Files: Files{
		Unreadable: `\`, // it reads a slash (Fil_path::normalize)
		Partition:  "#p#",
		// FIL_IBD_FILE_INITIAL_SIZE of storage/innobase/include/fil0fil.h: 4, and the
		// dictionary's own copy of the table.
		EmptyTablePages: 7,
		Redo:            "#innodb_redo", RedoPattern: "#innodb_redo/#ib_redo*",
		// Doublewrite files and the dictionary have files of their own since 8.0.20 and
		// 8.0.0, undo logs too.
		System:      []string{"#ib_*.dblwr", "undo_*", "mysql.ibd", "ibtmp*"},
		SystemBytes: 3 * MiB, // 2.7 MiB, measured on 8.0.31
		// Events of GTID, statement, table map, rows and XID: measured on 8.0.31.
		EmptyBinlog: 157, BinlogPerRow: 32, BinlogPerCommit: 400,
		// Dictionary (27 MiB), two undo tablespaces (32), temporary tables (12) and
		// doublewrite files (9 with pages of 16 KiB), as a new 8.0.31 has them.
		Room: 128 * MiB,
		Of: "SELECT t.NAME, COALESCE(d.PATH, ''), t.FILE_SIZE, t.ALLOCATED_SIZE FROM information_schema.INNODB_TABLESPACES t " +
			"LEFT JOIN information_schema.INNODB_DATAFILES d ON d.SPACE = t.SPACE",
	},
	Managed: Managed{
		Binary: "mysqld", Remedy: getMySQL, Find: findMySQL, Create: createMySQL, Templates: true, LeastMemory: 256 * MiB,
		// Releases have no command for a checkpoint: innodb_log_checkpoint_now is for debugging.
		Checkpoint: FlushByLimit, CheckpointSQL: flushByLimitSQL(),
		Group: "mysqld", Redo: "innodb_redo_log_capacity",
		Settings: []filewise.Fact{
			{Name: "innodb_flush_method", Value: "O_DIRECT"},    // as MariaDB has it: past the system's cache
			{Name: "innodb_dedicated_server", Value: "OFF"},     // it would size pool and redo log by the machine's memory
			{Name: "performance_schema_error_size", Value: "0"}, // 33 MiB for what no one reads
			{Name: "mysqlx", Value: "OFF"},                      // a second protocol with a port and a socket of its own
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
				"information_schema_stats_expiry": "86400", // s: no statistics are gathered for us
			}
		},
	},
	LogEnd: "Innodb_redo_log_current_lsn", LogCheckpoint: "Innodb_redo_log_checkpoint_lsn", LogRoom: "Innodb_redo_log_capacity_resized",
	// Its manual, 15.6.3.5 “Temporary Tablespaces”.
	NoTemp: "MySQL 8 gives every session temporary tablespaces of its own (innodb_temp_tablespaces_dir), and keeps only their rollback " +
		"segments in the files of " +
		"innodb_temp_data_file_path: there is no number of files to choose for temporary tables",
}

func sessionMySQL([2]int) map[string]string {
	return sessionVariables(map[string]string{
		"transaction_isolation": "'REPEATABLE-READ'", "transaction_read_only": "0", "max_execution_time": "0",
		"information_schema_stats_expiry": "0",
	})
}

// getMySQL describes how MySQL comes to a machine whose distribution has none.
const getMySQL = "scripts/get-mysql (in Filewise's source), or install mysql-community-server"

// mysqlServer returns the binary, with the places of MySQL's own packages and archives,
// Ubuntu's, and scripts/get-mysql's.
func mysqlServer() server.Binary {
	return server.Binary{
		Names: []string{"mysqld"},
		Places: []string{server.Fetched("mysql-*"), "/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/libexec",
			"/opt/mysql*/bin", "/opt/mysql/*/bin", "/usr/local/mysql*/bin"},
		Remedy: getMySQL,
	}
}

// findMySQL looks for a MySQL that can be started, in the user's directory or the
// machine's. Errors have code preflight.
func findMySQL(ctx context.Context, bin string) (Install, error) {
	return find(ctx, mysqlServer(), bin, isMySQL)
}

// isMySQL refuses MariaDB, whose packages bring a mysqld too, and releases whose
// redo log has other settings (innodb_redo_log_capacity is of 8.0.30).
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

// createMySQL has the server create its data directory, with one account that only a
// password made for this build opens. It comes through standard input, so that
// it is never written down.
func createMySQL(_ Install, password string) (Creation, error) {
	return Creation{
		Args:  append([]string{"--initialize-insecure", "--init-file=/dev/stdin"}, withoutSync...),
		Stdin: "ALTER USER root@localhost IDENTIFIED BY " + Literal(password) + ";\n",
	}, nil
}

// withoutSync describes how a data directory is created without a sync: who would lose it to a
// power cut has lost the experiment too. Before anything is measured, Settle syncs
// the files of the layout.
var withoutSync = []string{"--innodb-flush-method=nosync", "--innodb-doublewrite=OFF", "--innodb-flush-log-at-trx-commit=0"}

// argumentsMySQL keep what MySQL lets lie elsewhere in the data directory, and give it
// the directories in which files of tables can lie (DATA DIRECTORY).
func argumentsMySQL(dataDir string, dirs []string) []string {
	return []string{
		"--innodb-undo-directory=" + dataDir,
		"--innodb-doublewrite-dir=" + dataDir,
		"--innodb-directories=" + strings.Join(dirs, ";"),
	}
}
