package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"filewise"
	"filewise/engine/internal/sqlfile"
	"filewise/workload"
)

// SelfCheck takes a small layout of each shape through its whole life, on scratch
// databases that are dropped again, and reports every statement as it was tried.
func (of *foreignServer) SelfCheck(ctx context.Context, report func(filewise.Finding)) {
	s := &foreignServer{target: of.target, about: of.about, builds: map[string]*build{}, created: map[int]string{}}
	s.link = of.link.to(of.link.config.Database)
	var mu sync.Mutex
	seen := map[string]bool{}
	s.link.trace = func(statement string, err error) {
		mu.Lock()
		defer mu.Unlock()
		text := sqlfile.Short(shortenPool(statement))
		if seen[text] && err == nil {
			return
		}
		seen[text] = true
		f := filewise.Finding{Check: selfCheckName(len(seen)), Status: filewise.StatusOK, Detail: text}
		if err != nil {
			f.Status, f.Detail, f.Remedy = filewise.StatusFailed, fmt.Sprintf("%s: %v", text, s.link.why(err)), "send this report to Filewise's issues"
		}
		report(f)
	}
	result := func(what string, err error) {
		f := filewise.Finding{Check: what, Status: filewise.StatusOK, Detail: "done"}
		if err != nil {
			f.Status, f.Detail, f.Remedy = filewise.StatusFailed, err.Error(), filewise.RemedyOf(err)
			if f.Remedy == "" {
				f.Remedy = "send this report to Filewise's issues"
			}
		}
		report(f)
	}
	for _, l := range selfCheckLayouts() {
		if ctx.Err() != nil {
			result("self-check", context.Cause(ctx))
			return
		}
		result("life of "+l.Name, s.tryLife(ctx, l))
	}
	for _, try := range []struct {
		name string
		make func(workload.Params, uint64) (filewise.Workload, error)
	}{{"dml", workload.NewDML}, {"scan", workload.NewScan}, {"orders", workload.NewOrders}} {
		result("life of workload "+try.name, s.tryPhases(ctx, try.make))
	}
	lock, err := s.Lock(ctx, "self-check")
	if err == nil {
		err = errors.Join(lock.Held(ctx), lock.Release())
	}
	if filewise.CodeOf(err) != filewise.CodeBusy {
		result("measuring lock", err)
	}
	_, err = s.Activity(ctx)
	result("activity", err)
	_, err = s.Leftovers(ctx)
	result("leftovers", err)
	result("nothing left", s.Close())
}

func selfCheckLayouts() []filewise.Layout {
	layout := func(name string, kind filewise.Kind, files int, later filewise.AddedLater, indexes string) filewise.Layout {
		return filewise.Layout{Name: name, Kind: kind, AddedLater: later, Indexes: indexes,
			Data: filewise.Spread{Files: files, Bytes: mib, Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}}
	}
	return []filewise.Layout{
		layout("plain table", filewise.KindSingle, 1, "", ""),
		layout("2 partitions, indexes apart", filewise.KindPartitions, 2, "", filewise.IndexesApart),
		layout("added later, for new data", filewise.KindPartitions, 3, filewise.LaterNewData, ""),
		layout("added later, rebuilt", filewise.KindPartitions, 3, filewise.LaterRebuilt, ""),
	}
}

// tryLife takes one layout through build, work, extension, check and drop.
func (s *foreignServer) tryLife(ctx context.Context, l filewise.Layout) (err error) {
	w, err := workload.NewInserts(workload.Params{Connections: 2, RowBytes: 50, CommitEvery: 3, Table: workload.TableShared, Key: workload.KeySequential}, 1)
	if err != nil {
		return err
	}
	db, err := s.Build(ctx, l, w.Program())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Dropper.Drop(ctx)) }()
	ledger := make(filewise.Ledger, 2)
	add := func() error {
		for c := range ledger {
			session, err := db.Connector.Connect(ctx, c)
			if err != nil {
				return err
			}
			n, err := session.Do(ctx, ledger[c], selfCheckRows)
			ledger[c] += n
			if err = errors.Join(err, session.Close()); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(); err != nil {
		return err
	}
	if db.Extender != nil {
		if err := errors.Join(db.Extender.Extend(ctx), add()); err != nil {
			return err
		}
	}
	if err := db.Settler.Settle(ctx); err != nil {
		return err
	}
	if _, err := db.Observer.Observe(ctx); err != nil {
		return err
	}
	for _, p := range db.Probes {
		if _, err := p.Read(ctx); err != nil {
			return err
		}
	}
	return w.Check(ctx, db.Querier, ledger)
}

// tryPhases takes a workload of several phases through its life on two partitions.
func (s *foreignServer) tryPhases(ctx context.Context, make func(workload.Params, uint64) (filewise.Workload, error)) (err error) {
	w, err := make(workload.Params{Connections: 2, Rows: 1000, Mode: workload.ModeBoth, Connect: workload.ConnectPerStatement, Index: workload.IndexKey,
		Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1, Warehouses: 2, Scale: 0.001, Users: []int{1, 2}, Churn: true}, 1)
	if err != nil {
		return err
	}
	db, err := s.Build(ctx, selfCheckLayouts()[1], w.Program())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Dropper.Drop(ctx)) }()
	if l, ok := w.(filewise.Loadable); ok {
		for _, t := range l.Data() {
			for batch := range t.Batches {
				if err := db.Bulk.LoadBatch(ctx, t, batch); err != nil {
					return err
				}
			}
		}
		if err := db.Bulk.Finish(ctx); err != nil {
			return err
		}
	}
	var ledgers []filewise.Ledger
	for i, p := range w.Program().Phases {
		ledgers = append(ledgers, filewise.Ledger{})
		for c := range p.Connections {
			session, err := db.Connector.(filewise.PhaseConnector).ConnectPhase(ctx, i, c)
			if err != nil {
				return err
			}
			n, err := session.Do(ctx, 0, selfCheckRows)
			ledgers[i] = append(ledgers[i], n)
			if err = errors.Join(err, session.Close()); err != nil {
				return err
			}
		}
		if err := w.(filewise.PhasedWorkload).CheckPhase(ctx, db.Querier, i, ledgers); err != nil {
			return err
		}
	}
	return nil
}
