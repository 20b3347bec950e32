package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/own/inspect"
)

// plantedShop has a table of which one partition holds nearly all, in another
// tablespace than the rest, and sorts that have spilled.
var plantedShop = []string{
	"CREATE TABLE events (region text, id bigint, body text) PARTITION BY LIST (region)",
	"CREATE TABLE events_eu PARTITION OF events FOR VALUES IN ('eu') TABLESPACE spare",
	"CREATE TABLE events_us PARTITION OF events FOR VALUES IN ('us')",
	"INSERT INTO events SELECT CASE WHEN i % 50 = 0 THEN 'us' ELSE 'eu' END, i, repeat(md5(i::text), 3) FROM generate_series(1, 20000) i",
	"ANALYZE events", "CREATE TABLE counters AS SELECT 1 AS id, 0 AS n",
	"SET work_mem = '64kB'", "SELECT count(*) FROM (SELECT * FROM events ORDER BY body OFFSET 1) x",
}

// inspected: what is planted is found, with its evidence and what it is worth; what
// the account may not see, or another session has locked, is named, and the rest
// shown; nothing is changed.
func inspected(t *testing.T, f *usersServer) {
	f.do("CREATE DATABASE shop")
	defer f.do("DROP DATABASE shop WITH (FORCE)")
	shop := f.admin.To("shop")
	defer shop.Close()
	must(t, shop.Exec(deadline(t), plantedShop...))
	shop.Forget() // a session's counters are reported at its end
	target := f.target()
	target.Address.Path = "shop"

	poor := inspectAt(t, target)
	f.do("GRANT pg_monitor TO filewise_account")
	defer f.do("REVOKE pg_monitor FROM filewise_account")
	waitFor(t, func() bool {
		var bytes int64
		must(t, f.admin.Scan(deadline(t), "SELECT temp_bytes FROM pg_stat_database WHERE datname = 'shop'", nil, &bytes))
		return bytes > 1<<20
	})
	free := contended(t, shop)
	rich := inspectAt(t, target)
	free()
	t.Run("Planted", func(t *testing.T) { plantedFound(t, shop, rich) })
	t.Run("Rights", func(t *testing.T) { rightsNamed(t, poor, rich) })
	t.Run("ReadOnly", func(t *testing.T) { readsOnly(t, target) })
	if f.tls {
		t.Run("Locked", func(t *testing.T) { lockedCatalogue(t, f, target) })
	}
}

func inspectAt(t *testing.T, target filewise.Target) filewise.Inspection {
	t.Helper()
	i, err := inspect.Facts(deadline(t), Engine{}, target)
	must(t, err)
	return i
}

