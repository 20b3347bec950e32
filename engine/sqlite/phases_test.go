package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

func phased(t *testing.T, w filewise.Workload, err error, files int) *filewise.Database {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, err := New().Open(t.Context(), filewise.Target{Engine: "sqlite", Mode: filewise.Embedded, Durability: filewise.DurabilityNormal,
		Volumes: []filewise.Volume{{Name: "a", Dir: dir}}})
	if err != nil {
		t.Fatal(err)
	}
	l := filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindShards,
		Data: filewise.Spread{Files: files, Bytes: 4 << 20, Allocation: filewise.Growing}}
	db, err := s.Build(t.Context(), l, w.Program())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Drop(context.Background()); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
	})
	return db
}

// phases does all phases of work and checks after each.
func phases(t *testing.T, db *filewise.Database, w filewise.Workload) {
	t.Helper()
	var ledgers []filewise.Ledger
	for i, p := range w.Program().Phases {
		ledger := make(filewise.Ledger, p.Connections)
		for c := range ledger {
			s, err := db.Connect(t.Context(), i, c)
			if err != nil {
				t.Fatal(err)
			}
			if ledger[c], err = s.Do(t.Context(), 0, p.Ops/int64(p.Connections)); err != nil {
				t.Fatalf("%s: %v", p.Operation, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		ledgers = append(ledgers, ledger)
		if err := w.Check(t.Context(), db, i, ledgers); err != nil {
			t.Fatal(err)
		}
		if i == 0 && p.Section == "insert" {
			wrong := append([]filewise.Ledger(nil), ledgers...)
			wrong[0] = filewise.Ledger{ledger[0] + 1}
			if w.Check(t.Context(), db, i, wrong) == nil {
				t.Error("the check does not see a row too few")
			}
		}
	}
}

func TestDML(t *testing.T) {
	for _, files := range []int{1, 3, 16} {
		for _, index := range []string{workload.IndexNone, workload.IndexKey} {
			for _, connect := range []string{workload.ConnectPooled, workload.ConnectPerStatement} {
				w, err := workload.NewDML(workload.Params{Connections: 4, Rows: 200, Mode: workload.ModeBoth, Connect: connect, Index: index}, 7)
				phases(t, phased(t, w, err, files), w)
			}
		}
	}
}

func loadAll(t *testing.T, db *filewise.Database, w filewise.Workload) {
	t.Helper()
	for _, table := range w.(filewise.Loadable).Data() {
		for b := range table.Batches {
			for range 2 { // again: it is loaded already
				if err := db.Bulk.LoadBatch(t.Context(), table, b); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := db.Bulk.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Check(t.Context(), db, filewise.AsLoaded, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Observe(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestScan(t *testing.T) {
	for _, data := range []string{workload.DataOrdered, workload.DataGrown} {
		for _, files := range []int{1, 2, 4} {
			w, err := workload.NewScan(workload.Params{Rows: 2500, Cache: workload.CacheWarm, Data: data, Repeat: 2}, 7)
			db := phased(t, w, err, files)
			loadAll(t, db, w)
			phases(t, db, w)
			for _, cool := range []func(context.Context) error{db.Restart, db.Evict} {
				if err := cool(t.Context()); err != nil {
					t.Fatal(err)
				}
				phases(t, db, w)
			}
		}
	}
}

func TestBackup(t *testing.T) {
	for _, files := range []int{1, 4} {
		w, err := workload.NewBackup(workload.Params{Rows: 1500}, 7)
		db := phased(t, w, err, files)
		loadAll(t, db, w)
		for range 2 {
			made, err := db.Backup.Backup(t.Context())
			if err != nil || len(made) != files || made[0].Bytes == 0 || made[0].Role != filewise.RoleBackup {
				t.Fatal(made, err)
			}
			if err := db.Backup.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := db.Backup.Verify(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := db.Backup.Discard(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A restored file of which one byte is another is refused, wherever that lies; with a load
// during the backup, rows that are not the original's are.
func TestRestoredIsCompared(t *testing.T) {
	for _, beside := range []int{0, 2} {
		w, err := workload.NewBackup(workload.Params{Rows: 1500, ConcurrentLoad: beside}, 7)
		db := phased(t, w, err, 2)
		loadAll(t, db, w)
		if _, err := db.Backup.Backup(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := db.Backup.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		original := db.Backup.(*backuper).d.shards[1].path
		path := original + restoredSuffix
		if beside == 0 {
			if err := os.Truncate(original, 8<<20); err != nil { // space beyond its pages, as growth gives
				t.Fatal(err)
			}
			if err := db.Backup.Verify(t.Context()); err != nil {
				t.Errorf("what was restored is not the original: %v", err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			content[len(content)-20]++
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			c, err := open(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.query(t.Context(), "DELETE FROM frag2 WHERE id = 5"); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Backup.Verify(t.Context()); !errors.Is(err, filewise.ErrCheck) {
			t.Errorf("with %d beside, damage passes: %v", beside, err)
		}
	}
}

// TestBackupsApart: stripes never lie in the data's directories, and what a failed backup
// leaves is removed with the build, while a file of the user's stays.
func TestBackupsApart(t *testing.T) {
	volumes := []filewise.Volume{{Name: "data", Dir: t.TempDir()}, {Name: "b", Dir: t.TempDir()}, {Name: "c", Dir: t.TempDir()}}
	target := filewise.Target{Engine: "sqlite", Mode: filewise.Embedded, Durability: filewise.DurabilityNormal, Volumes: volumes}
	s, err := New().Open(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workload.NewBackup(workload.Params{Rows: 1000}, 7)
	if err != nil {
		t.Fatal(err)
	}
	l := filewise.Layout{Name: "2 files", Kind: filewise.KindShards,
		Data:   filewise.Spread{Files: 2, Bytes: 4 << 20, Allocation: filewise.Growing},
		Backup: filewise.Spread{Placement: filewise.PlaceApart}}
	db, err := s.Build(t.Context(), l, w.Program())
	if err != nil {
		t.Fatal(err)
	}
	loadAll(t, db, w)
	script, err := New().Statements(target, l, w.Program())
	if err != nil {
		t.Fatal(err)
	}
	made, err := db.Backup.Backup(t.Context())
	if err != nil || len(made) != 2 || made[0].Volume != "b" || made[1].Volume != "c" {
		t.Fatalf("%+v %v; want a stripe on b and one on c", made, err)
	}
	for _, f := range made {
		if room := script.Space[f.Volume]; room < f.Bytes || room > 4*f.Bytes {
			t.Errorf("the plan wants %d bytes on volume %s for a stripe of %d", room, f.Volume, f.Bytes)
		}
	}
	if err := db.Backup.Discard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(made[1].Path, []byte("the user's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Backup.Backup(t.Context()); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("backed up over a file that exists: %v", err)
	}
	if err := db.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(made[1].Path); err != nil || string(text) != "the user's" {
		t.Errorf("the user's file: %q, %v", text, err)
	}
	for i, v := range volumes {
		if left, err := os.ReadDir(v.Dir); err != nil || len(left) != i/2 {
			t.Errorf("volume %s: %v %v", v.Name, left, err)
		}
	}
	if err := os.Remove(made[1].Path); err != nil {
		t.Fatal(err)
	}
	l.Data.Placement, l.Data.Files = filewise.PlaceRoundRobin, 3
	if _, err := s.Build(t.Context(), l, w.Program()); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("data on every volume and backups apart: %v", err)
	}
}

// TestInstancesSideBySide: builds of one layout stand next to each other, and the
// name of one that is gone is given again.
func TestBuildsSideBySide(t *testing.T) {
	dir := t.TempDir()
	s, err := New().Open(t.Context(), filewise.Target{Engine: "sqlite", Mode: filewise.Embedded, Durability: filewise.DurabilityNormal,
		Volumes: []filewise.Volume{{Name: "a", Dir: dir}}})
	if err != nil {
		t.Fatal(err)
	}
	w, err := workload.NewBackup(workload.Params{Rows: 1000}, 7)
	if err != nil {
		t.Fatal(err)
	}
	l := filewise.Layout{Name: "1 file", Kind: filewise.KindShards,
		Data: filewise.Spread{Files: 1, Bytes: 4 << 20, Allocation: filewise.Growing}}
	build := func() (*filewise.Database, string) {
		t.Helper()
		db, err := s.Build(t.Context(), l, w.Program())
		if err != nil {
			t.Fatal(err)
		}
		files, err := db.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return db, files[0].Path
	}
	first, path := build()
	second, other := build()
	if path == other {
		t.Fatalf("both lie in %s", path)
	}
	loadAll(t, second, w)
	if err := first.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	third, again := build()
	if again != path {
		t.Errorf("the third lies in %s, not in %s, which is free", again, path)
	}
	loadAll(t, third, w)
	for _, db := range []*filewise.Database{second, third} {
		if err := db.Drop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
