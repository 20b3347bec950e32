package enginetest

import (
	"context"
	"os"
	"testing"
	"time"

	"filewise"
	"filewise/workload"
)

// Within is what a test with a server may take at most.
func Within(t *testing.T, most time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), most)
	t.Cleanup(cancel)
	return ctx
}

// Inserts is the workload with parameters of a small test, which change may change.
func Inserts(t *testing.T, change func(*workload.Params)) filewise.Workload {
	t.Helper()
	p := workload.Params{Connections: 4, RowBytes: 200, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential}
	if change != nil {
		change(&p)
	}
	w, err := workload.NewInserts(p, 42)
	fatal(t, err)
	return w
}

// Scratch is a managed target on volumes of the test's own, called v1 and so on.
func Scratch(t *testing.T, engine string, volumes int, d filewise.Durability) filewise.Target {
	t.Helper()
	target := filewise.Target{Engine: engine, Mode: filewise.Managed, Durability: d}
	for i := range volumes {
		target.Volumes = append(target.Volumes, filewise.Volume{Name: "v" + string(rune('1'+i)), Dir: t.TempDir()})
	}
	return target
}

// Open opens a target, and closes it at the end of the test, when nothing may be left
// on volumes that are only its own.
func Open(t *testing.T, ctx context.Context, e filewise.Engine, target filewise.Target) filewise.Server {
	t.Helper()
	s, err := e.Open(ctx, target)
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

// Build builds a layout.
func Build(t *testing.T, ctx context.Context, s filewise.Server, l filewise.Layout, w filewise.Workload) *filewise.Database {
	t.Helper()
	db, err := s.Build(ctx, l, w.Program())
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	return db
}

// Work has every connection do n operations in two calls, and returns the ledger.
func Work(t *testing.T, ctx context.Context, db *filewise.Database, w filewise.Workload, first, n int64) filewise.Ledger {
	t.Helper()
	ledger := make(filewise.Ledger, w.Program().Connections())
	errs := make(chan error)
	for c := range ledger {
		go func() { errs <- WorkOne(ctx, db, c, first, n, &ledger[c]) }()
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

// WorkOne has one connection do them, and adds to done what is committed.
func WorkOne(ctx context.Context, db *filewise.Database, worker int, first, n int64, done *int64) error {
	s, err := db.Connector.Connect(ctx, 0, worker)
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
