package private

import (
	"context"
	"fmt"
	"os"
)

type settler struct{ instance *instance }

// Settle leaves nothing dirty: what is committed is in the data files, the redo
// log is checkpointed, and the files are synced to the storage.
func (s settler) Settle(ctx context.Context) error {
	i := s.instance
	p, control, err := i.running()
	if err != nil {
		return err
	}
	if err := i.design.product.Checkpoint(ctx, control); err != nil {
		return i.why(p, failed("checkpoint", err))
	}
	if err := i.design.sync(); err != nil {
		return err
	}
	i.settled.Store(true)
	return nil
}

// sync syncs the data files: with innodb_flush_method=O_DIRECT_NO_FSYNC InnoDB
// itself does not.
func (d *design) sync() error {
	for _, f := range d.files {
		file, err := os.Open(f.path)
		if err != nil {
			return fmt.Errorf("syncing: %w", err)
		}
		err = file.Sync()
		file.Close()
		if err != nil {
			return fmt.Errorf("syncing %s: %w", f.path, err)
		}
	}
	return nil
}
