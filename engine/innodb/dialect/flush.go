package dialect

import (
	"context"
	"database/sql"
	"time"

	"filewise"
)

const (
	dirtyPages  = "Innodb_buffer_pool_pages_dirty"
	doublewrote = "Innodb_dblwr_pages_written"
)

// flushLimits make the page cleaner write dirty pages as fast as the storage takes them. At the usual
// innodb_io_capacity a drain would measure that setting and not the files.
var flushLimits = []filewise.Fact{
	{Name: "innodb_io_capacity_max", Value: "1000000"}, {Name: "innodb_io_capacity", Value: "1000000"},
	{Name: "innodb_max_dirty_pages_pct_lwm", Value: "0"}, {Name: "innodb_max_dirty_pages_pct", Value: "0"},
}

func flushByLimitSQL() []string {
	return filewise.Each(flushLimits, func(f filewise.Fact) string { return "SET GLOBAL " + f.Name + " = " + f.Value })
}

// flushPoll is the time between two checks that all pages are written.
const flushPoll = 5 * time.Millisecond

// FlushByLimit makes the page cleaner write every dirty page, through the doublewrite files. It lowers the limit on
// dirty pages to zero until there are none, and then restores the settings. The page cleaner wakes once a second, and
// idle returns the time until it began. Use FlushByLimit only on managed servers.
func FlushByLimit(ctx context.Context, control *sql.DB) (idle time.Duration, err error) {
	before, err := Variables(ctx, control, filewise.Each(flushLimits, func(f filewise.Fact) string { return f.Name })...)
	if err != nil {
		return 0, err
	}
	defer func() {
		for n := len(flushLimits) - 1; n >= 0; n-- {
			name := flushLimits[n].Name
			if _, e := control.ExecContext(context.WithoutCancel(ctx), "SET GLOBAL "+name+" = "+before[name]); e != nil && err == nil {
				err = e
			}
		}
	}()
	for _, statement := range flushByLimitSQL() {
		if _, err := control.ExecContext(ctx, statement); err != nil {
			return 0, err
		}
	}
	if _, err := control.ExecContext(ctx, "FLUSH ENGINE LOGS"); err != nil {
		return 0, err
	}
	return awaitClean(ctx, control)
}

// awaitClean waits until no page is dirty, and returns the time until the page cleaner began.
func awaitClean(ctx context.Context, control *sql.DB) (idle time.Duration, err error) {
	start, first, began := time.Now(), map[string]string(nil), false
	for {
		status, err := Status(ctx, control, dirtyPages, doublewrote)
		if err != nil {
			return 0, err
		}
		if first == nil {
			first = status
		}
		// Pages are written to the doublewrite files before they become clean.
		if began = began || status[doublewrote] != first[doublewrote] || status[dirtyPages] == "0"; !began {
			idle = time.Since(start)
		}
		if status[dirtyPages] == "0" {
			return idle, nil
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(flushPoll):
		}
	}
}

// readCheckpoints reads how many times the log has wrapped around. InnoDB advances its checkpoint all the time. What
// comes in cycles is that the log fills up; from then on pages are written to free it.
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
