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

// products are the dialects with the servers that speak them.
type product struct {
	dialect *Dialect
	server  servertest.Product
	bin     string
}

var products = []product{
	{MariaDB, servertest.MariaDB, ""},
	{MySQL, servertest.MySQL, os.Getenv("FILEWISE_MYSQL_BIN")},
}

// engine is a dialect as enginetest and the tests see it.
type engine struct{ *Dialect }

func (e engine) Name() string { return e.Dialect.Name }

// each runs a test against one server of each product, with foreign databases
// and an account that has the documented rights.
func each(t *testing.T, run func(t *testing.T, p product, s *servertest.Server), args ...string) {
	for _, p := range products {
		t.Run(p.dialect.Name, func(t *testing.T) {
			s := servertest.Start(t, p.server, p.bin, args...)
			s.Populate(t, p.dialect.Rights())
			run(t, p, s)
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

func open(t *testing.T, p product, target filewise.Target) *server {
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
