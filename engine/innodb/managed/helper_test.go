//go:build linux

package managed_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/innodb"
	"filewise/engine/innodb/managed"
	"filewise/engine/innodb/servertest"
)

// subject is a product under test.
type subject struct {
	// Only are the names of the tests to run. Nil means all.
	Only   []string
	Engine innodb.Engine
	// Server is the product's as tests of external targets start it.
	Server servertest.Product
	// Settings are some that the server takes, with the values that it then shows.
	Settings map[string][2]string
	// Wrong are settings that it does not take.
	Wrong map[string]string
	// Says is a part of the version that the server shows.
	Says string
	// Transactions and Groups are the counters of the binary log. Empty means the server
	// does not count them.
	Transactions, Groups string
	// Own are directories outside the volumes in which a server opens files.
	Own []string
	// Unreadable are characters of paths that the server does not take, each with what
	// stands for it in the test.
	Unreadable []string
	// Slow: to create a server takes seconds, so that there are fewer cases.
	Slow bool
	// Bring makes the server readable for everyone, in a directory, and returns the
	// environment in which it is found. If nil, it is readable.
	Bring func(t *testing.T, dir string) []string
	// Lacks are capabilities that the server refuses for kind system, though it offers
	// them for others.
	Lacks []filewise.Capability
	// Load is a number of connections at the same time.
	Load int
	// OfSystem and OfPartitions are the tests of the conformance suite that those
	// kinds are taken through. If nil, all. What is left out does not depend on the
	// kind, or is the same code for both servers.
	OfSystem, OfPartitions []string
	// Full is the size of a volume that a server on it fills, in bytes.
	Full int64
}

// Need skips a test of the real server if there is none, and fails it in CI:
// there a skipped test would be one that no one runs.
func (sub subject) Need(t *testing.T) {
	t.Helper()
	if err := find(t, sub.Engine); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the tests of the real server did not run: %v; %s", err, filewise.RemedyOf(err))
		}
		t.Skipf("NO SERVER OF %s: %v; %s", strings.ToUpper(sub.Engine.Name()), err, filewise.RemedyOf(err))
	}
}

// deadline returns what a test with a server can take at most.
func deadline(t *testing.T) context.Context { return enginetest.Within(t, 8*time.Minute) }

var (
	inserts = enginetest.Inserts
	build   = enginetest.Build
	work    = enginetest.Work
	workOne = enginetest.WorkOne
)

// onScratch returns a target on volumes of the test's own.
func (sub subject) onScratch(t *testing.T, volumes int) filewise.Target {
	t.Helper()
	return enginetest.Scratch(t, sub.Engine.Name(), volumes, filewise.DurabilityFull)
}

// onStorage returns one on a volume that is no memory.
func (sub subject) onStorage(t *testing.T, d filewise.Durability) filewise.Target {
	t.Helper()
	dir, err := os.MkdirTemp(storage, "fw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filewise.Target{Engine: sub.Engine.Name(), Mode: filewise.Managed, Durability: d,
		Volumes: []filewise.Volume{{Name: "v1", Dir: dir}}}
}

func systemLayout(files int, bytes int64) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindSystem, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: bytes, Allocation: filewise.Preallocated, Placement: filewise.PlaceRoundRobin}}
}

// open opens the target, and closes it at the end of the test.
func (sub subject) open(t *testing.T, ctx context.Context, target filewise.Target) filewise.Server {
	t.Helper()
	return enginetest.Open(t, ctx, sub.Engine, target)
}

// look returns the inside of a build.
func look(t *testing.T, db *filewise.Database) managed.Inside {
	t.Helper()
	in, err := managed.Look(db)
	if err != nil {
		t.Fatal(err)
	}
	return in
}
