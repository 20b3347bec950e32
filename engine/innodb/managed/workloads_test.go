//go:build linux

package managed_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/lab/workload"
)

func phaseLayout(kind filewise.Kind, files int, bytes int64) filewise.Layout {
	l := systemLayout(files, bytes)
	if l.Kind = kind; kind != filewise.KindSystem {
		l.Data.Allocation = filewise.Growing
	}
	return l
}

// testPhases: what a phase reports as done is done, when it is cancelled or its
// connections are cut, whether the server loops or the client.
func testPhases(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	s := sub.open(t, ctx, sub.onScratch(t, 1))
	for n, mode := range []string{workload.ModeSingle, workload.ModeConcurrent} {
		w, err := workload.NewDML(workload.Params{Connections: 2, Rows: 1 << 21, Mode: mode, Connect: workload.ConnectPooled,
			Index: workload.IndexKey}, 5)
		if err != nil {
			t.Fatal(err)
		}
		db := build(t, ctx, s, phaseLayout(filewise.KindPartitions, 3, 8<<20), w)
		var ledgers []filewise.Ledger
		for phase, p := range w.Program().Phases {
			most := slices.Repeat([]int64{p.Ops / int64(p.Connections)}, p.Connections)
			if phase > 0 { // operations on rows that those before it have reached
				most = ledgers[min(phase-1, 2)/2*2]
			}
			ledgers = append(ledgers, endPhase(t, ctx, db, w, phase, most, (n+phase)%2 == 1))
			if err := w.Check(ctx, db, phase, ledgers); err != nil {
				t.Error(err)
			}
		}
		if err := db.Drop(ctx); err != nil {
			t.Error(err)
		}
	}
}

