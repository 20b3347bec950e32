package mariadb

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
)

// With durability full the private server writes a binary log, as a server that
// replicates does, and syncs it at each commit. Without one a commit does not
// wait: since MariaDB 10.6 (MDEV-24341) InnoDB only asks for the redo log to be
// synced, and the connection waits for that when its command ends
// (trx_flush_log_if_needed_low in storage/innobase/trx/trx0trx.cc,
// innodb_thd_increment_pending_ops). Our command is a CALL of many commits, and
// all of them would share one wait. Through the binary log each transaction is
// prepared and committed in order with the others, and waits for both logs.
const (
	binlogName = "fw-bin"
	// binlogBytes is the size at which a next file of the log is begun.
	binlogBytes = 128 * innodb.MiB
	// emptyBinlog is the size of a file of the log before the first transaction.
	emptyBinlog = 330
	// What the log has of a row and of a transaction besides the payload: events
	// of GTID, statement text, table map, rows and XID. Measured on MariaDB 10.11.
	binlogPerRow, binlogPerCommit = 32, 400
)

// binlog says whether the server writes a binary log.
func (d *design) binlog() bool {
	return d.target.Durability == filewise.DurabilityFull || d.target.Durability == ""
}

func (d *design) binlogDir() string { return filepath.Join(d.dirs[0], "binlog") }

// binlogRoom is what the binary log of the program's work takes, in bytes; of
// work without an end, that of a whole layout.
func (d *design) binlogRoom() int64 {
	if !d.binlog() {
		return 0
	}
	bytes := d.program.WorkBytes
	if bytes == 0 {
		bytes = d.layout.Data.Bytes
	}
	rows := bytes / max(d.program.OpBytes, 1)
	return bytes + rows*binlogPerRow + rows/int64(d.program.CommitEvery)*binlogPerCommit + innodb.MiB
}

// binlogFiles are the files of the binary log as they lie on the storage.
func (d *design) binlogFiles() ([]string, error) {
	if !d.binlog() {
		return nil, nil
	}
	entries, err := os.ReadDir(d.binlogDir())
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), binlogName+".") {
			files = append(files, filepath.Join(d.binlogDir(), e.Name()))
		}
	}
	slices.Sort(files)
	return files, nil
}
