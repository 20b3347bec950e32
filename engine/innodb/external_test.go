package innodb

import (
	"context"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb/external"
	"filewise/engine/innodb/servertest"
	"filewise/internal/longtest"
	"filewise/lab/workload"
	"filewise/run/doctor/doctortest"
)

// An external server by URL, over TLS, with an account that has the rights which
// the description states: a trial's life through the engine itself. What the
// adapter does on it otherwise is tested in engine/innodb/external.
func TestExternal(t *testing.T) {
	products := map[Engine]servertest.Product{MariaDB: servertest.MariaDB}
	if longtest.Wanted() {
		products[MySQL] = servertest.MySQL
	}
	for e, p := range products {
		t.Run(e.Name(), func(t *testing.T) { testExternal(t, e, p) })
	}
}

func testExternal(t *testing.T, e Engine, p servertest.Product) {
	d := e.Describe()
	if len(d.Schemes) != 1 || d.Schemes[0] != e.Name() || d.Port != 3306 || len(d.ExternalKinds) != 2 || len(d.Rights) == 0 {
		t.Errorf("%+v", d)
	}
	server, tls := servertest.StartTLS(t, p)
	server.Populate(t, d.Rights)
	before := server.Others(t)
	target := server.Target("filewise")
	target.Address.Host, target.Address.Port, target.Address.Options = "127.0.0.1", tls.Port, map[string]string{"tls": "true"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := e.Open(ctx, target); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
	target.Address.Options["tls-ca"] = tls.CA
	w, err := workload.NewInserts(workload.Params{Connections: 3, RowBytes: 100, CommitEvery: 1, Table: workload.TableShared,
		Key: workload.KeySequential}, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := filewise.Layout{Name: "4 files", Kind: external.Kinds[0],
		Data: filewise.Spread{Files: 4, Bytes: 4 << 20, Allocation: filewise.Growing}}
	if work, err := e.FillWork(target, l, w.Program()); work != 0 || err != nil {
		t.Errorf("files that fill evenly want %d bytes of work: %v", work, err)
	}
	if s, err := e.Statements(target, l, w.Program()); err != nil || len(s.Files) != 4 || len(s.Steps) < 8 {
		t.Errorf("%+v %v", s, err)
	}
	s, err := e.Open(ctx, target)
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	defer s.Close()
	db, err := s.Build(ctx, l, w.Program())
	if err != nil {
		t.Fatal(err)
	}
	ledger := make(filewise.Ledger, 3)
	for c := range ledger {
		session, err := db.Connect(ctx, 0, c)
		if err != nil {
			t.Fatal(err)
		}
		if ledger[c], err = session.Do(ctx, 0, 20); err != nil {
			t.Fatal(err)
		}
		session.Close()
	}
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
	for _, want := range []filewise.Delta{
		{Probe: filewise.ProbeWaits, Name: "read-write latches", Unit: "waits"}, // with the right PROCESS
		{Probe: filewise.ProbeCheckpoints, Name: filewise.CheckpointCycles, Unit: "cycles"},
	} {
		if e == MySQL && !counted(t, db, want) {
			t.Errorf("%s does not count %s", want.Probe, want.Name)
		}
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
	t.Run("Restore", func(t *testing.T) { restored(t, e, server) })
	doctortest.SelfCheck(t, e, target, "inserts into partitions", "inserts into per-table", "orders with churn", "dml", "scan", "custom")
	servertest.Same(t, before, server.Others(t))
}

// counted reports whether a database's probes have a counter.
func counted(t *testing.T, db *filewise.Database, want filewise.Delta) bool {
	t.Helper()
	for _, p := range db.Probes {
		counters, err := p.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range counters {
			if p.Name() == want.Probe && c.Name == want.Name && c.Unit == want.Unit {
				return true
			}
		}
	}
	return false
}
