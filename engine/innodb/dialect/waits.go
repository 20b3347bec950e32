package dialect

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/sampling"
)

// NewWaits returns a sampler of the waits of a database's sessions. It reads the state of each from the process list.
func NewWaits(host Host, database string) *sampling.Sampler {
	return sampling.New(func(ctx context.Context) (sampling.Seen, error) {
		link, err := host.Link()
		if err != nil {
			return nil, err
		}
		seen, silent, err := look(ctx, link.Control, database)
		if err == nil && silent > 0 && link.Busy != nil {
			err = addFlushing(ctx, link, silent, seen)
		}
		return seen, link.Explain(err)
	})
}

// fullLog is the part of the log from which sessions wait until a checkpoint has freed some (log_free_check in
// storage/innobase/include/log0log.h). fewFree is the number of free pages that counts as none: the page cleaner wakes
// sessions only when it has freed more.
const (
	fullLog = 0.9
	fewFree = 64
)

// addFlushing adds the sessions that wait for InnoDB's page cleaner, which no server reports. It counts the sessions
// that show no waiting state, less those that wait for rows and the threads that run or wait for a device.
func addFlushing(ctx context.Context, link Link, silent int, seen sampling.Seen) error {
	busy, err := link.Busy()
	if err != nil || silent <= busy {
		return nil //nolint:nilerr // then such waits look like work
	}
	const age, maxAge, free, rows = "Innodb_checkpoint_age", "Innodb_checkpoint_max_age", "Innodb_buffer_pool_pages_free",
		"Innodb_row_lock_current_waits"
	x, err := readStatus(ctx, link.Control, age, maxAge, free, rows)
	if err != nil {
		return err
	}
	waiting := silent - busy - int(x[rows])
	pages, known := x[free]
	switch {
	case waiting <= 0:
	case x[maxAge] > 0 && x[age] >= fullLog*x[maxAge]:
		seen[sampling.Event{Name: "checkpoint age", Class: filewise.WaitCheckpoint}] += waiting
	case known && pages <= fewFree:
		seen[sampling.Event{Name: "free page", Class: filewise.WaitMemory}] += waiting
	}
	return nil
}

// readStates lists all sessions; an account always sees its own. A table of information_schema has the same columns. It
// takes several times as much of the server's CPU time, because the server first writes the table.
const readStates = "SHOW PROCESSLIST"

// look counts who waits for what. silent counts sessions that work, or whose wait no state shows.
func look(ctx context.Context, db *sql.DB, database string) (seen sampling.Seen, silent int, err error) {
	seen = make(sampling.Seen)
	rows, err := db.QueryContext(ctx, readStates)
	if err != nil {
		return seen, 0, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return seen, 0, err
	}
	values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	at := map[string]int{} // index of each column
	for n, name := range columns {
		into[n], at[strings.ToLower(name)] = &values[n], n
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return seen, 0, err
		}
		if command := string(values[at["command"]]); string(values[at["db"]]) != database || command != "Query" && command != "Execute" {
			continue
		}
		state := string(values[at["state"]])
		if class := classOfState(state); class != "" { // the session that looks has no such state
			seen[sampling.Event{Name: "state/" + strings.ToLower(state), Class: class}]++
		} else {
			silent++
		}
	}
	return seen, silent, rows.Err()
}

// classOfState returns the class of a session's state (“Thread States” in both manuals). It returns "" if the session
// works or the state is unknown. A committing session only writes and syncs logs, or waits for the session that does so
// for its group.
func classOfState(state string) filewise.WaitClass {
	state = strings.ToLower(state)
	has := func(part string) bool { return strings.Contains(state, part) }
	switch {
	case state == "commit", has("handler commit"), has("prior transaction to commit"), has("binlog to be"), has("log flush"):
		return filewise.WaitLog
	case has("semi-sync"), state == "writing to net", state == "reading from net", state == "sending to client":
		return filewise.WaitNetwork
	case has("on disk"):
		return filewise.WaitTemp
	case has("query cache lock"):
		return filewise.WaitLatch
	case strings.HasPrefix(state, "waiting") && has("lock"), state == "system lock", state == "user lock":
		return filewise.WaitLock
	case strings.HasPrefix(state, "waiting"):
		return filewise.WaitOther
	}
	return ""
}

