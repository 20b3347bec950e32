package enginetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/workload"
)

// testConnectionLost ends the server's side of all connections in the middle of
// the work, three times. The ledger is true then, or an error of class connection
// states that it is not known and the check fails: never neither. New connections
// work.
func testConnectionLost(t *testing.T, s Subject) {
	if s.Sever == nil {
		if s.NoSever == "" {
			t.Fatal("the subject neither severs connections nor gives a reason")
		}
		t.Skip("lost connections are NOT tested: " + s.NoSever)
	}
	b := newBench(t, s)
	w := b.workload(params())
	db := b.build(b.layout(2), w)
	ledger := make(filewise.Ledger, w.Program().Connections())
	for round := range 3 {
		var errs []error
		ledger, errs = b.severed(db, w.Program(), ledger, int64(100*(round+1)))
		lost := 0
		for c, err := range errs {
			switch {
			case err == nil:
				t.Errorf("round %d: connection %d worked on to the end", round, c)
			case filewise.ClassOf(err) == filewise.ClassConnection:
				lost++
			default:
				t.Errorf("round %d, connection %d: class %q: %v", round, c, filewise.ClassOf(err), err)
			}
		}
		err := w.Check(context.Background(), db, 0, []filewise.Ledger{ledger})
		if err != nil && (lost == 0 || !errors.Is(err, filewise.ErrCheck)) {
			t.Fatalf("round %d: the data are not the ledger's, and no connection was lost: %v", round, err)
		}
		if err != nil {
			t.Logf("round %d: what the lost connections had committed is not known: %v", round, err)
			connectAll(t, db, w.Program().Connections())
			return
		}
		b.check(db, w, ledger)
		ledger, errs = b.work(context.Background(), db, w.Program(), ledger, 30)
		noErrors(t, errs)
		b.check(db, w, ledger)
	}
}

// connectAll checks that new connections can be opened, all at the same time, and closed.
func connectAll(t *testing.T, db *filewise.Database, n int) {
	t.Helper()
	for w := range n {
		s, err := db.Connect(context.Background(), 0, w)
		fatal(t, err)
		defer func() { fatal(t, s.Close()) }()
	}
}

// severed works until it severs the connections, after the given number of further operations. Closing a dead connection
// can return an error.
func (b *bench) severed(db *filewise.Database, p filewise.Program, from filewise.Ledger, after int64) (filewise.Ledger, []error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ledger := append(filewise.Ledger(nil), from...)
	errs := make([]error, p.Connections())
	var total atomic.Int64
	var once sync.Once
	cut := func(done int64) {
		if done >= after {
			once.Do(func() {
				if err := b.s.Sever(ctx, db); err != nil {
					b.t.Errorf("severing: %v", err)
					cancel()
				}
			})
		}
	}
	watched := counting{db, cut, &total}
	sessions := make([]filewise.Session, p.Connections())
	for w := range sessions { // all of them, before the first works: what comes later would not be severed
		var err error
		sessions[w], err = watched.Connect(ctx, 0, w)
		fatal(b.t, err)
	}
	var wg sync.WaitGroup
	for w, s := range sessions {
		wg.Go(func() {
			ledger[w], errs[w] = workOne(ctx, s, p, ledger[w], 1<<40)
			_ = s.Close()
		})
	}
	wg.Wait()
	return ledger, errs
}

