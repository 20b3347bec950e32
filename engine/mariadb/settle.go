package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

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
	if err := checkpoint(ctx, control); err != nil {
		return i.why(p, failed("checkpoint", err))
	}
	if err := i.design.sync(); err != nil {
		return err
	}
	i.settled.Store(true)
	return nil
}

// checkpoint flushes all of InnoDB. Releases of 10.11 and later do that on one
// command; before, the limit of dirty pages is lowered to nothing for a while.
func checkpoint(ctx context.Context, control *sql.DB) error {
	var name, value string
	err := control.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES LIKE 'innodb_log_checkpoint_now'").Scan(&name, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return flushByLimit(ctx, control)
	}
	if err != nil {
		return err
	}
	_, err = control.ExecContext(ctx, "SET GLOBAL innodb_log_checkpoint_now = ON")
	return err
}

// flushByLimit has the page cleaner write every dirty page at full speed, and
// restores its settings.
func flushByLimit(ctx context.Context, control *sql.DB) (err error) {
	names := []string{"innodb_io_capacity_max", "innodb_io_capacity", "innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"}
	wanted := []string{"1000000", "1000000", "0", "0"}
	before := make([]string, len(names))
	for n, name := range names {
		if err := control.QueryRowContext(ctx, "SELECT @@GLOBAL."+name).Scan(&before[n]); err != nil {
			return err
		}
	}
	defer func() {
		for n := len(names) - 1; n >= 0; n-- {
			if _, e := control.ExecContext(context.WithoutCancel(ctx), "SET GLOBAL "+names[n]+" = "+before[n]); e != nil && err == nil {
				err = e
			}
		}
	}()
	for n, name := range names {
		if _, err := control.ExecContext(ctx, "SET GLOBAL "+name+" = "+wanted[n]); err != nil {
			return err
		}
	}
	if _, err := control.ExecContext(ctx, "FLUSH ENGINE LOGS"); err != nil {
		return err
	}
	for {
		var name string
		var dirty int64
		if err := control.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'").Scan(&name, &dirty); err != nil {
			return err
		}
		if dirty == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
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
