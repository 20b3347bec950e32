package probes

import (
	"context"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/sampling"
	"filewise/engine/postgres/client"
)

// watcher samples waits on a separate connection.
type watcher struct {
	link *client.Link

	mu     sync.Mutex
	conn   *pgx.Conn // nil if not connected yet, or broken
	closed bool
}

// look counts the processes by what they wait for. It connects again if the server was restarted.
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
			return seen, w.link.Why(client.ErrClosed)
		}
		if w.conn, err = pgx.ConnectConfig(ctx, w.link.Config); err == nil {
			_, err = w.conn.Prepare(ctx, waitsName, queries.Text("waits"))
		}
	}
	var rows [][]any
	if err == nil {
		rows, err = client.Collect(w.conn.Query(ctx, waitsName))
	}
	if err != nil {
		w.drop()
		return nil, w.link.Done(ctx, queries.Text("waits"), err)
	}
	return SeenIn(rows), nil
}

// SeenIn returns the waits that count. rows hold backend, type, event and number.
func SeenIn(rows [][]any) sampling.Seen {
	seen := make(sampling.Seen)
	for _, row := range rows {
		if e, ok := eventOf(client.Text(row[0]), client.Text(row[1]), client.Text(row[2])); ok {
			n, _ := row[3].(int64)
			seen[e] += int(n)
		}
	}
	return seen
}

func (w *watcher) drop() {
	if w.conn != nil {
		_ = w.conn.Close(context.Background()) // the connection is broken or no longer needed
		w.conn = nil
	}
}

func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.drop()
}

// eventOf classifies a wait. ok is false for benign waits, which docs/waits.md lists with the reasons: idle processes
// and intended sleeps.
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

// classOf returns the class of a wait, or "" if the wait is benign (PostgreSQL's documentation, 27.2 “The Cumulative
// Statistics System”, tables “Wait Events of Type …”). Names are in lower case, because PostgreSQL 17 has changed some.
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
	return "" // an intended sleep: pg_sleep, vacuum's and checkpoint's delays
}
