package dialect

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// createMySQL has the server create its data directory, with one account that only a
// password made for this build opens. It comes through standard input, so that
// it is never written down.
func createMySQL(_ Install, password string) (Creation, error) {
	return Creation{
		Args:  append([]string{"--initialize-insecure", "--init-file=/dev/stdin"}, withoutSync...),
		Stdin: "ALTER USER root@localhost IDENTIFIED BY " + Literal(password) + ";\n",
	}, nil
}

// withoutSync is how a data directory is created without a sync: who would lose it to a
// power cut has lost the experiment too. Before anything is measured, Settle syncs
// the files of the layout.
var withoutSync = []string{"--innodb-flush-method=nosync", "--innodb-doublewrite=OFF", "--innodb-flush-log-at-trx-commit=0"}

// argumentsMySQL keep what MySQL lets lie elsewhere in the data directory, and tell it
// the directories in which files of tables may lie (DATA DIRECTORY).
func argumentsMySQL(dataDir string, dirs []string) []string {
	return []string{
		"--innodb-undo-directory=" + dataDir,
		"--innodb-doublewrite-dir=" + dataDir,
		"--innodb-directories=" + strings.Join(dirs, ";"),
	}
}

// The status of the redo log, in bytes since the server was created.
const (
	checkpointAt = "Innodb_redo_log_checkpoint_lsn"
	logAt        = "Innodb_redo_log_current_lsn"
)

// checkpointMySQL turns the redo log off and on: before the log covers anything again, the
// server writes every dirty page at once and moves the checkpoint behind them, within
// tens of ms (mtr_t::Logging::enable of storage/innobase/mtr/mtr0mtr.cc). Releases have no
// command for that (innodb_log_checkpoint_now is for debugging), and lower limits of
// dirty pages wait for the page cleaner, which looks once a second. Those pages go past the
// doublewrite files: a server that dies in between is lost, as is its trial in any case.
func checkpointMySQL(ctx context.Context, control *sql.DB) error {
	_, goal, err := redoStatus(ctx, control)
	if err != nil {
		return err
	}
	if err := redoOffAndOn(ctx, control); err != nil {
		return err
	}
	reached, _, err := redoStatus(ctx, control)
	if err == nil && reached < goal {
		err = fmt.Errorf("the checkpoint is at %d, before %d", reached, goal)
	}
	return err
}

func redoOffAndOn(ctx context.Context, control *sql.DB) error {
	_, err := control.ExecContext(ctx, redoOff)
	if _, on := control.ExecContext(context.WithoutCancel(ctx), redoOn); err == nil {
		err = on
	}
	return err
}

const (
	redoOff = "ALTER INSTANCE DISABLE INNODB REDO_LOG"
	redoOn  = "ALTER INSTANCE ENABLE INNODB REDO_LOG"
)

// redoStatus is how far the checkpoint and the redo log are.
func redoStatus(ctx context.Context, control *sql.DB) (reached, now uint64, err error) {
	status, err := Status(ctx, control, checkpointAt, logAt)
	if err != nil {
		return 0, 0, err
	}
	if reached, err = strconv.ParseUint(status[checkpointAt], 10, 64); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", checkpointAt, err)
	}
	if now, err = strconv.ParseUint(status[logAt], 10, 64); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", logAt, err)
	}
	return reached, now, nil
}
