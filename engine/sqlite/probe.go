package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"filewise"
)

// counts are what one session has done and waited for. They are read while the
// session works.
type counts struct {
	transactions, rows atomic.Int64
	waits, waitNanos   atomic.Int64
	timeouts           atomic.Int64
	_                  [64]byte // sessions do not share a cache line
}

// waited counts a BEGIN IMMEDIATE that took so long.
func (c *counts) waited(took time.Duration) {
	if took >= time.Millisecond {
		c.waits.Add(1)
		c.waitNanos.Add(int64(took))
	}
}

// Name is the probe's name.
func (*database) Name() string { return Name }

// Read returns what all connections of this build have done so far.
func (d *database) Read(context.Context) ([]filewise.Counter, error) {
	d.mu.Lock()
	all := append([]*counts(nil), d.orderCounts...)
	for _, s := range d.sessions {
		all = append(all, &s.counts)
	}
	d.mu.Unlock()
	var transactions, rows, waits, waitNanos, timeouts int64
	for _, c := range all {
		transactions += c.transactions.Load()
		rows += c.rows.Load()
		waits += c.waits.Load()
		waitNanos += c.waitNanos.Load()
		timeouts += c.timeouts.Load()
	}
	restarts, err := d.restarts.read(d.files)
	counters := []filewise.Counter{
		{Name: "transactions", Unit: "transactions", Value: float64(transactions)},
		{Name: "rows committed", Unit: "rows", Value: float64(rows)},
		{Name: "write-lock waits", Unit: "waits", Value: float64(waits)},
		{Name: "write-lock wait time", Unit: "s", Value: float64(waitNanos) / 1e9},
		{Name: "busy timeouts", Unit: "timeouts", Value: float64(timeouts)},
	}
	if err != nil {
		return counters, err
	}
	return append(counters, filewise.Counter{Name: "WAL restarts", Unit: "restarts", Value: float64(restarts)}), nil
}

// walRestarts counts how often a WAL was checkpointed whole and begun anew: each
// time, the first salt in its header grows by one (fileformat2.html#walformat).
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

// walMagic begins a WAL's header; its last bit tells the order of bytes in sums.
const walMagic = 0x377f0682

// walSalt is the first salt of a WAL; ok is false when it has no header yet: it
// is empty, or only zeros that make its room.
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
