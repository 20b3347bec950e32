package postgres

import (
	"context"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/sampling"
)

// readWaits counts what the sessions of this database and the server's own
// processes wait for. It asks the function below pg_stat_activity, whose columns are
// the same since PostgreSQL 10, and so spares the view's joins.
const readWaits = `
SELECT coalesce(backend_type, ''), coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
  FROM pg_stat_get_activity(NULL)
 WHERE pid <> pg_backend_pid() AND (datid IS NULL OR datid = 0 OR datid = (SELECT oid FROM pg_database WHERE datname = current_database()))
   AND wait_event IS NOT NULL
 GROUP BY 1, 2, 3`

// watcher looks, on a connection of its own, at what is waited for.
type watcher struct {
	link *link

	mu     sync.Mutex
	conn   *pgx.Conn // nil: not yet, or broken
	closed bool
}

// look counts the processes by what they wait for. Where the server was restarted
// meanwhile, it connects again.
func (w *watcher) look(ctx context.Context) (sampling.Seen, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh := w.conn == nil
	seen, err := w.ask(ctx)
	if err != nil && !fresh && ctx.Err() == nil {
		seen, err = w.ask(ctx)
	}
	return seen, err
}

const waitsName = "fw_waits"

func (w *watcher) ask(ctx context.Context) (seen sampling.Seen, err error) {
	if w.conn == nil {
		if w.closed {
			return seen, w.link.why(errClosed)
		}
		if w.conn, err = pgx.ConnectConfig(ctx, w.link.config); err == nil {
			_, err = w.conn.Prepare(ctx, waitsName, readWaits)
		}
	}
	var rows pgx.Rows
	if err == nil {
		rows, err = w.conn.Query(ctx, waitsName)
	}
	if err == nil {
		seen, err = seenIn(rows)
	}
	if err != nil {
		w.drop()
		return seen, w.link.done(ctx, readWaits, err)
	}
	return seen, nil
}

func seenIn(rows pgx.Rows) (sampling.Seen, error) {
	seen := make(sampling.Seen)
	var backend, kind, name string
	var n int
	_, err := pgx.ForEachRow(rows, []any{&backend, &kind, &name, &n}, func() error {
		if e, ok := eventOf(backend, kind, name); ok {
			seen[e] += n
		}
		return nil
	})
	return seen, err
}

func (w *watcher) drop() {
	if w.conn != nil {
		_ = w.conn.Close(context.Background()) // it is broken, or not wanted any more
		w.conn = nil
	}
}

func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.drop()
}

// eventOf classifies a wait; ok is false of the benign ones, which docs/waits.md
// lists with the reasons: processes that have nothing to do, and sleeps that are
// meant to be.
func eventOf(backend, kind, name string) (e sampling.Event, ok bool) {
	class := classOf(kind, strings.ToLower(name))
	if class == "" {
		return e, false
	}
	e = sampling.Event{Name: kind + "/" + name, Class: class}
	if !isSession(backend) {
		e.Name, e.Background = backend+" "+e.Name, true
	}
	return e, true
}

// classOf is the class of a wait (PostgreSQL's documentation, 27.2 “The Cumulative
// Statistics System”, tables “Wait Events of Type …”); empty: it is benign. Names
// are in lower case: PostgreSQL 17 has changed that of some.
func classOf(kind, name string) filewise.WaitClass {
	switch kind {
	case "Activity":
		return ""
	case "Client":
		if name == "clientread" {
			return ""
		}
		return filewise.WaitNetwork
	case "Lock":
		if name == "extend" {
			return filewise.WaitAllocation
		}
		return filewise.WaitLock
	case "LWLock":
		if strings.HasPrefix(name, "wal") {
			return filewise.WaitLog
		}
		return filewise.WaitLatch
	case "BufferPin", "Buffer":
		return filewise.WaitLatch
	case "IO":
		return ioClass(name)
	case "IPC":
		return ipcClass(name)
	case "Timeout":
		return timeoutClass(name)
	}
	return filewise.WaitOther
}

func ioClass(name string) filewise.WaitClass {
	switch {
	case name == "datafileread", name == "datafileprefetch", name == "slruread", strings.HasPrefix(name, "aio"):
		return filewise.WaitDataRead
	case strings.HasPrefix(name, "datafile"), strings.HasPrefix(name, "slru"), strings.HasPrefix(name, "relationmap"):
		return filewise.WaitDataWrite
	case strings.HasPrefix(name, "wal"), strings.HasPrefix(name, "timelinehistory"), strings.HasPrefix(name, "twophasefile"):
		return filewise.WaitLog
	case strings.HasPrefix(name, "buffile"):
		return filewise.WaitTemp
	}
	return filewise.WaitOther
}

func ipcClass(name string) filewise.WaitClass {
	switch {
	case name == "bufferio":
		return filewise.WaitDataRead
	case strings.HasPrefix(name, "checkpoint"):
		return filewise.WaitCheckpoint
	case name == "procarraygroupupdate", name == "xactgroupupdate", name == "clogroupupdate":
		return filewise.WaitLatch
	case name == "syncrep", strings.HasPrefix(name, "walreceiver"):
		return filewise.WaitNetwork
	}
	return filewise.WaitOther
}

func timeoutClass(name string) filewise.WaitClass {
	switch name {
	case "registersyncrequest":
		return filewise.WaitCheckpoint
	case "spindelay":
		return filewise.WaitLatch
	}
	return "" // a sleep that is meant to be: pg_sleep, vacuum's and checkpoint's delays
}
