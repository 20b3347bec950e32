//go:build linux

package managed_test

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/managed"
)

// Reset brings rows and files back, again and again, and reports where its time
// went. The time of a cp of the same files is logged next to it.
func testReset(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	target := sub.onScratch(t, 1)
	s := sub.open(t, ctx, target)
	w := inserts(t, nil)
	db := build(t, ctx, s, systemLayout(4, 48<<20), w)
	if err := db.Reset.Reset(ctx); err == nil {
		t.Fatal("reset without a snapshot")
	}
	loaded := work(t, ctx, db, w, 0, 400)
	if err := db.Reset.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		work(t, ctx, db, w, 400, 3000)
		start := time.Now()
		if err := db.Reset.Reset(ctx); err != nil {
			t.Fatal(err)
		}
		t.Logf("reset %v: %v; cp + sync of all files: %v", time.Since(start), db.Reset.Took(),
			copyTree(t, target.Volumes[0].Dir))
		if err := w.Check(ctx, db, 0, []filewise.Ledger{loaded}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Observe(ctx); err != nil {
			t.Fatal(err)
		}
	}
	took := db.Reset.Took()
	if len(took) != 3 || took[0].Name != "stop" || took[1].Name != "copy" || took[2].Name != "start" {
		t.Errorf("%v", took)
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
}

// A build that is loaded and kept gives the next ones of its layout their files, wherever
// they lie; what is done to one is in no other. The loaded server had a larger cache.
func testCopies(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	s := sub.open(t, ctx, sub.onScratch(t, 1))
	w := inserts(t, nil)
	p := w.Program()
	p.Preload = 1 << 20
	made := func(wantCopied bool, pool string) *filewise.Database {
		t.Helper()
		db, err := s.Build(ctx, systemLayout(4, 48<<20), p)
		if err != nil {
			t.Fatal(err)
		}
		if db.Keep == nil || db.Copied != wantCopied || cacheOf(t, db) != pool {
			t.Fatalf("a copy: %v, a cache of %s; wanted %v, %s", db.Copied, cacheOf(t, db), wantCopied, pool)
		}
		return db
	}
	first := made(false, "48")
	loaded := work(t, ctx, first, w, 0, 400)
	if err := first.Keep(ctx); err != nil {
		t.Fatal(err)
	}
	for _, db := range []*filewise.Database{first, made(true, "16"), made(true, "16")} {
		if got := cacheOf(t, db); got != "16" {
			t.Errorf("measured with a cache of %s MiB", got)
		}
		if err := w.Check(ctx, db, 0, []filewise.Ledger{loaded}); err != nil {
			t.Error(err)
		}
		if _, err := db.Observe(ctx); err != nil {
			t.Error(err)
		}
		work(t, ctx, db, w, 400, 100)
		if err := db.Drop(ctx); err != nil {
			t.Error(err)
		}
	}
}

// cacheOf returns the size of the buffer pool in MiB.
func cacheOf(t *testing.T, db *filewise.Database) (mib string) {
	t.Helper()
	in, err := managed.Look(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Control.QueryRowContext(t.Context(), "SELECT @@innodb_buffer_pool_size DIV 1048576").Scan(&mib); err != nil {
		t.Fatal(err)
	}
	return mib
}

// copyTree times cp and sync of the build's files.
func copyTree(t *testing.T, dir string) time.Duration {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	start := time.Now()
	script := `cp -r --reflink=never "$1"/*-0001-0.snapshot "$2" && find "$2" -type f -exec sync {} +`
	if out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", script, "sh", dir, to).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	took := time.Since(start)
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	return took
}

// What was committed with durability full survives a crash; every part of the
// life cycle takes some time; nothing works while the server is stopped.
func testLifecycle(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	s := sub.open(t, ctx, sub.onScratch(t, 1))
	w := inserts(t, nil)
	db := build(t, ctx, s, systemLayout(2, 24<<20), w)
	positive := func(took time.Duration, err error) {
		t.Helper()
		if err != nil || took <= 0 {
			t.Fatal(took, err)
		}
		t.Log(took)
	}
	ledger := work(t, ctx, db, w, 0, 200)
	positive(db.Lifecycle.Checkpoint(ctx))
	if _, err := db.Lifecycle.Open(ctx); err == nil {
		t.Error("a running server is opened")
	}
	positive(db.Lifecycle.Shutdown(ctx))
	if _, err := db.Lifecycle.Shutdown(ctx); err == nil {
		t.Error("a stopped server is shut down")
	}
	if err := db.Settle(ctx); err == nil {
		t.Error("a stopped server settles")
	}
	positive(db.Lifecycle.Open(ctx))
	ledger = work(t, ctx, db, w, ledger[0], 300)
	if err := db.Lifecycle.Crash(ctx); err != nil {
		t.Fatal(err)
	}
	positive(db.Lifecycle.Open(ctx))
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
	if err := db.Restart(ctx); err != nil {
		t.Error(err)
	}
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
}

// purged waits for MariaDB's purge, which visits inserted rows, too, and makes their pages dirty
// once more (MDEV-12288).
func purged(t *testing.T, ctx context.Context, sub subject, control *sql.DB) {
	t.Helper()
	if sub.Engine != innodb.MariaDB {
		return
	}
	if _, err := control.ExecContext(ctx, "SET GLOBAL innodb_max_purge_lag_wait = 0"); err != nil {
		t.Fatal(err)
	}
}

// The way of releases without innodb_log_checkpoint_now leaves nothing dirty
// either, and its settings as they were.
func testFlushByLimit(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	s := sub.open(t, ctx, sub.onScratch(t, 1))
	w := inserts(t, nil)
	db := build(t, ctx, s, systemLayout(1, 24<<20), w)
	work(t, ctx, db, w, 0, 200)
	control := look(t, db).Control
	read := func(query string) (value string) {
		t.Helper()
		var name string
		if err := control.QueryRowContext(ctx, query).Scan(&name, &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	const limit, capacity, dirty = "SHOW VARIABLES LIKE 'innodb_max_dirty_pages_pct'", "SHOW VARIABLES LIKE 'innodb_io_capacity'",
		"SHOW STATUS LIKE 'Innodb_buffer_pool_pages_dirty'"
	before := []string{read(limit), read(capacity)}
	if read(dirty) == "0" {
		t.Fatal("nothing is dirty after the work: the test proves nothing")
	}
	purged(t, ctx, sub, control)
	start := time.Now()
	idle, err := dialect.FlushByLimit(ctx, control)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); idle < 0 || idle >= took {
		t.Errorf("idle for %v of %v, and it wrote", idle, took)
	}
	if idle, err := dialect.FlushByLimit(ctx, control); idle != 0 || err != nil {
		t.Errorf("with nothing to write it waited for %v: %v", idle, err)
	}
	if got := read(dirty); got != "0" {
		t.Errorf("%s dirty pages are left", got)
	}
	if after := []string{read(limit), read(capacity)}; after[0] != before[0] || after[1] != before[1] {
		t.Errorf("settings are %v, were %v", after, before)
	}
}

// What settles has nothing dirty, and all that was committed in the data files: a server
// that is killed then has nothing to recover it from.
func testSettle(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	s := sub.open(t, ctx, sub.onScratch(t, 1))
	w := inserts(t, nil)
	db := build(t, ctx, s, systemLayout(2, 24<<20), w)
	ledger := work(t, ctx, db, w, 0, 200)
	product := dialect.MariaDB
	if sub.Engine == innodb.MySQL {
		product = dialect.MySQL
	}
	names := []string{"Innodb_buffer_pool_pages_dirty", product.LogCheckpoint, product.LogEnd}
	read := func() [3]int {
		t.Helper()
		status, err := dialect.Status(ctx, look(t, db).Control, names...)
		if err != nil {
			t.Fatal(err)
		}
		var values [3]int
		for i, name := range names {
			if values[i], err = strconv.Atoi(status[name]); err != nil {
				t.Fatal(name, err)
			}
		}
		return values
	}
	before := read()
	if before[0] == 0 {
		t.Fatal("nothing is dirty after the work: the test proves nothing")
	}
	purged(t, ctx, sub, look(t, db).Control)
	if err := db.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	// A page of the server's own can be dirty again, of temporary tables for one, which it logs nothing of.
	const idle = 1 << 10 // B that it logs by itself
	after := read()
	for product == dialect.MySQL && after[1] < before[2] && ctx.Err() == nil { // its log looks once a second
		if after = read(); after[0] > before[0]/2 {
			break
		}
	}
	if after[0] != 0 && after[2] > after[1]+idle || after[1] < before[2] {
		t.Errorf("%s are %v, were %v", names, after, before)
	}
	if err := db.Lifecycle.Crash(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Lifecycle.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
}
