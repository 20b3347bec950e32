package enginetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/lab/workload"
)

// fragRows are the rows of each table of scan and backup: two batches.
const fragRows = 1200

// tryBulk loads the tables of scan, each batch twice.
func tryBulk(t *testing.T, b *bench, offered bool) {
	w, err := workload.NewScan(workload.Params{Rows: fragRows, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, seed(t))
	fatal(t, err)
	if !offered {
		refused(t, b, b.layout(2), w.Program())
		return
	}
	b.loaded(b.layout(2), 1, 2, w)
}

// loaded builds a layout and loads it with the given number of loaders. Each batch is loaded several times, and only the
// first time adds rows. The check compares checksums with those that follow from the seed, for any number of loaders.
func (b *bench) loaded(l filewise.Layout, loaders, times int, w filewise.Workload) *filewise.Database {
	b.t.Helper()
	db := b.build(l, w)
	if db.Bulk == nil {
		b.t.Fatal("bulk load is offered, but Database.Bulk is nil")
	}
	eg, ctx := errgroup.WithContext(context.Background())
	eg.SetLimit(loaders)
	for _, table := range w.(filewise.Loadable).Data() {
		for batch := range table.Batches {
			eg.Go(func() (err error) {
				for range times {
					err = errors.Join(err, db.Bulk.LoadBatch(ctx, table, batch))
				}
				return err
			})
		}
	}
	fatal(b.t, eg.Wait())
	fatal(b.t, db.Bulk.Finish(context.Background()))
	b.check(db, w, nil)
	return db
}

// tryBackup backs up and restores twice, and needs damage to be seen.
func tryBackup(t *testing.T, b *bench, offered bool) {
	ctx := context.Background()
	w, err := workload.NewBackup(workload.Params{Rows: fragRows, ConcurrentLoad: 2}, seed(t))
	fatal(t, err)
	_, alone := b.s.Engine.Statements(b.target, b.layout(2), w.Program())
	if alone != nil {
		refused(t, b, b.layout(2), w.Program())
		w, err = workload.NewBackup(workload.Params{Rows: fragRows}, seed(t))
		fatal(t, err)
	}
	if !offered {
		refused(t, b, b.layout(2), w.Program())
		return
	}
	db := b.loaded(b.layout(2), 2, 2, w)
	if db.Backup == nil {
		t.Fatal("backups are offered, but Database.Backup is nil")
	}
	var before []string
	for round := range 2 {
		stop := func() {}
		if alone == nil {
			stop = b.foreground(db, w)
		}
		files, err := db.Backup.Backup(ctx)
		stop()
		fatal(t, err)
		if !slices.ContainsFunc(files, func(f filewise.File) bool { return f.Role == filewise.RoleBackup && f.Bytes > 0 }) {
			t.Errorf("a backup of no bytes: %+v", files)
		}
		fatal(t, db.Backup.Restore(ctx))
		fatal(t, db.Backup.Verify(ctx))
		fatal(t, db.Backup.Discard(ctx))
		for _, f := range files {
			if _, err := os.Lstat(f.Path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", f.Path, err)
			}
		}
		if round == 0 { // a server may keep files for backups from its first one on
			before = b.atTop()
		}
	}
	sameListing(t, before, b.atTop())
	b.check(db, w, nil)
	tryDiscard(t, b)
}

// foreground runs a backup's foreground load until the returned function is called. By then every connection has
// done an operation. An error of the load fails the test.
func (b *bench) foreground(db *filewise.Database, w filewise.Workload) (stop func()) {
	b.t.Helper()
	at := w.Program().PhaseOf(workload.OperationForeground)
	over, errs := make(chan struct{}), make(chan error)
	n := w.Program().Phases[at].Connections
	for c := range n {
		s, err := db.Connect(context.Background(), at, c)
		fatal(b.t, err)
		go func() {
			var i int64
			var err error
			for stopped := false; err == nil && !stopped; i++ {
				_, err = s.Do(context.Background(), i, 1)
				select {
				case <-over:
					stopped = true
				case <-time.After(5 * time.Millisecond): // a light load
				}
			}
			errs <- errors.Join(err, s.Close())
		}()
	}
	return func() {
		close(over)
		for range n {
			if err := <-errs; err != nil {
				b.t.Errorf("during the backup: %v", err)
			}
		}
	}
}

// tryDiscard throws a backup away twice: it has no files, and leaves none.
func tryDiscard(t *testing.T, b *bench) {
	t.Helper()
	ctx := context.Background()
	w, err := workload.NewBackup(workload.Params{Rows: fragRows, Discard: true}, seed(t))
	fatal(t, err)
	l := b.layout(2)
	l.Discard, l.Backup = true, filewise.Spread{Files: 2}
	if _, err := b.s.Engine.Statements(b.target, l, w.Program()); err != nil {
		refused(t, b, l, w.Program())
		return
	}
	db := b.loaded(l, 3, 2, w)
	for range 2 {
		files, err := db.Backup.Backup(ctx)
		fatal(t, err)
		if len(files) > 0 {
			t.Errorf("a backup that is thrown away has files: %+v", files)
		}
		fatal(t, db.Backup.Discard(ctx))
	}
	fatal(t, db.Drop(ctx))
}

// atTop lists what the volumes hold, but not what is in their directories: there a
// server that runs makes and removes its own files, such as its log.
func (b *bench) atTop() []string {
	b.t.Helper()
	var all []string
	for _, v := range b.target.Volumes {
		entries, err := os.ReadDir(v.Dir)
		fatal(b.t, err)
		for _, e := range entries {
			all = append(all, filepath.Join(v.Dir, e.Name()))
		}
	}
	return all
}

// testDML does the phases of dml and checks the data after each.
func testDML(t *testing.T, s Subject) {
	b := newBench(t, s)
	w, err := workload.NewDML(workload.Params{Connections: 5, Rows: 100, Repeat: 2, Mode: workload.ModeBoth,
		Connect: workload.ConnectPerStatement, Index: workload.IndexNone}, seed(t))
	fatal(t, err)
	if !b.covers(b.layout(2), w.Program()) {
		return
	}
	b.phases(b.build(b.layout(2), w), w)
}

// testScan does every query of scan, warm and cold as far as the engine can.
func testScan(t *testing.T, s Subject) {
	b := newBench(t, s)
	w, err := workload.NewScan(workload.Params{Rows: fragRows, Cache: workload.CacheWarm, Data: workload.DataGrown, Repeat: 1}, seed(t))
	fatal(t, err)
	if !b.covers(b.layout(2), w.Program()) {
		return
	}
	db := b.loaded(b.layout(2), 3, 2, w)
	b.phases(db, w)
	if db.Restart != nil {
		fatal(t, db.Restart(context.Background()))
		b.phases(db, w)
	}
	if db.Evict != nil {
		fatal(t, db.Evict(context.Background()))
		b.phases(db, w)
	}
	b.check(db, w, nil)
}

// phases does all phases of work, one after the other, with a check after each
// that must see an operation that was not done.
func (b *bench) phases(db *filewise.Database, w filewise.Workload) {
	b.t.Helper()
	ctx, check := context.Background(), w.Check
	var ledgers []filewise.Ledger
	for i, p := range w.Program().Phases {
		ledger := make(filewise.Ledger, p.Connections)
		for c := range ledger {
			s, err := db.Connect(ctx, i, c)
			fatal(b.t, err)
			ledger[c], err = s.Do(ctx, 0, p.Ops/int64(p.Connections))
			if err != nil || ledger[c] != p.Ops/int64(p.Connections) {
				b.t.Fatalf("%s: %d operations done: %v", p.Operation, ledger[c], err)
			}
			fatal(b.t, s.Close())
		}
		ledgers = append(ledgers, ledger)
		fatal(b.t, check(ctx, db, i, ledgers))
		if w.Program().ReadOnly || p.Section == "select" {
			continue
		}
		ledger[0]--
		if err := check(ctx, db, i, ledgers); !errors.Is(err, filewise.ErrCheck) {
			b.t.Errorf("%s: the check does not see an operation too many: %v", p.Operation, err)
		}
		ledger[0]++
	}
}
