package enginetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// probePatience sets how long counters can take to move: a server adds some up once a
// second, and a wait has to be met. 48 connections waited in none of 12,015 looks within 30 s.
const probePatience = 2 * time.Minute

var waitClasses = []filewise.WaitClass{
	filewise.WaitLock, filewise.WaitAllocation, filewise.WaitLatch, filewise.WaitDataRead, filewise.WaitDataWrite, filewise.WaitLog,
	filewise.WaitTemp, filewise.WaitCheckpoint, filewise.WaitMemory, filewise.WaitNetwork, filewise.WaitOther,
}

// reading is all counters of a database, by probe, file, name and unit.
type reading map[filewise.Delta]float64

// readProbes reads all probes. Every counter has a name and a unit, and every wait a
// class and a time or a number.
func readProbes(t *testing.T, db *filewise.Database) reading {
	t.Helper()
	all := reading{}
	for _, p := range db.Probes {
		counters, err := p.Read(context.Background())
		fatal(t, err)
		for _, c := range counters {
			key := filewise.Delta{Probe: p.Name(), Name: c.Name, Unit: c.Unit, Class: c.Class, File: c.File}
			if c.Name == "" || c.Unit == "" {
				t.Errorf("a counter of %s without name or unit: %+v", p.Name(), c)
			}
			if c.Class != "" && (!slices.Contains(waitClasses, c.Class) || c.Unit != "s" && c.Unit != "waits" || !filewise.OfWaits(p.Name())) {
				t.Errorf("a wait of %s without a known class or unit: %+v", p.Name(), c)
			}
			if _, twice := all[key]; twice {
				t.Errorf("%s counts twice: %+v", p.Name(), c)
			}
			all[key] = c.Value
		}
	}
	return all
}

// moved returns the counters that are larger than before. None may have fallen, but
// sizes.
func (after reading) moved(t *testing.T, before reading) []filewise.Delta {
	t.Helper()
	var all []filewise.Delta
	for key, v := range after {
		was, known := before[key]
		if v < was && key.Name != filewise.FileGrown {
			t.Errorf("counter %+v fell from %v to %v", key, was, v)
		}
		if v > was && (known || filewise.OfWaits(key.Probe)) {
			all = append(all, key)
		}
	}
	return all
}

// tryWaits checks that an offered probe of waits counts at least one wait during work, that other counters rise, and that
// none falls.
func tryWaits(t *testing.T, b *bench, offered bool) {
	// Many connections that commit each row wait for each other's log writes. Few did so for less
	// than a look sees, on a busy machine whose server lies in memory: 16 for none of 6,872 looks in 30 s.
	p := params()
	p.Connections, p.CommitEvery = 48, 1
	provoked(t, b, p, func(db *filewise.Database, now reading, moved []filewise.Delta) bool {
		waited := slices.ContainsFunc(moved, func(d filewise.Delta) bool { return d.Probe == filewise.ProbeWaits && d.Class != "" })
		return (waited || !offered && len(moved) > 0) && countsWriting(t, db, now, moved)
	})
}

// countsWriting checks that an engine that reports its writes counted some during work, and that an engine that reports
// checkpoints counts them in cycles.
func countsWriting(t *testing.T, db *filewise.Database, now reading, moved []filewise.Delta) bool {
	all := true
	for _, p := range db.Probes {
		of := func(d filewise.Delta) bool { return d.Probe == p.Name() }
		switch p.Name() {
		case filewise.ProbeWritten:
			all = all && slices.ContainsFunc(moved, of)
		case filewise.ProbeCheckpoints:
			n, counted := now[filewise.Delta{Probe: p.Name(), Name: filewise.CheckpointCycles, Unit: "cycles"}]
			if !counted || n < 0 {
				t.Errorf("%s has no cycles: %v", p.Name(), now)
			}
		}
	}
	return all
}

// tryFileIO checks that an offered probe of file I/O has counters for every data file that Observe lists. During work the
// counters of each file rise, or those of one file if files are filled one after the other.
func tryFileIO(t *testing.T, b *bench, offered bool) {
	if !offered {
		return
	}
	_, fills := b.s.Engine.(filewise.Filler)
	provoked(t, b, params(), func(db *filewise.Database, now reading, moved []filewise.Delta) bool {
		files, err := db.Observe(context.Background())
		fatal(t, err)
		of := func(path string) func(filewise.Delta) bool {
			return func(d filewise.Delta) bool { return d.Probe == filewise.ProbeFiles && d.File == path }
		}
		data, known, used := 0, 0, 0
		for _, f := range files {
			if f.Role != filewise.RoleData {
				continue
			}
			data++
			for d := range now {
				if of(f.Path)(d) {
					known++
					break
				}
			}
			if slices.ContainsFunc(moved, of(f.Path)) {
				used++
			}
		}
		return data > 0 && known == data && (used == data || fills && used > 0)
	})
}

// provoked works until the counters are as they should be. Samplers look all the
// time in the meantime.
func provoked(t *testing.T, b *bench, p workload.Params, enough func(db *filewise.Database, now reading, moved []filewise.Delta) bool) {
	t.Helper()
	w := b.workload(p)
	db := b.build(b.layout(2), w)
	before := readProbes(t, db)
	var ledger filewise.Ledger
	for deadline := time.Now().Add(probePatience); ; {
		stop := looking(t, db)
		var errs []error
		ledger, errs = b.work(context.Background(), db, w.Program(), ledger, b.s.Rows)
		stop()
		noErrors(t, errs)
		fatal(t, db.Settle(context.Background()))
		now := readProbes(t, db)
		if enough(db, now, now.moved(t, before)) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v of work the counters have not moved as they should: %v", probePatience, now)
		}
	}
}

// looking has the samplers look without a pause until stop is called.
func looking(t *testing.T, db *filewise.Database) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for last := time.Now(); ctx.Err() == nil; {
			any := false
			now := time.Now()
			for _, p := range db.Probes {
				if s, ok := p.(filewise.Sampler); ok {
					any = true
					if err := s.Sample(ctx, now.Sub(last)); err != nil && ctx.Err() == nil {
						t.Errorf("a look of %s: %v", p.Name(), err)
						return
					}
				}
			}
			if last = now; !any {
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}
