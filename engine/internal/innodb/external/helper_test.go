package external

import (
	"context"
	"os"
	"testing"
	"time"

	"filewise"
	"filewise/engine/internal/innodb/servertest"
	"filewise/workload"
)

// product is a dialect with the server that speaks it.
type product struct {
	dialect *Dialect
	server  servertest.Product
	// conforms are the tests of the conformance suite that it is taken through; nil:
	// all.
	conforms []string
}

// MySQL is taken through what the server itself decides; MariaDB runs all, over the
// same code.
var products = []product{{MariaDB, servertest.MariaDB, nil}, {MySQL, servertest.MySQL,
	[]string{"Trial", "CancelLeavesATrueLedger", "Script", "Offers", "DML", "Scan", "Orders", "Custom", "AddedLater", "ConnectionLost", "LoadLost", "Deadlocks", "Load"}}}

// engine is a dialect as enginetest and the tests see it.
type engine struct{ *Dialect }

func (e engine) Name() string { return e.Dialect.Name }

// bench is a server with foreign databases, an account that has the documented
// rights, and a directory that the server may put tables into.
type bench struct {
	product
	*servertest.Server
	volume string
}

// TestServer starts one server of each product, and tests on it one after the
// other: what is foreign is the same before and after each.
func TestServer(t *testing.T) {
	for _, p := range products {
		t.Run(p.dialect.Name, func(t *testing.T) {
			dir, err := os.MkdirTemp(p.server.Temp(), "fwv")
			fatal(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			args := []string{"--max-connections=2200", "--open-files-limit=8000"}
			if p.dialect.Directories {
				args = append(args, "--innodb-directories="+dir)
			}
			b := bench{p, servertest.Start(t, p.server, args...), dir}
			b.Populate(t, p.dialect.Rights())
			before := b.Foreign(t)
			for _, test := range []struct {
				name string
				run  func(*testing.T, bench)
			}{
				{"Life", testLife}, {"Binlog", testBinlog}, {"Load", testLoad}, {"Clean", testClean}, {"Mark", testMark}, {"TwoRuns", testTwoRuns}, {"Examine", testExamine}, {"Inspect", testInspect}, {"Waits", testWaits}, {"Rights", testRights},
				{"SelfCheck", testSelfCheck}, {"Monitor", testMonitor}, {"Secrets", testSecrets}, {"Conformance", testConformance},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, b) })
			}
			b.Exec(t, "DROP USER IF EXISTS bare, noprocess, reader, mover")
			servertest.Same(t, before, b.Foreign(t))
		})
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func inserts(t *testing.T, change func(*workload.Params)) filewise.Workload {
	t.Helper()
	p := workload.Params{Connections: 4, RowBytes: 200, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential}
	if change != nil {
		change(&p)
	}
	w, err := workload.NewInserts(p, 42)
	fatal(t, err)
	return w
}

func layout(kind filewise.Kind, files int) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: kind, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: 4 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}}
}

func open(t *testing.T, p bench, target filewise.Target) *server {
	t.Helper()
	s, err := p.dialect.Open(deadline(t), target)
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	t.Cleanup(func() { fatal(t, s.Close()) })
	return s.(*server)
}

func buildOn(t *testing.T, s *server, l filewise.Layout, w filewise.Workload) *filewise.Database {
	t.Helper()
	db, err := s.Build(deadline(t), l, w.Program())
	if err != nil {
		t.Fatalf("%s: %v; %s", l.Name, err, filewise.RemedyOf(err))
	}
	return db
}

// work has every worker do n operations.
func work(t *testing.T, db *filewise.Database, w filewise.Workload, first, n int64) filewise.Ledger {
	t.Helper()
	ctx := deadline(t)
	ledger := make(filewise.Ledger, w.Program().Connections)
	for c := range ledger {
		s, err := db.Connector.Connect(ctx, c)
		fatal(t, err)
		done, err := s.Do(ctx, first, n)
		fatal(t, err)
		ledger[c] = first + done
		fatal(t, s.Close())
	}
	return ledger
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
}
