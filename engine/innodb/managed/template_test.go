//go:build linux

package managed_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/managed"
	"filewise/lab/workload"
)

// plain is MySQL as users have it: tests share no templates of it.
var plain = *dialect.MySQL

// The second build of a layout comes from an image of the first: without a server
// that creates it, in whatever directory, and with files that are the same on the storage.
func TestTemplate(t *testing.T) {
	mySQL.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	started := 0
	s, err := managed.Engine{Product: &plain}.Open(ctx, filewise.Target{
		Engine: "mysql", Mode: filewise.Managed, Durability: filewise.DurabilityNormal,
		Volumes: []filewise.Volume{{Name: "v1", Dir: t.TempDir()}, {Name: "v2", Dir: t.TempDir()}},
		OnStart: func(int) error { started++; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	layout := func(files int) filewise.Layout {
		return filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindSystem,
			Data: filewise.Spread{Files: files, Bytes: 24 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceRoundRobin}}
	}
	identities := map[string]bool{}
	first := ""
	for _, c := range []struct{ files, connections, processes int }{{4, 2, 2}, {4, 2, 1}, {4, 200, 1}, {1, 2, 2}} {
		w, err := workload.NewInserts(workload.Params{Connections: c.connections, RowBytes: 200, CommitEvery: 5, Table: workload.TableShared,
			Key: workload.KeyRandom}, 1)
		if err != nil {
			t.Fatal(err)
		}
		started = 0
		start := time.Now()
		db, err := s.Build(ctx, layout(c.files), w.Program())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d files built in %v by %d processes", c.files, time.Since(start).Round(time.Millisecond), started)
		if started != c.processes || (db.First > 0) != (c.processes == 2) {
			t.Errorf("%+v: %d processes were started, %v of it once", c, started, db.First)
		}
		identities[identity(t, db)] = true
		if c.files == 4 {
			if got := lie(t, db); first == "" {
				first = got
			} else if got != first {
				t.Errorf("files of a build from a template:\n%sof the first:\n%s", got, first)
			}
		}
		ledger := make(filewise.Ledger, c.connections)
		for n := range min(c.connections, 2) {
			session, err := db.Connect(ctx, 0, n)
			if err != nil {
				t.Fatal(err)
			}
			if ledger[n], err = session.Do(ctx, 0, 500); err != nil {
				t.Fatal(err)
			}
			session.Close()
		}
		if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
			t.Error(err)
		}
		defer func() { // all stand side by side, so that each has separate directories
			if err := db.Drop(ctx); err != nil {
				t.Error(err)
			}
		}()
	}
	if len(identities) != 4 {
		t.Errorf("4 servers have the identities %v", identities)
	}
}

func identity(t *testing.T, db *filewise.Database) (uuid string) {
	t.Helper()
	in, err := managed.Look(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Control.QueryRowContext(t.Context(), "SELECT @@server_uuid").Scan(&uuid); err != nil {
		t.Fatal(err)
	}
	return uuid
}

// lie returns how the data files lie on the storage.
func lie(t *testing.T, db *filewise.Database) (all string) {
	t.Helper()
	if err := db.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := db.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Role == filewise.RoleData {
			all += fmt.Sprintf("%s %s %d bytes, %d allocated, %d used\n", f.Volume, filepath.Base(f.Path), f.Bytes, *f.Allocated, *f.Used)
		}
	}
	return all
}
