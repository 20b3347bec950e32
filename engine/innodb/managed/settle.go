package managed

import (
	"context"
	"fmt"

	"filewise/internal/filesystem"
)

// Settle leaves nothing dirty: what is committed is in the data files, the redo
// log is checkpointed, and the files are synced to the storage.
func (i *instance) Settle(ctx context.Context) error {
	p, control, err := i.running()
	if err != nil {
		return err
	}
	if err := i.design.Product.Managed.Checkpoint(ctx, control); err != nil {
		return i.why(p, failed("checkpoint", err))
	}
	if err := i.design.Spell(ctx, control); err != nil {
		return err
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
	for _, f := range d.Files {
		if err := filesystem.SyncFile(f.Path); err != nil {
			return fmt.Errorf("syncing: %w", err)
		}
	}
	return nil
}