// testDeletesToldToEnd: MariaDB answers every third DELETE that is instructed to end as if
// there were no such row, and it is not counted as done.
func testDeletesToldToEnd(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	const rows = 600
	s := sub.open(t, ctx, sub.onScratch(t, 1))
	w, err := workload.NewDML(workload.Params{Connections: 1, Rows: rows, Mode: workload.ModeConcurrent, Connect: workload.ConnectPooled,
		Index: workload.IndexKey}, 5)
	if err != nil {
		t.Fatal(err)
	}
	db := build(t, ctx, s, phaseLayout(filewise.KindPartitions, 3, 8<<20), w)
	ledgers := []filewise.Ledger{{0}, {0}, {0}, {0}}
	for _, phase := range []int{0, 2, 3} {
		connection, err := db.Connect(ctx, phase, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		for try, done := 0, &ledgers[phase][0]; *done < rows; try++ {
			working, cancel := ctx, context.CancelFunc(func() {})
			if phase == 3 {
				working, cancel = context.WithTimeout(ctx, time.Duration(try%30)*50*time.Microsecond) // any moment will do
			}
			n, err := connection.Do(working, *done, rows-*done)
			*done += n
			if cancel(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
	}
	if err := w.Check(ctx, db, 3, ledgers); err != nil {
		t.Error(err)
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
}

// endPhase lets the connections of a phase work, up to most operations each, and
// cuts or cancels them on the way.
func endPhase(t *testing.T, ctx context.Context, db *filewise.Database, w filewise.Workload, phase int, most []int64,
	cut bool) filewise.Ledger {
	t.Helper()
	p := w.Program().Phases[phase]
	ledger, errs := make(filewise.Ledger, len(most)), make([]error, len(most))
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for c := range ledger {
		s, err := db.Connect(ctx, phase, c)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		wg.Go(func() { ledger[c], errs[c] = s.Do(working, 0, most[c]) })
	}
	time.Sleep(150 * time.Millisecond) // any moment will do
	if cut {
		if err := sever(ctx, db); err != nil {
			t.Error(err)
		}
	} else {
		cancel()
	}
	wg.Wait()
	for c, err := range errs {
		switch {
		case err == nil && ledger[c] != most[c], phase == 0 && (err == nil || ledger[c] == 0), ledger[c] < 0 || ledger[c] > most[c]:
			t.Errorf("%s: connection %d did %d of %d operations: %v", p.Operation, c, ledger[c], most[c], err)
		case err != nil && !cut && !errors.Is(err, context.Canceled), err != nil && cut && filewise.ClassOf(err) != filewise.ClassConnection:
			t.Errorf("%s: connection %d ended (cut: %v) by %v", p.Operation, c, cut, err)
		}
	}
	return ledger
}

// load loads a build.
func load(t *testing.T, ctx context.Context, db *filewise.Database, w filewise.Workload) {
	t.Helper()
	var wg sync.WaitGroup
	for _, table := range w.(filewise.Loadable).Data() {
		wg.Go(func() {
			for batch := range table.Batches {
				if err := db.Bulk.LoadBatch(ctx, table, batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := db.Bulk.Finish(ctx); err != nil {
		t.Fatal(err)
	}
}

// testScanBuild: tables in separate files on two volumes, with the buffer
// pool that a plan shows, loaded past the binary log, also after the files were
// evicted.
func testScanBuild(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	w, err := workload.NewScan(workload.Params{Rows: 2500, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 5)
	if err != nil {
		t.Fatal(err)
	}
	target := sub.onScratch(t, 2)
	s := sub.open(t, ctx, target)
	db := build(t, ctx, s, phaseLayout(filewise.KindPerTable, 4, 16<<20), w)
	load(t, ctx, db, w)
	for range 2 {
		if _, err := db.Observe(ctx); err != nil { // before a statement has opened a table
			t.Error(err)
		}
		var pool int64
		if err := look(t, db).Control.QueryRowContext(ctx, "SELECT @@innodb_buffer_pool_size").Scan(&pool); err != nil || pool != 6<<20 {
			t.Errorf("a buffer pool of %d bytes: %v", pool, err)
		}
		if err := w.Check(ctx, db, filewise.AsLoaded, nil); err != nil {
			t.Error(err)
		}
		files, err := db.Observe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		bytes := map[filewise.Role]int64{}
		volumes := map[string]int{}
		for _, f := range files {
			bytes[f.Role] += f.Bytes
			if f.Role == filewise.RoleData {
				volumes[f.Volume]++
			}
		}
		if volumes["v1"] != 2 || volumes["v2"] != 2 || bytes[filewise.RoleData] < 4<<20 {
			t.Errorf("%v %v", volumes, bytes)
		}
		logs := slices.DeleteFunc(files, func(f filewise.File) bool { return f.Role != filewise.RoleLog || !isBinlog(f.Path) })
		if len(logs) == 0 || logs[0].Bytes > 64<<10 {
			t.Errorf("the load is in the binary log: %+v", logs)
		}
		if err := db.Evict(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
}

// testOrders: partitions and tables that come and go, on two volumes; what sessions
// report as done is done when they are cancelled at work, and nothing else.
func testOrders(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	w, err := workload.NewOrders(workload.Params{Connections: 3, Warehouses: 2, Scale: 0.001, Churn: true}, 5)
	if err != nil {
		t.Fatal(err)
	}
	s := sub.open(t, ctx, sub.onScratch(t, 2))
	db := build(t, ctx, s, phaseLayout(filewise.KindPartitions, 2, 24<<20), w)
	load(t, ctx, db, w)
	if err := w.Check(ctx, db, filewise.AsLoaded, nil); err != nil {
		t.Error(err)
	}
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	ledger, errs := make(filewise.Ledger, 3), make([]error, 3)
	var wg sync.WaitGroup
	for c := range ledger {
		session, err := db.Connect(ctx, 0, c)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		wg.Go(func() {
			for errs[c] == nil || filewise.ClassOf(errs[c]) == filewise.ClassDeadlock {
				var n int64
				if n, errs[c] = session.Do(working, ledger[c], 1); n > 0 {
					ledger[c] += n
				}
				if ledger[c] == 20 && c == 0 {
					cancel() // in the middle of the others' work
				}
			}
		})
	}
	wg.Wait()
	for c, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("connection %d ended by %v", c, err)
		}
	}
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
	if err := db.Settle(ctx); err != nil {
		t.Error(err)
	}
	files, err := db.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	volumes := map[string]int{}
	for _, f := range files {
		if f.Role == filewise.RoleData {
			volumes[f.Volume]++
		}
	}
	if volumes["v1"] != 9 || volumes["v2"] != 9 {
		t.Errorf("files by volume: %v", volumes)
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
}
