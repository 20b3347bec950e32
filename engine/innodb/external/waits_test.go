package external

import (
	"slices"
	"testing"
	"time"

	"filewise"
)

// testWaits: a session that waits for a table which another has locked is seen by
// the samplers, by its state and with its class; one of another database is not.
func testWaits(t *testing.T, b bench) {
	s := open(t, b, b.Target("filewise"))
	ctx := deadline(t)
	w := inserts(t, nil)
	db := buildOn(t, s, layout(filewise.KindPartitions, 1), w)
	name := db.Build.(built).name
	b.Exec(t, "CREATE DATABASE elsewhere", "CREATE TABLE elsewhere.t (a INT)")
	defer b.Exec(t, "DROP DATABASE elsewhere")
	holder, err := b.Root.Conn(ctx)
	fatal(t, err)
	defer holder.Close()
	_, err = holder.ExecContext(ctx, "LOCK TABLES elsewhere.t WRITE, `"+name+"`.fw_rows WRITE")
	fatal(t, err)
	done := make(chan error, 2)
	for _, database := range []string{name, "elsewhere"} {
		table := map[bool]string{true: "fw_rows", false: "t"}[database == name]
		go func() {
			conn, err := b.Root.Conn(ctx)
			if err == nil {
				_, err = conn.ExecContext(ctx, "USE `"+database+"`")
			}
			if err == nil {
				var n int
				err = conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n)
				_ = conn.Close()
			}
			done <- err
		}()
	}
	n := slices.IndexFunc(db.Probes, func(p filewise.Probe) bool { _, ok := p.(filewise.Sampler); return ok })
	if n < 0 {
		t.Fatalf("no sampler of waits: %v", db.Probes)
	}
	waited := 0.0
	for limit := time.Now().Add(20 * time.Second); waited == 0 && time.Now().Before(limit); {
		fatal(t, db.Probes[n].(filewise.Sampler).Sample(ctx, time.Second))
		all, err := db.Probes[n].Read(ctx)
		fatal(t, err)
		for _, c := range all {
			if c.Class == filewise.WaitLock {
				waited += c.Value
			}
		}
	}
	if waited < 0.9 || waited > 2 { // less what a look before stood for, and more until the reading
		t.Errorf("a session of the build has waited for a lock for a look of 1 s, seen are %v s", waited)
	}
	_, err = holder.ExecContext(ctx, "UNLOCK TABLES")
	fatal(t, err)
	fatal(t, <-done)
	fatal(t, <-done)
	fatal(t, db.Drop(ctx))
}

// testMemory: what can hold the data is the buffer pool, unless the system caches the files.
func testMemory(t *testing.T, b bench) {
	db := buildOn(t, open(t, b, b.Target("filewise")), layout(filewise.KindPartitions, 1), inserts(t, nil))
	ctx := deadline(t)
	var pool float64
	var direct bool
	fatal(t, b.Root.QueryRowContext(ctx, "SELECT @@innodb_buffer_pool_size, @@innodb_flush_method LIKE 'O_DIRECT%'").Scan(&pool, &direct))
	i := slices.IndexFunc(db.Probes, func(p filewise.Probe) bool { return p.Name() == filewise.ProbeServerMemory })
	for n := range 2 {
		found, err := db.Probes[i].Read(ctx)
		fatal(t, err)
		if !direct {
			if len(found) > 0 {
				t.Errorf("%v although the system caches files", found)
			}
			continue
		}
		if mean := found[0].Value / found[1].Value; n == 1 && (mean < 0.99*pool || mean > 1.01*pool) {
			t.Errorf("%.0f bytes of memory, of a pool of %.0f", mean, pool)
		}
	}
	fatal(t, db.Drop(ctx))
}
