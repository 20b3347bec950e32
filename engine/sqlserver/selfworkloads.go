package sqlserver

import (
	"context"
	"fmt"

	"filewise"
	"filewise/workload"
)

// selfWorkloads are the workloads of several phases, small.
func selfWorkloads() []filewise.Workload {
	var all []filewise.Workload
	add := func(w filewise.Workload, err error) {
		if err != nil {
			panic(err) // the parameters are the programmer's
		}
		all = append(all, w)
	}
	add(workload.NewOrders(workload.Params{Connections: 2, Warehouses: 2, Scale: 0.001, Churn: true}, 1))
	add(workload.NewDML(workload.Params{Connections: 2, Rows: 20, Mode: workload.ModeBoth, Connect: workload.ConnectPooled, Index: workload.IndexKey}, 1))
	add(workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 1))
	return all
}

// handful are the operations of a connection that have all types of transactions.
const handful = 100

// tryWorkload loads a workload's tables on a scratch database, does all of its
// operations, checks the data after each phase, and drops the database.
func (t *trying) tryWorkload(ctx context.Context, w filewise.Workload) {
	p := w.Program()
	name, all := p.Workload, sections[p.Workload].Sections()
	var db *filewise.Database
	l := selfLayout()
	l.AddedLater = ""
	t.all(ctx, []attempt{
		{what: name + ": build and load", sections: []string{"tables", "loaded-batches", "begin-load", "mark-loaded", "commit-load", "indexes", "check"}, do: func(ctx context.Context) (err error) {
			if db, err = t.server.Build(ctx, l, p); err != nil {
				return err
			}
			return loadWhole(ctx, db, w)
		}},
		{what: name + ": the server's own check", sections: []string{"check-database"}, optional: true, do: func(ctx context.Context) error {
			b := db.Dropper.(dropper).build
			text, err := fixed("check-database", map[string]any{"Name": b.design.name})
			if err == nil {
				err = exec(ctx, b.inside, text)
			}
			return err
		}},
		{what: name + ": work and check", sections: all, do: func(ctx context.Context) error { return workWhole(ctx, db, w) }},
	})
	if db != nil {
		t.all(context.WithoutCancel(ctx), []attempt{{what: name + ": drop", sections: []string{"drop"}, do: db.Dropper.Drop}})
	}
}

// loadWhole loads all batches, where the workload has any, and checks them.
func loadWhole(ctx context.Context, db *filewise.Database, w filewise.Workload) error {
	loadable, ok := w.(filewise.Loadable)
	if !ok {
		return nil
	}
	for _, table := range loadable.Data() {
		for batch := range table.Batches {
			if err := db.Bulk.LoadBatch(ctx, table, batch); err != nil {
				return err
			}
		}
	}
	if err := db.Bulk.Finish(ctx); err != nil {
		return err
	}
	return w.Check(ctx, db.Querier, nil)
}

// workWhole does operations of every phase with each connection, and checks the
// data after each.
func workWhole(ctx context.Context, db *filewise.Database, w filewise.Workload) error {
	var ledgers []filewise.Ledger
	for i, p := range w.Program().Phases {
		ledger := make(filewise.Ledger, p.Connections)
		n := int64(handful)
		if p.Ops > 0 {
			n = p.Ops / int64(p.Connections)
		}
		for c := range ledger {
			s, err := db.Connector.(filewise.PhaseConnector).ConnectPhase(ctx, i, c)
			if err != nil {
				return err
			}
			ledger[c], err = s.Do(ctx, 0, n)
			if err == nil {
				err = foundAgain(s.(*phaseSession), ledger[c])
			}
			_ = s.Close() // it has done its work
			if err != nil {
				return fmt.Errorf("%s: %w", p.Family, err)
			}
		}
		ledgers = append(ledgers, ledger)
		if err := w.(filewise.PhasedWorkload).CheckPhase(ctx, db.Querier, i, ledgers); err != nil {
			return err
		}
	}
	return nil
}

// foundAgain looks up what is committed, as after a failure.
func foundAgain(s *phaseSession, done int64) error {
	if s.look == "" {
		return nil
	}
	n, err := s.committed(0, done)
	if err == nil && n != done {
		err = fmt.Errorf("%d operations were committed, and %d are found", done, n)
	}
	return err
}
