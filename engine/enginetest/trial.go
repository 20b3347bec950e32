package enginetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// testTrial takes one layout through the life of a trial.
func testTrial(t *testing.T, s Subject) {
	ctx := context.Background()
	b := newBench(t, s)
	w := b.workload(params())
	empty := b.listing()
	db, err := b.server.Build(ctx, b.layout(4), w.Program())
	fatal(t, err)
	files, err := db.Observe(ctx)
	fatal(t, err)
	for _, f := range files {
		if f.Role == "" || f.Volume == "" || f.Path == "" || f.Bytes < 0 {
			t.Errorf("observed a file without role, volume, path or size: %+v", f)
		}
	}
	b.check(db, w, make(filewise.Ledger, 5))
	fatal(t, db.Settle(ctx))
	ledger, errs := b.work(ctx, db, w.Program(), nil, s.Rows)
	noErrors(t, errs)
	if ledger.Total() != 5*s.Rows {
		t.Errorf("%d rows were committed, expected %d", ledger.Total(), 5*s.Rows)
	}
	fatal(t, db.Settle(ctx))
	b.check(db, w, ledger)
	ledger, errs = b.work(ctx, db, w.Program(), ledger, s.Rows) // further connections go on
	noErrors(t, errs)
	b.check(db, w, ledger)
	if _, err := db.Observe(ctx); err != nil {
		t.Errorf("observing after the work: %v", err)
	}
	fatal(t, db.Drop(ctx))
	sameListing(t, empty, b.listing())
}

func sameListing(t *testing.T, before, after []string) {
	t.Helper()
	if len(before) != len(after) {
		t.Errorf("something is left over:\nbefore %v\nafter  %v", before, after)
	}
}

// testWrongLedger proves that the check can fail.
func testWrongLedger(t *testing.T, s Subject) {
	b := newBench(t, s)
	for _, table := range []string{workload.TableShared, workload.TablePerConnection} {
		t.Run(table, func(t *testing.T) { wrongLedger(t, b.as(t), table) })
	}
}

func wrongLedger(t *testing.T, b *bench, table string) {
	ctx := context.Background()
	p := params()
	p.Table = table
	w := b.workload(p)
	db := b.build(b.layout(2), w)
	ledger, errs := b.work(ctx, db, w.Program(), nil, 20)
	noErrors(t, errs)
	for name, change := range map[string]func(filewise.Ledger){
		"a row more":             func(l filewise.Ledger) { l[3]++ },
		"a row less":             func(l filewise.Ledger) { l[0]-- },
		"one here for one there": func(l filewise.Ledger) { l[1]++; l[2]-- },
	} {
		wrong := append(filewise.Ledger(nil), ledger...)
		change(wrong)
		if err := w.Check(ctx, db, 0, []filewise.Ledger{wrong}); !errors.Is(err, filewise.ErrCheck) {
			t.Errorf("%s: the check returns %v", name, err)
		}
	}
	b.check(db, w, ledger)
}

// testCancel ends the context in the middle of the work, several times, with
// short transactions and with some long enough to be caught open.
func testCancel(t *testing.T, s Subject) {
	b := newBench(t, s)
	for _, every := range []int{7, 3000} {
		t.Run(fmt.Sprintf("CommitEvery%d", every), func(t *testing.T) { cancelled(t, b.as(t), every) })
	}
}

func cancelled(t *testing.T, b *bench, every int) {
	p := params()
	p.CommitEvery = every
	w := b.workload(p)
	db := b.build(b.layout(2), w)
	ledger := make(filewise.Ledger, p.Connections)
	for round := range 5 {
		ctx, cancel := context.WithCancel(context.Background())
		before := ledger.Total()
		var ended atomic.Int64
		watched := *db
		watched.Build = counting{db.Build, func(total int64) {
			if total > int64(40*(round+1)) && ended.CompareAndSwap(0, time.Now().UnixNano()) {
				cancel()
			}
		}, new(atomic.Int64)}
		var errs []error
		ledger, errs = b.work(ctx, &watched, w.Program(), ledger, 1<<40)
		cancel()
		if took := time.Since(time.Unix(0, ended.Load())); took > 30*time.Second {
			t.Errorf("round %d: %v from the cancel to the last connection's return", round, took)
		}
		for c, err := range errs {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("round %d, connection %d: %v is not the context's error", round, c, err)
			}
		}
		if ledger.Total() <= before {
			t.Errorf("round %d: nothing was committed", round)
		}
		b.check(db, w, ledger)
	}
}

// counting reports the number of operations committed by all of its sessions.
type counting struct {
	filewise.Build
	tell  func(int64)
	total *atomic.Int64
}

func (c counting) Connect(ctx context.Context, phase, w int) (filewise.Session, error) {
	s, err := c.Build.Connect(ctx, phase, w)
	return countingSession{s, c}, err
}

type countingSession struct {
	filewise.Session
	c counting
}

func (s countingSession) Do(ctx context.Context, first, n int64) (int64, error) {
	done, err := s.Session.Do(ctx, first, n)
	s.c.tell(s.c.total.Add(done))
	return done, err
}

// testLimit asks for more rows than there are unique keys.
func testLimit(t *testing.T, s Subject) {
	b := newBench(t, s)
	p := params()
	p.Key = workload.KeyRandom
	w := b.workload(p)
	db := b.build(b.layout(1), w)
	session, err := db.Connect(context.Background(), 0, 0)
	fatal(t, err)
	defer func() { fatal(t, session.Close()) }()
	limit := w.Program().First().Limit
	if done, err := session.Do(context.Background(), limit-1, 2); err == nil || done > 1 {
		t.Errorf("two rows from the last one: %d done, error %v", done, err)
	}
	for _, worker := range []int{-1, p.Connections} {
		if bad, err := db.Connect(context.Background(), 0, worker); err == nil {
			t.Errorf("there is a connection %d of %d", worker, p.Connections)
			fatal(t, bad.Close())
		}
	}
}
