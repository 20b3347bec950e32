package postgres

import (
	"context"
	"os"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/internal/server"
	"filewise/engine/postgres/installed"
)

// need skips a test of the real server if there is none, and fails it in CI:
// there a skipped test would be one that no one runs.
func need(t *testing.T) {
	t.Helper()
	if _, err := installed.Find(t.Context(), ""); err != nil {
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

// need18 returns the directory of PostgreSQL 18: FILEWISE_POSTGRES18, or where
// scripts/get-postgres puts it.
func need18(t *testing.T) string {
	t.Helper()
	dirs := []string{os.Getenv("FILEWISE_POSTGRES18"), "/usr/local/lib/filewise/servers/postgres-18",
		server.Fetched("postgres-18")}
	for _, dir := range dirs {
		if in, err := installed.Find(t.Context(), dir); dir != "" && err == nil && in.Number >= versionCRC {
			return in.Bin
		}
	}
	missing(t, "there is no PostgreSQL 18; scripts/get-postgres 18")
	return ""
}

// deadline returns what a test with a server can take at most.
func deadline(t *testing.T) context.Context { return enginetest.Within(t, 3*time.Minute) }

// onScratch returns a target on volumes of the test's own.
func onScratch(t *testing.T, volumes int) filewise.Target {
	t.Helper()
	return enginetest.Scratch(t, "postgres", volumes, filewise.DurabilityOff)
}

var (
	inserts = enginetest.Inserts
	buildOn = enginetest.Build
	work    = enginetest.Work
	workOne = enginetest.WorkOne
)

// open opens the target, and closes it at the end of the test.
func open(t *testing.T, ctx context.Context, target filewise.Target) filewise.Server {
	t.Helper()
	return enginetest.Open(t, ctx, Engine{}, target)
}

func partitions(files int, bytes int64) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindPartitions, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: bytes, Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}}
}
