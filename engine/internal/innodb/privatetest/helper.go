//go:build linux

package privatetest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/internal/innodb/private"
	"filewise/workload"
)

// Engine is a server's adapter.
type Engine interface {
	filewise.Engine
	filewise.Describer
	filewise.Filler
}

// Subject is an adapter under test.
type Subject struct {
	// Only are the names of the tests to run; nil: all.
	Only   []string
	Engine Engine
	// Find says why there is no server to test with.
	Find func() error
	// Settings are some that the server takes, with the values that it then shows.
	Settings map[string][2]string
	// Wrong are settings that it does not take.
	Wrong map[string]string
	// Says is a part of the version that the server shows.
	Says string
	// Transactions and Groups are the counters of the binary log; empty: the server
	// does not count them.
	Transactions, Groups string
	// Own are directories outside the volumes in which a server opens files.
	Own []string
	// Unreadable are characters of paths that the server does not take, each with what
	// stands for it in the test.
	Unreadable []string
	// Slow: to create a server takes seconds, so that there are fewer cases.
	Slow bool
	// Bring makes the server readable for everybody, in a directory, and returns the
	// environment in which it is found; nil: it is readable.
	Bring func(t *testing.T, dir string) []string
	// Lacks are capabilities that the server refuses for kind system, though it offers
	// them for others.
	Lacks []filewise.Capability
	// Load is a number of connections at the same time.
	Load int
	// OfSystem and OfPartitions are the tests of the conformance suite that those
	// kinds are taken through; nil: all. What is left out does not depend on the
	// kind, or is the same code for both servers.
	OfSystem, OfPartitions []string
	// Full is the size of a volume that a server on it fills, in bytes.
	Full int64
}

// Need skips a test of the real server where there is none, and fails it in CI:
// there a skipped test would be one that nobody runs.
func (sub Subject) Need(t *testing.T) {
	t.Helper()
	if err := sub.Find(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the tests of the real server did not run: %v; %s", err, filewise.RemedyOf(err))
		}
		t.Skipf("NO SERVER OF %s: %v; %s", strings.ToUpper(sub.Engine.Name()), err, filewise.RemedyOf(err))
	}
}

// deadline is what a test with a server may take at most.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
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
func (sub Subject) onScratch(t *testing.T, volumes int) filewise.Target {
	t.Helper()
	target := filewise.Target{Engine: sub.Engine.Name(), Mode: filewise.Managed, Durability: filewise.DurabilityFull}
	for i := range volumes {
		target.Volumes = append(target.Volumes, filewise.Volume{Name: "v" + string(rune('1'+i)), Dir: t.TempDir()})
	}
	return target
}

func systemLayout(files int, bytes int64) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindSystem, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: bytes, Allocation: filewise.Preallocated, Placement: filewise.PlaceRoundRobin}}
}

// open opens the target, and closes it at the end of the test.
func (sub Subject) open(t *testing.T, ctx context.Context, target filewise.Target) filewise.Server {
	t.Helper()
	s, err := sub.Engine.Open(ctx, target)
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, v := range target.Volumes {
			left, err := os.ReadDir(v.Dir)
			if err != nil || len(left) > 0 {
				t.Errorf("left on %s: %v %v", v.Dir, left, err)
			}
		}
	})
	return s
}

// look is the inside of a build.
func look(t *testing.T, db *filewise.Database) private.Inside {
	t.Helper()
	in, err := private.Look(db)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// build builds a layout.
func build(t *testing.T, ctx context.Context, s filewise.Server, l filewise.Layout, w filewise.Workload) *filewise.Database {
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
