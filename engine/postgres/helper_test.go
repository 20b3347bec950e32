package postgres

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"filewise"
	"filewise/workload"
)

// need skips a test of the real server where there is none, and fails it in CI:
// there a skipped test would be one that nobody runs.
func need(t *testing.T) {
	t.Helper()
	if _, err := find(t.Context(), ""); err != nil {
		missing(t, err.Error()+"; "+filewise.RemedyOf(err))
	}
}

func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("the tests of the real server did not run: %s", why)
	}
	t.Skipf("NO POSTGRESQL SERVER: %s", why)
}

// need18 is the directory of PostgreSQL 18: FILEWISE_POSTGRES18, or where
// scripts/get-postgres puts it.
func need18(t *testing.T) string {
	t.Helper()
	dirs := []string{os.Getenv("FILEWISE_POSTGRES18"), "/usr/local/lib/filewise/servers/postgres-18", filepath.Join(dataHome(), "filewise/servers/postgres-18")}
	for _, dir := range dirs {
		if in, err := find(t.Context(), dir); dir != "" && err == nil && in.number >= versionCRC {
			return in.bin
		}
	}
	missing(t, "there is no PostgreSQL 18; scripts/get-postgres 18")
	return ""
}

// deadline is what a test with a server may take at most.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// inserts is the workload with parameters of a small test.
func inserts(t *testing.T, change func(*workload.Params)) filewise.Workload {
	t.Helper()
	p := workload.Params{Connections: 4, RowBytes: 200, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential}
	if change != nil {
		change(&p)
	}
	w, err := workload.NewInserts(p, 42)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// onScratch is a target on volumes of the test's own.
func onScratch(t *testing.T, volumes int) filewise.Target {
	t.Helper()
	target := filewise.Target{Engine: "postgres", Mode: filewise.Managed, Durability: filewise.DurabilityOff}
	for i := range volumes {
		target.Volumes = append(target.Volumes, filewise.Volume{Name: "v" + string(rune('1'+i)), Dir: t.TempDir()})
	}
	return target
}

func partitions(files int, bytes int64) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindPartitions, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: bytes, Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}}
}

// open opens the target, and closes it at the end of the test.
func open(t *testing.T, ctx context.Context, target filewise.Target) filewise.Server {
	t.Helper()
	s, err := Engine{}.Open(ctx, target)
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, v := range target.Volumes {
			left, err := os.ReadDir(v.Dir)
			if target.Mode == filewise.Managed && (err != nil || len(left) > 0) {
				t.Errorf("left on %s: %v %v", v.Dir, left, err)
			}
		}
	})
	return s
}

// build builds a layout.
func buildOn(t *testing.T, ctx context.Context, s filewise.Server, l filewise.Layout, w filewise.Workload) *filewise.Database {
	t.Helper()
	db, err := s.Build(ctx, l, w.Program())
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	return db
}

// work has every worker do n operations in two calls, and returns the ledger.
func work(t *testing.T, ctx context.Context, db *filewise.Database, w filewise.Workload, first, n int64) filewise.Ledger {
	t.Helper()
	ledger := make(filewise.Ledger, w.Program().Connections)
	errs := make(chan error)
	for c := range ledger {
		go func() { errs <- workOne(ctx, db, c, first, n, &ledger[c]) }()
	}
	for range ledger {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return ledger
}

func workOne(ctx context.Context, db *filewise.Database, worker int, first, n int64, done *int64) error {
	s, err := db.Connector.Connect(ctx, worker)
	if err != nil {
		return err
	}
	defer s.Close()
	half := n / 2
	for _, part := range [][2]int64{{first, half}, {first + half, n - half}} {
		got, err := s.Do(ctx, part[0], part[1])
		*done += got
		if err != nil {
			return err
		}
	}
	*done += first
	return nil
}
