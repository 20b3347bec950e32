package planted

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb"
	"filewise/engine/postgres"
	"filewise/engine/sqlite"
	"filewise/lab/experiment"
	"filewise/lab/probe"
	"filewise/lab/workload"
)

// connections are many for the machine, and more than any layout has files.
const connections = 8

func inserts(rowBytes, commitEvery int) workload.Params {
	return workload.Params{Connections: connections, RowBytes: rowBytes, CommitEvery: commitEvery, Table: workload.TableShared,
		Key: workload.KeySequential}
}

func dataLayout(kind filewise.Kind, files int, where filewise.Placement) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: kind, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: 64 << 20, Allocation: filewise.Growing, Placement: where}}
}

// TestSQLiteWriteLock: a file has one writer at a time, and another process holds the lock of the first file most of
// the time.
func TestSQLiteWriteLock(t *testing.T) {
	s := newStorage(t)
	r := setup{engine: sqlite.New(), storage: s, volumes: []filewise.Volume{s.Data}, durability: filewise.DurabilityNormal,
		params: inserts(100, 20)}
	h := holder{t: t, dir: s.Data.Dir}
	r.begin, r.end = h.begin, h.end
	p := r.plan(dataLayout(filewise.KindShards, 1, filewise.PlaceOne), dataLayout(filewise.KindShards, 8, filewise.PlaceOne))
	trials := r.trials(t, p)
	mustGain(t, explained(t, p, trials), p, trials, "8 files", filewise.WaitLock)
}

// TestSQLiteOnSlowStorage: if the disk takes no more, the lock alone is not the cause, and neither are the
// processors.
func TestSQLiteOnSlowStorage(t *testing.T) {
	s := newStorage(t, Speed{Bytes: 2 << 20})
	s.limit(t)
	s.prove(t)
	s.lift(t)
	r := setup{engine: sqlite.New(), storage: s, volumes: []filewise.Volume{s.Slow[0].Volume}, durability: filewise.DurabilityFull,
		params: inserts(1000, 20)}
	r.begin, r.end = func(string) { s.limit(t) }, func(string) { s.lift(t) }
	p := r.plan(dataLayout(filewise.KindShards, 1, filewise.PlaceOne), dataLayout(filewise.KindShards, 8, filewise.PlaceOne))
	c := explained(t, p, r.trials(t, p))
	mustSay(t, c, true, "the storage of volume a was at")
	mustSay(t, c, false, "CPU-bound")
}

// TestCPUBound: the work of as many connections as keep the processors busy, each with a separate file that is
// never synced, is not about storage.
func TestCPUBound(t *testing.T) {
	s := newStorage(t)
	files := 2 * runtime.NumCPU()
	var cost atomic.Int64
	cost.Store(3000) // several times what a row takes
	r := setup{engine: computing{sqlite.New(), &cost}, storage: s, volumes: []filewise.Volume{s.Data}, durability: filewise.DurabilityOff,
		params: inserts(100, 100)}
	r.params.Connections = files
	same := dataLayout(filewise.KindShards, files, filewise.PlaceOne)
	same.Name = "the same"
	p := r.plan(dataLayout(filewise.KindShards, files, filewise.PlaceOne), same)
	trials := r.trials(t, p)
	c := explained(t, p, trials)
	if others, ok := probe.Others(trials[len(trials)-1].Measures[0].Deltas); !ok || others > 30 {
		t.Skipf("others take %.0f %% of the processors: what is planted is not there", others) // of a machine, not of what is installed
	}
	mustSay(t, c, true, "CPU-bound")
	mustSay(t, c, false, "limit")
}

// The names of one layout on a volume that is throttled, and on the same when it is not.
const (
	slowed = "throttled"
	fast   = "not throttled"
)

// slowAndFast compares the layout with itself: throttled, with what else is planted
// then, against not throttled.
func (r *setup) slowAndFast(t testing.TB, l filewise.Layout, plant func()) experiment.Plan {
	r.varies = true
	r.begin = func(layout string) {
		if layout == slowed {
			plant()
			r.storage.limit(t)
		}
	}
	r.end = func(string) { r.storage.lift(t) }
	one, other := l, l
	one.Name, other.Name = slowed, fast
	return r.plan(one, other)
}

// TestPostgresExtension: a table's file is written through to slow storage. A session that extends it waits for the
// storage with the relation's extension lock held, and all others wait for that lock.
func TestPostgresExtension(t *testing.T) {
	s := newStorage(t, Speed{Requests: 400})
	r := setup{engine: postgres.Engine{}, storage: s, volumes: []filewise.Volume{s.Slow[0].Volume}, durability: filewise.DurabilityOff,
		params: inserts(1900, 5)}
	p := r.slowAndFast(t, dataLayout(filewise.KindSingle, 1, filewise.PlaceOne), func() { check(t, s.WriteThrough("pg_wal")) })
	p.Window = 3 * time.Second // a session extends by many pages at a time
	trials := r.trials(t, p)
	mustGain(t, explained(t, p, trials), p, trials, fast, filewise.WaitAllocation)
}

// TestMariaDBOnSlowStorage compares a layout on a volume with the same while the
// volume is throttled.
func TestMariaDBOnSlowStorage(t *testing.T) {
	s := newStorage(t, Speed{Requests: 100})
	r := setup{engine: innodb.MariaDB, storage: s, volumes: []filewise.Volume{s.Slow[0].Volume}, durability: filewise.DurabilityFull,
		params: inserts(100, 1)}
	p := r.slowAndFast(t, dataLayout(filewise.KindSystem, 1, filewise.PlaceOne), func() {})
	trials := r.trials(t, p)
	mustGain(t, explained(t, p, trials), p, trials, fast, filewise.WaitLog, filewise.WaitDataWrite)
}
