package managed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"filewise/engine/innodb/dialect"
)

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
