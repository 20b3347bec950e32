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

// With durability full the managed server writes a binary log, as a server that
// replicates does, and syncs it at each commit: each transaction is prepared and
// committed in order with the others, and waits for both logs. Why a product needs
// that, its FullNote explains.
const (
	binlogName = "fw-bin"
	// binlogBytes is the size at which a next file of the log is begun.
	binlogBytes = 128 * dialect.MiB
)

// binlog reports whether the server writes a binary log.
func (d *design) binlog() bool {
	return d.Target.Durability == filewise.DurabilityFull || d.Target.Durability == ""
}

func (d *design) binlogDir() string { return filepath.Join(d.log.dir, "binlog") }

// binlogRoom returns what the binary log of the program's work takes, in bytes; of
// work without an end, the log of a whole layout.
func (d *design) binlogRoom() int64 {
	if !d.binlog() {
		return 0
	}
	bytes := d.Program.WorkBytes
	if bytes == 0 {
		bytes = d.Layout.Data.Bytes
	}
	if d.Program.Loads() && !d.Grows() { // its load is not logged
		return dialect.MiB
	}
	if n := len(d.Program.Phases); n > 0 {
		bytes *= int64(n)
	}
	if d.Program.First().OpBytes == 0 { // the user's own SQL, of which nothing is known but what it fills
		return bytes + dialect.MiB
	}
	rows := bytes / d.Program.First().OpBytes
	return bytes + rows*d.Product.Files.BinlogPerRow + rows/int64(d.Program.First().CommitEvery)*d.Product.Files.BinlogPerCommit + dialect.MiB
}

// binlogFiles returns the files of the binary log as they lie on the storage.
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

// restoredDatabase is where tables are restored to that come back to their own server.
const restoredDatabase = Database + "_restored"

// beside verifies and discards what was restored into another database of the
// same server.
type beside struct{ instance *instance }

// Verify checks the restored tables.
func (b beside) Verify(ctx context.Context) error {
	return failed("verifying the restore", b.instance.verify(ctx, b.instance, restoredDatabase))
}

// Discard drops the restored tables and removes the backup.
func (b beside) Discard(ctx context.Context) error {
	d := b.instance.design
	errs := []error{b.instance.exec(ctx, "DROP DATABASE IF EXISTS "+dialect.Ident(restoredDatabase))}
	for _, dir := range d.backupDirs() {
		errs = append(errs, os.RemoveAll(dir))
	}
	for _, p := range d.data { // directories of DATA DIRECTORY, which the server leaves empty
		if err := os.Remove(filepath.Join(p.dir, restoredDatabase)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("discarding what was restored: %w", err))
		}
	}
	return errors.Join(errs...)
}
