package dialect

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/host/machine"
)

// MariaDB describes how MariaDB differs from MySQL.
var MariaDB = &Product{
	Name: "mariadb", Title: "MariaDB",
	// A trial fills the files, and every commit is synced twice (commits at the same time share a sync). With rows of 600
	// bytes that takes some 4 s on two cores and an SSD, so several blocks of five layouts fit into four minutes. With
	// less than 56 MiB the first of 16 files would be larger than the others (InnoDB needs 3 MiB of it). Or a file would
	// grow while it is measured.
	Bytes: 56 * MiB, RowBytes: 600, Budget: 10 * time.Minute,
	// A thread copies whole files, and partitioned tables have several from the start.
	BackupKinds: []filewise.Kind{filewise.KindPartitions, filewise.KindPerTable, filewise.KindSystem},
	TempKinds:   []filewise.Kind{filewise.KindPerTable},
	Files: Files{
		Encoded:   true,
		Partition: "#P#",
		// FIL_IBD_FILE_INITIAL_SIZE of storage/innobase/include/fil0fil.h.
		EmptyTablePages: 4,
		Redo:            "ib_logfile0", RedoPattern: "ib_logfile0",
		// Dictionary and doublewrite buffer take 2.9 MiB if undo logs have their own files, else 4.9 MiB. Measured on MariaDB
		// 10.11.
		SystemBytes: 3 * MiB,
		// Events of GTID, statement text, table map, rows and XID; measured on 10.11.
		EmptyBinlog: 330, BinlogPerRow: 32, BinlogPerCommit: 400,
		// InnoDB's temporary tables (12 MiB), dictionary tables, and doublewrite and undo of the kinds whose data files are
		// not the system tablespace.
		Overhead: 64 * MiB,
		Of:       "SELECT t.NAME, COALESCE(t.FILENAME, ''), t.FILE_SIZE, t.ALLOCATED_SIZE FROM information_schema.INNODB_SYS_TABLESPACES t",
	},
	Understands: []string{"mysql"},
	Managed: Managed{
		Binary: mariadbServer.Names[0], Remedy: machine.Install(mariadbServer.Package),
		Find: findMariaDB, Create: createMariaDB, BackupTool: findBackupTool, LeastMemory: 160 * MiB,
		Checkpoint: checkpointMariaDB, CheckpointSQL: []string{flushAll},
		Group: "mariadbd", Redo: "innodb_log_file_size",
		// Before MariaDB 11 undo logs lie within the system tablespace by default. There they would fill the layout's files
		// by an amount that depends on how far purge lags behind, so the work could not be sized. Here they get their own
		// files; --set innodb_undo_tablespaces=0 puts them back.
		Settings: []filewise.Fact{{Name: "innodb_undo_tablespaces", Value: "3"}}, // MariaDB 11's default
		Binlog:   []filewise.Fact{{Name: "expire_logs_days", Value: "0"}}, ResetBinlog: "RESET MASTER",
		// Since MariaDB 10.6 (MDEV-24341) InnoDB only requests a sync of the redo log. The connection waits for it when its
		// command ends (trx_flush_log_if_needed_low in storage/innobase/trx/trx0trx.cc, innodb_thd_increment_pending_ops).
		// Filewise's command is a CALL of many commits, which would all share one wait.
		FullNote: "with a binary log that is synced at each commit, as on a server that replicates: " +
			"without one, MariaDB lets the commits inside a CALL wait for the storage together, at its end",
	},
	External: External{
		Oldest: [2]int{10, 6}, Session: sessionMariaDB, Comments: true, FlushRight: "RELOAD", IdleSetting: "innodb_max_dirty_pages_pct_lwm",
		Reading: func(patience time.Duration) map[string]string {
			return map[string]string{"max_statement_time": strconv.FormatFloat(patience.Seconds(), 'f', -1, 64)}
		},
		SharedCommits: "without a binary log, MariaDB 10.6 and later let the commits inside a CALL wait for the storage together, at its end: " +
			"single commits do not each wait, whatever the durability, so these figures cannot be compared with a managed server's",
	},
	LogEnd: "Innodb_lsn_current", LogCheckpoint: "Innodb_lsn_last_checkpoint", LogRoom: "Innodb_checkpoint_max_age",
}

// sessionMariaDB returns the session variables. MariaDB 11.1 adopted MySQL's names for two of them.
func sessionMariaDB(release [2]int) map[string]string {
	prefix := "tx_"
	if release[0] > 11 || release[0] == 11 && release[1] >= 1 {
		prefix = "transaction_"
	}
	return sessionVariables(map[string]string{
		prefix + "isolation": "'REPEATABLE-READ'", prefix + "read_only": "0", "max_statement_time": "0", "innodb_strict_mode": "1",
		"idle_transaction_timeout": "0", "idle_write_transaction_timeout": "0",
	})
}

// createMariaDB describes how to run the server's bootstrap with the distribution's own SQL.
func createMariaDB(in Install, password string) (Creation, error) {
	c := Creation{Args: []string{"--bootstrap", "--silent-startup", "--log-warnings=0", "--max-allowed-packet=8M"}}
	var err error
	c.Stdin, err = bootstrapSQL(in.Scripts, password)
	return c, err
}

// bootstrapSQL returns the distribution's SQL, changed to make one account, which only this build's password opens.
func bootstrapSQL(scripts []string, password string) (string, error) {
	var b strings.Builder
	b.WriteString("CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n")
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", filewise.Errorf(filewise.CodePreflight, machine.Install(mariadbServer.Package), "SQL of the system tables: %w", err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	b.WriteString("DELETE FROM mysql.global_priv WHERE NOT (User = 'root' AND Host = 'localhost') AND User <> 'mariadb.sys';\n")
	b.WriteString("FLUSH PRIVILEGES;\n")
	fmt.Fprintf(&b, "ALTER USER root@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD(%s);\n", Literal(password))
	return b.String(), nil
}

const flushAll = "SET GLOBAL innodb_log_checkpoint_now = ON"

// checkpointMariaDB flushes all of InnoDB. MariaDB 10.11 and later have a command for that. Before, the limit on dirty
// pages is lowered to zero for a while.
func checkpointMariaDB(ctx context.Context, control *sql.DB) (idle time.Duration, err error) {
	values, err := Variables(ctx, control, "innodb_log_checkpoint_now")
	if err != nil {
		return 0, err
	}
	if _, has := values["innodb_log_checkpoint_now"]; !has {
		return FlushByLimit(ctx, control)
	}
	_, err = control.ExecContext(ctx, flushAll)
	return 0, err
}