// ReadStatusWaits reads the waits that InnoDB sums itself, for the whole server. For row locks it has number and time.
// For space in the log's buffer, free pages and latches it has only the number, because their time is not measured.
func ReadStatusWaits(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	values, err := readStatus(ctx, db, "Innodb_row_lock_waits", "Innodb_row_lock_time", "Innodb_log_waits", "Innodb_buffer_pool_wait_free")
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, c := range []struct {
		variable string
		factor   float64
		counter  filewise.Counter
	}{
		{"Innodb_row_lock_time", 1e-3, filewise.Counter{Name: "row locks", Unit: "s", Class: filewise.WaitLock}},
		{"Innodb_row_lock_waits", 1, filewise.Counter{Name: "row locks", Unit: "waits", Class: filewise.WaitLock}},
		{"Innodb_log_waits", 1, filewise.Counter{Name: "log buffer full", Unit: "waits", Class: filewise.WaitLog}},
		{"Innodb_buffer_pool_wait_free", 1, filewise.Counter{Name: "free page", Unit: "waits", Class: filewise.WaitMemory}},
	} {
		if x, ok := values[c.variable]; ok {
			c.counter.Value = x * c.factor
			all = append(all, c.counter)
		}
	}
	latches, err := semaphores(ctx, db)
	return append(all, latches...), err
}

// readStatus returns the named numbers; numbers that the server lacks are absent.
func readStatus(ctx context.Context, db *sql.DB, names ...string) (map[string]float64, error) {
	texts, err := Status(ctx, db, names...)
	values := make(map[string]float64)
	for name, text := range texts {
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			values[name] = x
		}
	}
	return values, err
}

// counters lists cumulative counters of InnoDB and of the binary log. They show where writes went and what they waited
// for (documentation of both: “InnoDB Status Variables”, “Server Status Variables”).
var counters = map[string]string{
	"Innodb_data_written":        "bytes",
	"Innodb_data_writes":         "writes",
	"Innodb_data_fsyncs":         "syncs",
	"Innodb_data_read":           "bytes",
	"Innodb_pages_written":       "pages",
	"Innodb_pages_created":       "pages",
	"Innodb_dblwr_pages_written": "pages",
	"Innodb_os_log_written":      "bytes",
	"Innodb_os_log_fsyncs":       "syncs",
	"Innodb_log_writes":          "writes",
	"Innodb_log_write_requests":  "requests",
	"Innodb_log_waits":           "waits",
	// How far the log is written, and how far its checkpoint is: for MariaDB, for MySQL.
	"Innodb_lsn_current":             "bytes",
	"Innodb_lsn_last_checkpoint":     "bytes",
	"Innodb_redo_log_current_lsn":    "bytes",
	"Innodb_redo_log_checkpoint_lsn": "bytes",
	"Innodb_buffer_pool_wait_free":   "waits",
	"Innodb_buffer_pool_reads":       "pages",
	"Innodb_row_lock_waits":          "waits",
	"Innodb_row_lock_time":           "ms",
	"Innodb_rows_inserted":           "rows",
	"Binlog_commits":                 "commits",
	"Binlog_group_commits":           "groups", // each is written and synced once
}

func readCounters(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	values, err := readStatus(ctx, db, slices.Sorted(maps.Keys(counters))...)
	var all []filewise.Counter
	for name, x := range values {
		all = append(all, filewise.Counter{Name: name, Unit: counters[name], Value: x})
	}
	return all, err
}

// readSemaphores queries how often a thread had to sleep for one of InnoDB's read-write latches, all kinds together.
// MySQL always counts them; MariaDB has not since 10.6. SHOW ENGINE INNODB STATUS has the same numbers, but it blocks
// transactions while it lists them.
const readSemaphores = "SELECT SUM(COUNT) FROM information_schema.INNODB_METRICS" +
	" WHERE NAME IN ('innodb_rwlock_s_os_waits', 'innodb_rwlock_x_os_waits', 'innodb_rwlock_sx_os_waits')"

// semaphores returns no counters if the server lacks them or the account cannot read them.
func semaphores(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	var waits sql.NullFloat64
	err := db.QueryRowContext(ctx, readSemaphores).Scan(&waits)
	if is(err, accessDenied) {
		return nil, nil
	}
	if err != nil || !waits.Valid {
		return nil, err
	}
	return []filewise.Counter{{Name: "read-write latches", Unit: "waits", Value: waits.Float64, Class: filewise.WaitLatch}}, nil
}
