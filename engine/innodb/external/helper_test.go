package external

import (
	"context"
	"os"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
	"filewise/internal/longtest"
	"filewise/own/apply"
	"filewise/own/inspect"
)

// product is a product's engine with its server.
type product struct {
	engine Engine
	server servertest.Product
	// conforms are the tests of the conformance suite that it is taken through. If nil,
	// all.
	conforms []string
}

// products returns the ones to test. MySQL, in the long part, is taken through what the server
// itself decides; MariaDB runs all, over the same code.
func products() []product {
	all := []product{{mariaDB, servertest.MariaDB, nil}}
	if longtest.Wanted() {
		all = append(all, product{mySQL, servertest.MySQL, []string{"Trial", "CancelLeavesATrueLedger", "Statements", "Offers", "DML", "Scan",
			"Orders", "Custom", "AddedLater", "ConnectionLost", "LoadLost", "Deadlocks", "Load"}})
	}
	return all
}

// The engines of both products.
var mariaDB, mySQL = Engine{dialect.MariaDB}, Engine{dialect.MySQL}

// named is an engine as enginetest sees it.
type named struct{ Engine }

func (e named) Name() string                 { return e.Product.Name }
func (named) Describe() filewise.Description { return filewise.Description{} }

// bench is a server with databases of others, an account that has the documented
// rights, and a directory that the server can put tables into.
type bench struct {
	product
	*servertest.Server
	volume string
}

// TestServer starts one server of each product, and tests on it one after the
// other: what is not Filewise's is the same before and after each.
func TestServer(t *testing.T) {
	for _, p := range products() {
		t.Run(p.engine.Name, func(t *testing.T) {
			dir, err := os.MkdirTemp(p.server.Temp(), "fwv")
			fatal(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			args := []string{"--max-connections=2200", "--open-files-limit=8000"}
			if p.engine.External.Directories {
				args = append(args, "--innodb-directories="+dir)
			}
			b := bench{p, servertest.Start(t, p.server, args...), dir}
			b.Populate(t, p.engine.Rights())
			before := b.Others(t)
			for _, test := range []struct {
				name string
				run  func(*testing.T, bench)
			}{
				{"Life", testLife}, {"Drivers", testDrivers}, {"Binlog", testBinlog}, {"Load", testLoad}, {"Clean", testClean},
				{"Foreign", testForeign}, {"Mark", testMarker}, {"TwoRuns", testTwoRuns}, {"Examine", testExamine}, {"Inspect", testInspect},
				{"Migrate", testMigrate}, {"Catalogue", testCatalogue}, {"Capture", testCapture}, {"Waits", testWaits},
				{"Memory", testMemory},
				{"Rights", testRights}, {"Monitor", testMonitor}, {"Secrets", testSecrets}, {"Conformance", testConformance},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, b) })
			}
			b.Exec(t, "DROP USER IF EXISTS bare, noprocess, reader, mover, driven, eventless")
			servertest.Same(t, before, b.Others(t))
		})
	}
}

func deadline(t *testing.T) context.Context { return enginetest.Within(t, 2*time.Minute) }

var inserts = enginetest.Inserts

func layout(kind filewise.Kind, files int) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(files), Kind: kind, Rank: files,
		Data: filewise.Spread{Files: files, Bytes: 4 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}}
}

func open(t *testing.T, p bench, target filewise.Target) *server {
	t.Helper()
	s, err := p.engine.Open(deadline(t), target)
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
	ledger := make(filewise.Ledger, w.Program().Connections())
	for c := range ledger {
		s, err := db.Connect(ctx, 0, c)
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

func lookAt(b bench, ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	return inspect.Facts(ctx, named{b.engine}, t)
}

func migrate(b bench, t filewise.Target, w filewise.Wish) (filewise.Migration, error) {
	return apply.Migrate(context.Background(), named{b.engine}, t, w)
}
