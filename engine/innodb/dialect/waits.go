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

// NewWaits makes the sampler of what the sessions of a database wait for, by the
// state that the list of processes has of each.
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

// fullLog is the part of the log's room from which sessions wait until a checkpoint has given some
// back (log_free_check in storage/innobase/include/log0log.h), and fewFree how many free pages are none: the page
// cleaner wakes sessions when it has freed more.
const (
	fullLog = 0.9
	fewFree = 64
)

// addFlushing adds the sessions that wait for InnoDB's page cleaner, which no server reports. It counts the sessions
// without a state of waiting, less the sessions that wait for rows and the threads that run or wait for a device.
func addFlushing(ctx context.Context, link Link, silent int, seen sampling.Seen) error {
	busy, err := link.Busy()
	if err != nil || silent <= busy {
		return nil //nolint:nilerr // it cannot be told apart from work then
	}
	const age, room, free, rows = "Innodb_checkpoint_age", "Innodb_checkpoint_max_age", "Innodb_buffer_pool_pages_free",
		"Innodb_row_lock_current_waits"
	x, err := readStatus(ctx, link.Control, age, room, free, rows)
	if err != nil {
		return err
	}
	waiting := silent - busy - int(x[rows])
	pages, known := x[free]
	switch {
	case waiting <= 0:
	case x[room] > 0 && x[age] >= fullLog*x[room]:
		seen[sampling.Event{Name: "checkpoint age", Class: filewise.WaitCheckpoint}] += waiting
	case known && pages <= fewFree:
		seen[sampling.Event{Name: "free page", Class: filewise.WaitMemory}] += waiting
	}
	return nil
}

// readStates lists all sessions. An account always sees its own. A table of
// information_schema has the same columns, and costs a server several times as much
// of a processor, for it is written first.
const readStates = "SHOW PROCESSLIST"

// look returns who waits for what, and how many sessions work or wait for what no state shows.
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
	at := map[string]int{} // of a column
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
		if class := classOfState(state); class != "" { // looking itself has none
			seen[sampling.Event{Name: "state/" + strings.ToLower(state), Class: class}]++
		} else {
			silent++
		}
	}
	return seen, silent, rows.Err()
}

// classOfState returns the class of a state of a session (“Thread States” of both
// manuals). If empty, it works, or it is unknown. A session that commits does
// nothing but write and sync logs, or wait for who does that for the group.
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

// ReadStatusWaits reads the waits that InnoDB adds up by itself, of the whole
// server: for locks of rows their number and time; for room in the log's buffer, for
// a free page and for latches their number, for the time is not measured.
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

// readStatus reads the named numbers, as far as the server has them.
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

// counters are the cumulative counters of InnoDB and of the binary log that say
// where writes went and what was waited for (documentation of both: “InnoDB
// Status Variables”, “Server Status Variables”).
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
	// How far the log was written, and its checkpoint came: of MariaDB, of MySQL.
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
	"Binlog_group_commits":           "groups", // each written and synced at once
}

func readCounters(ctx context.Context, db *sql.DB) ([]filewise.Counter, error) {
	values, err := readStatus(ctx, db, slices.Sorted(maps.Keys(counters))...)
	var all []filewise.Counter
	for name, x := range values {
		all = append(all, filewise.Counter{Name: name, Unit: counters[name], Value: x})
	}
	return all, err
}

// readSemaphores is the number of times that a thread had to sleep for one of
// InnoDB's read-write latches, of all kinds together: MySQL counts them always,
// MariaDB not since 10.6. SHOW ENGINE INNODB STATUS has the same numbers, and is
// not read: it holds the transactions up while it lists them.
const readSemaphores = "SELECT SUM(COUNT) FROM information_schema.INNODB_METRICS" +
	" WHERE NAME IN ('innodb_rwlock_s_os_waits', 'innodb_rwlock_x_os_waits', 'innodb_rwlock_sx_os_waits')"

// semaphores are absent if the server or the account has none.
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
