package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"filewise"
)

// counts holds what one session has done and waited for. It is read while the session works.
type counts struct {
	transactions, rows atomic.Int64
	timeouts           atomic.Int64
	lock, log          timer    // for the write lock; for the log at a commit
	_                  [64]byte // sessions do not share a cache line
}

// The time from which a BEGIN IMMEDIATE counts as waiting for the write lock: SQLite's handler polls, and its first
// pause is 1 ms. Every COMMIT counts as waiting for the log.
const (
	leastLock = time.Millisecond
	leastLog  = 0
)

// fileCounts holds what all sessions have done to one file.
type fileCounts struct {
	rows atomic.Int64
	_    [64]byte // files do not share a cache line
}

// countsOf returns the counts of a file. d.mu must be held.
func (d *database) countsOf(path string) *fileCounts {
	if d.fileCounts == nil {
		d.fileCounts = make(map[string]*fileCounts)
	}
	if d.fileCounts[path] == nil {
		d.fileCounts[path] = new(fileCounts)
	}
	return d.fileCounts[path]
}

func (d *database) probes() []filewise.Probe {
	return []filewise.Probe{filewise.ProbeOf(Name, d.work), filewise.ProbeOf(filewise.ProbeWaits, d.waits),
		filewise.ProbeOf(filewise.ProbeFiles, d.fileRows), filewise.ProbeOf(filewise.ProbeCheckpoints, d.checkpoints),
		filewise.ProbeOf(filewise.ProbeWritten, d.written)}
}

// work returns what all of this build's connections have done so far.
func (d *database) work(context.Context) ([]filewise.Counter, error) {
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

// allCounts returns the counts of all sessions, ended ones included.
func (d *database) allCounts() []*counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return filewise.Each(d.workers, func(w *worker) *counts { return &w.counts })
}

// waits returns what all connections of this build waited for, as Filewise has measured it around
// BEGIN IMMEDIATE and COMMIT: for the write lock of a file, and until a transaction
// was in its log, and synced if the durability needs that. A commit that finds
// the log full also carries the checkpoint. It is the number of those that
// have ended, and the time of those, too, that have not.
func (d *database) waits(context.Context) ([]filewise.Counter, error) {
	var waits, waitNanos, commits, logNanos int64
	add := func(n, nanos *int64, t *timer, least time.Duration) {
		ended, spent := t.read(least)
		*n, *nanos = *n+ended, *nanos+spent
	}
	for _, c := range d.allCounts() {
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

// fileRows returns what was committed to each file, and how it and its log have grown. SQLite counts
// no I/O by file. Rows are absent if the workload's transactions are of several files.
func (d *database) fileRows(context.Context) ([]filewise.Counter, error) {
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

// checkpoints returns how often the files' WALs were checkpointed completely, averaged over the files.
func (d *database) checkpoints(context.Context) ([]filewise.Counter, error) {
	restarts, err := d.restarts.read(d.files)
	if err != nil {
		return nil, err
	}
	return []filewise.Counter{{Name: filewise.CheckpointCycles, Unit: "cycles", Value: float64(restarts) / float64(len(d.files))}}, nil
}

// written returns the bytes written to data files: by Settle, and in between at least the pages that checkpoints of
// full WALs have appended.
func (d *database) written(context.Context) ([]filewise.Counter, error) {
	bytes, err := d.data.read(d.files)
	return []filewise.Counter{{Name: filewise.WrittenData, Unit: "B", Value: float64(bytes)}}, err
}

// dataWritten counts bytes written to data files. The header of a file has its size as of the last checkpoint
// (fileformat2.html#database_header).
type dataWritten struct {
	mu    sync.Mutex
	sizes map[*file]int64 // in bytes
	total int64
}

func (w *dataWritten) read(files []*file) (total int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	err = w.grow(files)
	return w.total, err
}

// grow adds what the files have grown since the last reading. w.mu must be held.
func (w *dataWritten) grow(files []*file) error {
	if w.sizes == nil {
		w.sizes = map[*file]int64{}
	}
	for _, f := range files {
		var head [32]byte
		if _, err := f.fd.ReadAt(head[:], 0); err == io.EOF { // no page yet
			continue
		} else if err != nil {
			return err
		}
		page := int64(binary.BigEndian.Uint16(head[16:]))
		if page == 1 {
			page = 1 << 16
		}
		size := page * int64(binary.BigEndian.Uint32(head[28:]))
		if last, known := w.sizes[f]; known {
			w.total += max(size-last, 0)
		}
		w.sizes[f] = size
	}
	return nil
}

// settled adds the bytes written by a Settle, in place of what the files have grown in it.
func (w *dataWritten) settled(files []*file, bytes int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := w.total
	err := w.grow(files)
	w.total = total + bytes
	return err
}

// walRestarts counts how often a WAL was checkpointed completely and restarted. Each time the first salt in its header
// grows by one (fileformat2.html#walformat).
type walRestarts struct {
	mu    sync.Mutex
	salts map[string]uint32
	total int64
}

func (w *walRestarts) read(files []*file) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.salts == nil {
		w.salts = map[string]uint32{}
	}
	for _, f := range files {
		salt, ok, err := walSalt(f.path + "-wal")
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		if last, known := w.salts[f.path]; known {
			w.total += int64(salt - last)
		}
		w.salts[f.path] = salt
	}
	return w.total, nil
}

// walMagic begins a WAL's header. Its last bit is the byte order of checksums.
const walMagic = 0x377f0682

// walSalt returns the first salt of a WAL. ok is false if the WAL has no header yet: it is empty, or contains only
// zeros.
func walSalt(path string) (salt uint32, ok bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	var head [20]byte
	if _, err := f.ReadAt(head[:], 0); err == io.EOF {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	if binary.BigEndian.Uint32(head[:])&^1 != walMagic {
		return 0, false, nil
	}
	return binary.BigEndian.Uint32(head[16:]), true, nil
}

// timer sums one session's waits of one kind. It includes the wait in progress, so that a reading during the wait
// counts its part. One goroutine waits, and any can read.
type timer struct {
	changes  atomic.Uint32 // odd while the fields below change together
	since    atomic.Int64  // when the present wait began; 0 if there is none
	n, nanos atomic.Int64  // number and duration of ended waits
}

// epoch is the zero of the timers' clock, before any wait.
var epoch = time.Now().Add(-time.Second)

func clock() int64 { return int64(time.Since(epoch)) }

// begin starts a wait.
func (t *timer) begin() (start int64) {
	start = clock()
	t.since.Store(start)
	return start
}

// end closes the wait, which counts as one from that time on.
func (t *timer) end(start int64, least time.Duration) {
	t.changes.Add(1)
	took := clock() - start // not before, or a reading could have had more of it
	t.since.Store(0)
	if took >= int64(least) {
		t.n.Add(1)
		t.nanos.Add(took)
	}
	t.changes.Add(1)
}

// read returns the number of ended waits, and the time of all waits until now, in ns.
func (t *timer) read(least time.Duration) (n, nanos int64) {
	for {
		before := t.changes.Load()
		since := t.since.Load()
		n, nanos = t.n.Load(), t.nanos.Load()
		open := clock() - since
		if before%2 == 1 || t.changes.Load() != before {
			runtime.Gosched()
			continue
		}
		if since > 0 && open >= int64(least) {
			nanos += open
		}
		return n, nanos
	}
}
