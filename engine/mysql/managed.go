package mysql

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"filewise/engine/internal/innodb"
	"filewise/engine/internal/innodb/private"
)

// create has the server create its data directory, with one account that only a
// password made for this build opens. It comes through standard input, so that
// it is never written down.
func create(_ private.Install, password string) (private.Creation, error) {
	return private.Creation{
		Args:  append([]string{"--initialize-insecure", "--init-file=/dev/stdin"}, hasty...),
		Stdin: "ALTER USER root@localhost IDENTIFIED BY " + innodb.Literal(password) + ";\n",
	}, nil
}

// hasty is how a data directory is created without a sync: who would lose it to a
// power cut has lost the experiment too. Before anything is measured, Settle syncs
// the files of the layout.
var hasty = []string{"--innodb-flush-method=nosync", "--innodb-doublewrite=OFF", "--innodb-flush-log-at-trx-commit=0"}

// arguments keep what MySQL lets lie elsewhere in the data directory, and tell it
// the directories in which files of tables may lie (DATA DIRECTORY).
func arguments(dataDir string, dirs []string) []string {
	return []string{
		"--innodb-undo-directory=" + dataDir,
		"--innodb-doublewrite-dir=" + dataDir,
		"--innodb-directories=" + strings.Join(dirs, ";"),
	}
}

// checkpoint has the page cleaner write every dirty page until the checkpoint has
// passed all that was done before: releases of MySQL have no command for that
// (innodb_log_checkpoint_now is for debugging). The log never stands still, since
// a checkpoint itself logs; so dirty pages that come later are not waited for.
func checkpoint(ctx context.Context, control *sql.DB) error {
	const at, now = "Innodb_redo_log_checkpoint_lsn", "Innodb_redo_log_current_lsn"
	lsn := func(name string) (uint64, error) {
		status, err := private.Status(ctx, control, name)
		if err != nil {
			return 0, err
		}
		return strconv.ParseUint(status[name], 10, 64)
	}
	goal, err := lsn(now)
	if err != nil {
		return err
	}
	return private.WithoutDirty(ctx, control, func() (bool, error) {
		reached, err := lsn(at)
		return reached >= goal, err
	})
}