// contended has a session wait for a row that another has changed; free ends both.
func contended(t *testing.T, shop *client.Link) (free func()) {
	ctx, cancel := context.WithCancel(deadline(t))
	must(t, shop.Exec(ctx, "SELECT 1"))
	done := make(chan struct{}, 2)
	for range 2 { // one has the row, the other waits
		go func() {
			_ = shop.Exec(ctx, "DO $$ BEGIN UPDATE counters SET n = n + 1; PERFORM pg_sleep(60); END $$") // cancelled
			done <- struct{}{}
		}()
	}
	waitFor(t, func() bool {
		var n int
		must(t, shop.Scan(ctx, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'", nil, &n))
		return n == 1
	})
	return func() { cancel(); <-done; <-done }
}

func plantedFound(t *testing.T, shop *client.Link, i filewise.Inspection) {
	var eu, us int64
	must(t, shop.Scan(deadline(t), "SELECT pg_relation_size('events_eu'), pg_relation_size('events_us')", nil, &eu, &us))
	n := slices.IndexFunc(i.Groups, func(g filewise.FileGroup) bool { return g.Name == "table public.events" })
	if n < 0 {
		t.Fatalf("no group of the partitions: %+v", i.Groups)
	}
	bytes, volumes := map[string]int64{}, map[string]string{}
	for _, file := range i.Groups[n].Files {
		bytes[file.Path], volumes[file.Path] = file.Bytes, file.Volume
	}
	if bytes["public.events_eu"] != eu || bytes["public.events_us"] != us || volumes["public.events_eu"] != "tablespace spare" ||
		volumes["public.events_us"] != "tablespace pg_default" {
		t.Errorf("want %d and %d bytes, got %v on %v", eu, us, bytes, volumes)
	}
	if g := i.Groups[n]; g.RowBytes < 60 || g.RowBytes > 250 || g.Inserted < 1 {
		t.Errorf("rows: %+v", g)
	}
	if n := i.Figures[filewise.FigureSessions]; n < 3 { // the two, and the test's own
		t.Errorf("%v sessions", n)
	}
	if i.Figures[filewise.FigureTempFiles] < 1 || i.Figures[filewise.FigureTempBytes] < 1<<20 || i.Since <= 0 {
		t.Errorf("temporary files: %v in %v", i.Figures, i.Since)
	}
	if !slices.ContainsFunc(i.Waits, func(w filewise.Counter) bool {
		return w.Name == "Lock/transactionid" && w.Class == filewise.WaitLock && w.Value >= looks/2
	}) {
		t.Errorf("a session waited for a row all the time: %+v", i.Waits)
	}
	if !slices.ContainsFunc(i.Places, func(p filewise.Place) bool { return p.Dir == "tablespace:spare" }) {
		t.Errorf("the tablespace that may be used is no place: %+v", i.Places)
	}
	i.Cores = 4
	r := inspect.Judge(i, inspect.Target{Engine: "postgres", Flags: []string{"--target", "postgres://h/shop"}})
	for about, says := range map[string]string{
		"table public.events": "2 partitions", "table public.events: balance": "public.events_eu holds 98 % of all",
		"sorts and hashes in temporary files": "written",
		"placement":                           "on tablespace spare", "write-ahead log": "segments",
		"waits now":   "Lock/transactionid 100 % (lock)",
		"checkpoints": "max_wal_size",
	} {
		n := slices.IndexFunc(r.Findings, func(f inspect.Finding) bool { return f.About == about })
		if n < 0 || !strings.Contains(r.Findings[n].Evidence, says) {
			t.Errorf("%s does not say %q: %+v", about, says, r.Findings)
		}
	}
}

func rightsNamed(t *testing.T, poor, rich filewise.Inspection) {
	for _, g := range rich.Gaps {
		if g.Remedy == "" || !strings.Contains(g.Why, "track_io_timing") {
			t.Errorf("with pg_monitor there is a gap: %+v", g)
		}
	}
	text := fmt.Sprint(poor.Gaps)
	for _, says := range []string{"{files of the WAL permission denied for function pg_ls_waldir as a superuser: GRANT pg_monitor TO " +
		"\"filewise_account\"}", "waits of other roles", "GRANT pg_read_all_settings"} {
		if !strings.Contains(text, says) {
			t.Errorf("%q is not in %s", says, text)
		}
	}
	if len(poor.Groups) != len(rich.Groups)-1 { // without the log's
		t.Errorf("without the right %d groups are seen, with it %d", len(poor.Groups), len(rich.Groups))
	}
}

// readsOnly: the server refuses what would write, and an inspection takes no number
// of a transaction, as all that writes does; autovacuum can take one next to it.
func readsOnly(t *testing.T, target filewise.Target) {
	l, err := client.Open(*target.Address, client.ReadingSettings())
	must(t, err)
	defer l.Close()
	var readOnly, patience string
	must(t, l.Scan(deadline(t), "SELECT current_setting('default_transaction_read_only'), current_setting('statement_timeout')", nil,
		&readOnly, &patience))
	if readOnly != "on" || patience != "3s" {
		t.Errorf("read-only is %s, the limit of a statement %s", readOnly, patience)
	}
	if err := l.Exec(deadline(t), "CREATE TABLE written ()"); client.CodeOf(err) != "25006" {
		t.Errorf("a table is made: %v", err)
	}
	var before, after string
	for range 4 {
		must(t, l.Scan(deadline(t), "SELECT pg_snapshot_xmax(pg_current_snapshot())::text", nil, &before))
		inspectAt(t, target)
		must(t, l.Scan(deadline(t), "SELECT pg_snapshot_xmax(pg_current_snapshot())::text", nil, &after))
		if before == after {
			return
		}
	}
	t.Errorf("transactions %s … %s have written", before, after)
}

// lockedCatalogue: the planner reads pg_tablespace for every table, so that no question
// works that has one; the rest is.
func lockedCatalogue(t *testing.T, f *usersServer, target filewise.Target) {
	ctx, cancel := context.WithCancel(deadline(t))
	done := make(chan struct{})
	go func() {
		_ = f.admin.Exec(ctx, "DO $$ BEGIN LOCK TABLE pg_tablespace IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(60); END $$") // cancelled
		close(done)
	}()
	defer func() { cancel(); <-done }()
	waitFor(t, func() bool {
		var n int
		must(t, f.admin.Scan(ctx, "SELECT count(*) FROM pg_lock_status() WHERE relation = 1213 AND granted AND mode = 'AccessExclusiveLock'",
			nil, &n))
		return n == 1
	})
	i := inspectAt(t, target)
	if len(i.Groups) == 0 || i.Settings["max_wal_size"] == "" || i.Figures[filewise.FigureBuffer] <= 0 {
		t.Errorf("what nobody has locked is not seen: %+v", i)
	}
	if _, ok := i.Figures[filewise.FigureTimed]; !ok {
		t.Errorf("the checkpoints' counters are in no table: %v", i.Figures)
	}
	for _, question := range []string{"tablespaces", "databases", "sizes of tables"} {
		n := slices.IndexFunc(i.Gaps, func(g filewise.Gap) bool { return g.Question == question })
		if n < 0 || !strings.Contains(i.Gaps[n].Why, "pg_tablespace is locked by process") || !strings.Contains(i.Gaps[n].Remedy, "ask again") {
			t.Errorf("%s: %+v", question, i.Gaps)
		}
	}
}
