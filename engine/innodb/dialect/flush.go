package dialect

import (
	"context"
	"database/sql"
	"maps"
	"time"

	"filewise"
)

const dirtyPages = "Innodb_buffer_pool_pages_dirty"

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
// dirty pages to zero until there are none, and then restores the settings. MySQL's page cleaner wakes once a second,
// and idle returns how long it slept. Use FlushByLimit only on managed servers.
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

// awaitClean waits until no page is dirty, and returns how long the page cleaner slept meanwhile.
func awaitClean(ctx context.Context, control *sql.DB) (idle time.Duration, err error) {
	var p pause
	for {
		status, err := Status(ctx, control, dirtyPages, "Innodb_data_writes", "Innodb_data_fsyncs", "Innodb_dblwr_pages_written",
			pendingWrites, pendingFsyncs)
		if err != nil {
			return 0, err
		}
		var busy float64
		if err := control.QueryRowContext(ctx, fileTime).Scan(&busy); err != nil {
			return 0, err
		}
		idle += p.next(time.Now(), status, time.Duration(busy*Picosecond*float64(time.Second)))
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

const (
	pendingWrites = "Innodb_data_pending_writes"
	pendingFsyncs = "Innodb_data_pending_fsyncs"
	// fileTime reads how long InnoDB's calls to files that have returned took in all. Pending counters leave out the
	// calls that sync the doublewrite files.
	fileTime = "SELECT COALESCE(SUM(SUM_TIMER_WAIT), 0) FROM performance_schema.file_summary_by_event_name " +
		"WHERE EVENT_NAME LIKE 'wait/io/file/innodb/%'"
	// leastPause is longer than the page cleaner takes from one batch of pages to the next.
	leastPause = 50 * time.Millisecond
)

// pause finds the times in which the page cleaner sleeps: no counter of writes moves, none is pending, and no call to a
// file is under way. The zero value is ready for the first sample.
type pause struct {
	since, last time.Time
	status      map[string]string
	busy        time.Duration
}

// next takes a sample, and returns the length of the pause that it ends, or 0. Busy is the time of InnoDB's calls to
// files. If it is 0, the server does not count it, and no pause is found.
func (p *pause) next(now time.Time, status map[string]string, busy time.Duration) (ended time.Duration) {
	if maps.Equal(status, p.status) && status[pendingWrites] == "0" && status[pendingFsyncs] == "0" {
		p.last = now
		return 0
	}
	length := p.last.Sub(p.since)
	if length < leastPause || busy == 0 || busy-p.busy >= length/2 {
		length = 0
	}
	*p = pause{now, now, status, busy}
	return length
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
		if end, limit := values[p.LogEnd], values[p.LogRoom]; end > 0 && limit > 0 {
			return []filewise.Counter{{Name: filewise.CheckpointCycles, Unit: "cycles", Value: end / limit}}
		}
	}
	return nil
}