// testLoadLost ends the server's side of all connections again and again while
// batches are loaded, as an experiment loads them: every failure is one of class
// connection, after which the batch is loaded again, and no row is there twice or
// missing.
func testLoadLost(t *testing.T, s Subject) {
	if s.Sever == nil {
		t.Skip("lost connections are NOT tested: " + s.NoSever)
	}
	b := newBench(t, s)
	w, err := workload.NewScan(workload.Params{Rows: 4 * fragRows, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, seed(t))
	fatal(t, err)
	if !b.covers(b.layout(2), w.Program()) {
		return
	}
	db := b.build(b.layout(2), w)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const enough = 3
	var lost atomic.Int64
	over, ended := make(chan struct{}), make(chan struct{})
	var failure error
	go func() {
		defer close(ended)
		for lost.Load() < enough {
			select {
			case <-over:
				return
			case <-time.After(3 * time.Millisecond): // so that some of a batch is sent
				failure = s.Sever(ctx, db) // between two batches there is nothing to
			}
		}
	}()
	eg, ectx := errgroup.WithContext(ctx)
	eg.SetLimit(2)
	for _, table := range w.(filewise.Loadable).Data() {
		for batch := range table.Batches {
			eg.Go(func() error {
				err := db.Bulk.LoadBatch(ectx, table, batch)
				for class := filewise.ClassOf(err); class.Passes() && ectx.Err() == nil; class = filewise.ClassOf(err) {
					if class == filewise.ClassConnection { // and not the victim of one that is still rolled back
						lost.Add(1)
					}
					err = db.Bulk.LoadBatch(ectx, table, batch)
				}
				return err
			})
		}
	}
	err = eg.Wait()
	close(over)
	<-ended
	fatal(t, err)
	if lost.Load() == 0 {
		t.Errorf("no batch lost its connection: %v", failure)
	}
	t.Logf("%d batches lost their connection", lost.Load())
	fatal(t, db.Bulk.Finish(ctx))
	b.check(db, w, nil)
}

// testDeadlocks has two connections change two rows in opposite order. The real
// server chooses a victim; the adapter must show what that failure is, and the
// driver tries it again until all is done.
func testDeadlocks(t *testing.T, s Subject) {
	if s.Raw == nil {
		if s.NoRaw == "" {
			t.Fatal("the subject neither opens raw connections nor gives a reason")
		}
		t.Skip("deadlocks are NOT tested: " + s.NoRaw)
	}
	const each = 2
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	b := newBench(t, s)
	db := b.build(b.layout(1), b.workload(params()))
	var raw [3]Raw
	for i := range raw {
		var err error
		raw[i], err = s.Raw(ctx, db)
		fatal(t, err)
		defer func() { fatal(t, raw[i].Close()) }()
	}
	fatal(t, raw[2].Exec(ctx, "CREATE TABLE fw_cross (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL)"))
	// A database that holds what Filewise has not made is not dropped.
	defer func() { fatal(t, raw[2].Exec(ctx, "DROP TABLE fw_cross")) }()
	for id := range 2 {
		fatal(t, raw[2].Exec(ctx, fmt.Sprintf("INSERT INTO fw_cross (id, n) VALUES (%d, 0)", id)))
	}
	met := make(chan struct{})
	result, err := drive.Run(ctx, drive.Load{
		Sessions: []filewise.Session{&crosser{raw[0], 0, met}, &crosser{raw[1], 1, met}},
		Ops:      []int64{each, each}, Chunk: 1, Retry: []filewise.Class{filewise.ClassDeadlock}, Seed: seed(t),
	})
	fatal(t, err)
	if result.Ledger.Total() != 2*each || result.Measure.Errors[filewise.ClassDeadlock] == 0 || len(result.Measure.Errors) != 1 {
		t.Errorf("%v operations were committed, with failures %v", result.Ledger, result.Measure.Errors)
	}
	for id := range 2 {
		n, err := raw[2].Number(ctx, fmt.Sprintf("SELECT n FROM fw_cross WHERE id = %d", id))
		fatal(t, err)
		if n != 2*each {
			t.Errorf("row %d was changed %d times by %d committed operations", id, n, 2*each)
		}
	}
}

// crosser is a session whose operation changes its own row, waits until the other
// one has changed its, and then changes that one too.
type crosser struct {
	raw Raw
	own int
	met chan struct{}
}

// Do executes operations until one fails.
func (c *crosser) Do(ctx context.Context, _, n int64) (done int64, err error) {
	for ; done < n; done++ {
		if err := c.cross(ctx); err != nil {
			return done, errors.Join(err, c.raw.Exec(ctx, "ROLLBACK"))
		}
	}
	return done, nil
}

func (c *crosser) cross(ctx context.Context) error {
	add := func(id int) error {
		return c.raw.Exec(ctx, fmt.Sprintf("UPDATE fw_cross SET n = n + 1 WHERE id = %d", id))
	}
	if err := c.raw.Exec(ctx, "START TRANSACTION"); err != nil {
		return err
	}
	if err := add(c.own); err != nil {
		return err
	}
	select { // the other one may be done already
	case c.met <- struct{}{}:
	case <-c.met:
	case <-time.After(time.Second):
	}
	if err := add(1 - c.own); err != nil {
		return err
	}
	return c.raw.Exec(ctx, "COMMIT")
}

func (c *crosser) Close() error { return nil }
