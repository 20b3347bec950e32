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

// flushLimits have the page cleaner write every dirty page, as fast as the storage takes them: at
// the usual innodb_io_capacity a drain would measure that setting, and not the files.
var flushLimits = []filewise.Fact{
	{Name: "innodb_io_capacity_max", Value: "1000000"}, {Name: "innodb_io_capacity", Value: "1000000"},
	{Name: "innodb_max_dirty_pages_pct_lwm", Value: "0"}, {Name: "innodb_max_dirty_pages_pct", Value: "0"},
}

func flushByLimitSQL() []string {
	return filewise.Each(flushLimits, func(f filewise.Fact) string { return "SET GLOBAL " + f.Name + " = " + f.Value })
}

// flushPoll sets how often it is looked whether all is written.
const flushPoll = 5 * time.Millisecond

// FlushByLimit has the page cleaner write every dirty page, through the doublewrite files: it
// lowers the limit of dirty pages to nothing until there are none, and restores the settings. The
// page cleaner looks once a second: idle is the time until it began. It is for managed servers
// alone.
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

// awaitClean waits until no page is dirty, and returns for how long the page cleaner had not begun.
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
		// Pages are in the doublewrite files before they are clean.
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
