package sqlite

import (
	"context"
	"maps"
	"os"
	"sync/atomic"
	"time"

	"filewise"
)

// counts are what one session has done and waited for. They are read while the
// session works.
type counts struct {
	transactions, rows atomic.Int64
	timeouts           atomic.Int64
	lock, log          timer    // for the write lock; for the log at a commit
	_                  [64]byte // sessions do not share a cache line
}

// From when a BEGIN IMMEDIATE has waited for the write lock: SQLite's handler polls,
// and its first pause is 1 ms. A COMMIT always has for the log.
const (
	leastLock = time.Millisecond
	leastLog  = 0
)

// fileCounts are what all sessions have done to one file.
type fileCounts struct {
	rows atomic.Int64
	_    [64]byte // files do not share a cache line
}

// countsOf are those of a file; d.mu is held.
func (d *database) countsOf(path string) *fileCounts {
	if d.fileCounts == nil {
		d.fileCounts = make(map[string]*fileCounts)
	}
	if d.fileCounts[path] == nil {
		d.fileCounts[path] = new(fileCounts)
	}
	return d.fileCounts[path]
}

// Name is the probe's name.
func (*database) Name() string { return Name }

// Read returns what all connections of this build have done so far.
func (d *database) Read(context.Context) ([]filewise.Counter, error) {
	all := d.allCounts()
	var transactions, rows, timeouts int64
	for _, c := range all {
		transactions += c.transactions.Load()
		rows += c.rows.Load()
		timeouts += c.timeouts.Load()
	}
	restarts, err := d.restarts.read(d.files)
	counters := []filewise.Counter{
		{Name: "transactions", Unit: "transactions", Value: float64(transactions)},
		{Name: "rows committed", Unit: "rows", Value: float64(rows)},
		{Name: "busy timeouts", Unit: "timeouts", Value: float64(timeouts)},
	}
	if err != nil {
		return counters, err
	}
	return append(counters, filewise.Counter{Name: "WAL restarts", Unit: "restarts", Value: float64(restarts)}), nil
}

// allCounts are those of every session that there was.
func (d *database) allCounts() []*counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return filewise.Each(d.workers, func(w *worker) *counts { return &w.counts })
}

// waitProbe reads what connections waited for, as Filewise has measured it around
// BEGIN IMMEDIATE and COMMIT: for the write lock of a file, and until a transaction
// was in its log, and synced where the durability wants that. A commit that finds
// the log full also carries the checkpoint.
type waitProbe struct{ d *database }

// Name is the probe's name.
func (waitProbe) Name() string { return filewise.ProbeWaits }

// Read returns the waits of all connections of this build: the number of those that
// have ended, and the time of those, too, that have not.
func (p waitProbe) Read(context.Context) ([]filewise.Counter, error) {
	var waits, waitNanos, commits, logNanos int64
	add := func(n, nanos *int64, t *timer, least time.Duration) {
		ended, spent := t.read(least)
		*n, *nanos = *n+ended, *nanos+spent
	}
	for _, c := range p.d.allCounts() {
		add(&waits, &waitNanos, &c.lock, leastLock)
		add(&commits, &logNanos, &c.log, leastLog)
	}
	return []filewise.Counter{
		{Name: "write lock", Unit: "s", Value: float64(waitNanos) / 1e9, Class: filewise.WaitLock},
		{Name: "write lock", Unit: "waits", Value: float64(waits), Class: filewise.WaitLock},
		{Name: "commit", Unit: "s", Value: float64(logNanos) / 1e9, Class: filewise.WaitLog},
		{Name: "commit", Unit: "waits", Value: float64(commits), Class: filewise.WaitLog},
	}, nil
}

// filesProbe reads what was committed to each file, and how it and its log have
// grown. SQLite counts no I/O by file.
type filesProbe struct{ d *database }

// Name is the probe's name.
func (filesProbe) Name() string { return filewise.ProbeFiles }

// Read returns the counters of every file. Rows are absent where the workload's
// transactions are of several files.
func (p filesProbe) Read(context.Context) ([]filewise.Counter, error) {
	d := p.d
	d.mu.Lock()
	rows := maps.Clone(d.fileCounts)
	d.mu.Unlock()
	var all []filewise.Counter
	for _, f := range d.files {
		info, err := os.Stat(f.path)
		if err != nil {
			return all, err
		}
		all = append(all, filewise.Counter{Name: filewise.FileGrown, Unit: "B", Value: float64(info.Size()), File: f.path})
		if c := rows[f.path]; c != nil {
			all = append(all, filewise.Counter{Name: filewise.FileRows, Unit: "rows", Value: float64(c.rows.Load()), File: f.path})
		}
	}
	return all, nil
}
