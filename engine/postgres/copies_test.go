//go:build linux

package postgres

import (
	"slices"
	"testing"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/lab/workload"
)

// A build that is loaded and kept gives the next ones of its layout their files, its
// tablespaces and its WAL included, wherever they lie; what is done to one is in no other.
// Only the server that is loaded has a larger cache, and starts without a limit of memory.
func TestCopies(t *testing.T) {
	t.Parallel()
	need(t)
	ctx := deadline(t)
	target := onScratch(t, 3)
	var loading, measuring []int
	target.OnLoad = func(pid int) error { loading = append(loading, pid); return nil }
	target.OnStart = func(pid int) error { measuring = append(measuring, pid); return nil }
	s := open(t, ctx, target)
	w := inserts(t, nil)
	p := w.Program()
	p.Preload = 1 << 20
	layout := partitions(3, 48<<20)
	layout.LogVolume = "v3"
	made := func(wantCopied bool) *filewise.Database {
		t.Helper()
		db, err := s.Build(ctx, layout, p)
		if err != nil {
			t.Fatal(err)
		}
		if db.Keep == nil || db.Copied != wantCopied {
			t.Fatalf("a copy: %v, wanted %v", db.Copied, wantCopied)
		}
		return db
	}
	first := made(false)
	if got := setting(t, first, "shared_buffers"); got != "48MB" || len(loading) != 1 {
		t.Errorf("loaded with a cache of %s, %d servers", got, len(loading))
	}
	loaded := work(t, ctx, first, w, 0, 400)
	if err := first.Keep(ctx); err != nil {
		t.Fatal(err)
	}
	for _, db := range []*filewise.Database{first, made(true), made(true)} {
		if got := setting(t, db, "shared_buffers"); got != "16MB" {
			t.Errorf("measured with a cache of %s", got)
		}
		if err := w.Check(ctx, db, 0, []filewise.Ledger{loaded}); err != nil {
			t.Error(err)
		}
		files, err := db.Observe(ctx)
		if err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(files, func(f filewise.File) bool { return f.Volume == "v2" && f.Role == filewise.RoleData }) {
			t.Errorf("no data on the second volume: %v", files)
		}
		work(t, ctx, db, w, 400, 100)
		if err := db.Drop(ctx); err != nil {
			t.Error(err)
		}
	}
	if len(loading) != 1 || len(measuring) < 3 {
		t.Errorf("%d servers were started to be loaded, %d to be measured", len(loading), len(measuring))
	}
}

// What is loaded at once are the rows that the workload's own loop would have made, whatever
// their keys and tables.
func TestLoadedRows(t *testing.T) {
	t.Parallel()
	need(t)
	ctx := deadline(t)
	s := open(t, ctx, onScratch(t, 1))
	for _, c := range []func(*workload.Params){
		func(p *workload.Params) { p.Key = workload.KeyRandom },
		func(p *workload.Params) { p.Table, p.RowBytes = workload.TablePerConnection, 3000 },
	} {
		w := inserts(t, c)
		p := w.Program()
		p.Preload = 1 << 20
		db, err := s.Build(ctx, partitions(2, 48<<20), p)
		if err != nil {
			t.Fatal(err)
		}
		ledger := work(t, ctx, db, w, 0, 300)
		if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
			t.Error(err)
		}
		if err := db.Reset.Snapshot(ctx); err != nil { // from now on by the loop
			t.Fatal(err)
		}
		if err := w.Check(ctx, db, 0, []filewise.Ledger{work(t, ctx, db, w, 300, 50)}); err != nil {
			t.Error(err)
		}
		if err := db.Drop(ctx); err != nil {
			t.Error(err)
		}
	}
}

// setting returns what a build's server is set to.
func setting(t *testing.T, db *filewise.Database, name string) string {
	t.Helper()
	rows, err := db.Build.(*build).link.Rows(t.Context(), "SELECT current_setting($1)", name)
	if err != nil {
		t.Fatal(err)
	}
	return client.Text(rows[0][0])
}
