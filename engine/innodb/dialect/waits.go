package dialect

import (
	"context"
	"database/sql"
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
		seen, err := look(ctx, link.Control, database)
		return seen, link.Explain(err)
	})
}

// readStates lists all sessions. An account always sees its own. A table of
// information_schema has the same columns, and costs a server several times as much
// of a processor, for it is written first.
const readStates = "SHOW PROCESSLIST"

func look(ctx context.Context, db *sql.DB, database string) (sampling.Seen, error) {
	seen := make(sampling.Seen)
	rows, err := db.QueryContext(ctx, readStates)
	if err != nil {
		return seen, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return seen, err
	}
	values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	at := map[string]int{} // of a column
	for n, name := range columns {
		into[n], at[strings.ToLower(name)] = &values[n], n
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return seen, err
		}
		if command := string(values[at["command"]]); string(values[at["db"]]) != database || command != "Query" && command != "Execute" {
			continue
		}
		state := string(values[at["state"]])
		if class := classOfState(state); class != "" { // looking itself has none
			seen[sampling.Event{Name: "state/" + strings.ToLower(state), Class: class}]++
		}
	}
	return seen, rows.Err()
}

// classOfState is the class of a state of a session (“Thread States” of both
// manuals); empty: it works, or nobody can tell. A session that commits does
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

// readStatus reads those of the named numbers that the server has.
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
