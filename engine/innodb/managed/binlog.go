package managed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// With durability full the managed server writes a binary log, as a replicating server does, and syncs it at each
// commit. Each transaction is prepared and committed in order with the others, and waits for both logs. The product's
// FullNote explains why that is needed.
const (
	binlogName = "fw-bin"
	// binlogBytes is the size at which the log continues in a new file.
	binlogBytes = 128 * dialect.MiB
)

// binlog reports whether the server writes a binary log.
func (d *design) binlog() bool {
	return d.Target.Durability == filewise.DurabilityFull || d.Target.Durability == ""
}

func (d *design) binlogDir() string { return filepath.Join(d.log.dir, "binlog") }

// binlogRoom returns the size of the binary log of the program's work, in bytes. If the work has no end, it is the log
// of filling the whole layout.
func (d *design) binlogRoom() int64 {
	if !d.binlog() {
		return 0
	}
	bytes := d.Program.WorkBytes
	if bytes == 0 {
		bytes = d.Layout.Data.Bytes
	}
	if d.Program.Loads() && !d.Grows() { // the load is not logged
		return dialect.MiB
	}
	if n := len(d.Program.Phases); n > 0 {
		bytes *= int64(n)
	}
	if d.Program.First().OpBytes == 0 { // the user's own SQL; only how much it fills is known
		return bytes + dialect.MiB
	}
	rows := bytes / d.Program.First().OpBytes
	return bytes + rows*d.Product.Files.BinlogPerRow + rows/int64(d.Program.First().CommitEvery)*d.Product.Files.BinlogPerCommit + dialect.MiB
}

// binlogFiles returns the files of the binary log on the storage.
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

// restoredDatabase is the database to which tables are restored on their own server.
const restoredDatabase = Database + "_restored"

// sameServer verifies and discards what was restored into another database of the same server.
type sameServer struct{ instance *instance }

// Verify checks the restored tables.
func (b sameServer) Verify(ctx context.Context) error {
	return failed("verifying the restore", b.instance.verify(ctx, b.instance, restoredDatabase))
}

// Discard drops the restored tables and removes the backup.
func (b sameServer) Discard(ctx context.Context) error {
	d := b.instance.design
	errs := []error{b.instance.exec(ctx, "DROP DATABASE IF EXISTS "+dialect.Ident(restoredDatabase))}
	for _, dir := range d.backupDirs() {
		errs = append(errs, os.RemoveAll(dir))
	}
	for _, p := range d.data { // directories of DATA DIRECTORY, which the server leaves behind empty
		if err := os.Remove(filepath.Join(p.dir, restoredDatabase)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("discarding what was restored: %w", err))
		}
	}
	return errors.Join(errs...)
}
