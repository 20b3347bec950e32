package dialect

import (
	"context"
	"database/sql"
	"time"

	"filewise"
)

const dirtyPages = "Innodb_buffer_pool_pages_dirty"

// FlushByLimit has the page cleaner write every dirty page at full speed: it lowers the
// limit of dirty pages to nothing until there are none, and restores the settings. It is
// for managed servers alone.
func FlushByLimit(ctx context.Context, control *sql.DB) (err error) {
	names := []string{"innodb_io_capacity_max", "innodb_io_capacity", "innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"}
	wanted := []string{"1000000", "1000000", "0", "0"}
	before, err := Variables(ctx, control, names...)
	if err != nil {
		return err
	}
	defer func() {
		for n := len(names) - 1; n >= 0; n-- {
			if _, e := control.ExecContext(context.WithoutCancel(ctx), "SET GLOBAL "+names[n]+" = "+before[names[n]]); e != nil && err == nil {
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
		if status, err := Status(ctx, control, dirtyPages); err != nil || status[dirtyPages] == "0" {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// readCheckpoints reads how far the log has gone round. InnoDB moves its checkpoint all the
// time; what comes in cycles is that the log's room is used up, from when on pages are
// written because of it.
func readCheckpoints(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	var names []string
	for _, p := range Products() {
		names = append(names, p.LogEnd, p.LogRoom)
	}
	values, err := readStatus(ctx, db, names...)
	if err != nil {
		return nil, err
	}
	return cyclesOf(values), nil
}

func cyclesOf(values map[string]float64) []filewise.Counter {
	for _, p := range Products() {
		if end, room := values[p.LogEnd], values[p.LogRoom]; end > 0 && room > 0 {
			return []filewise.Counter{{Name: filewise.CheckpointCycles, Unit: "cycles", Value: end / room}}
		}
	}
	return nil
}
