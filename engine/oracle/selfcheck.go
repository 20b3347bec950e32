package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"filewise"
	"filewise/engine/internal/sqlfile"
	"filewise/workload"
)

// SelfCheck tries every statement of the adapter once, on tablespaces of some
// megabytes that it drops again, and reports each. What no step reached is a note.
func (s *server) SelfCheck(ctx context.Context, report func(filewise.Finding)) {
	t := &tried{report: report, sections: map[string]bool{}}
	watched := &server{target: s.target, config: s.config, pool: s.pool, about: s.about, missing: s.missing, builds: map[*build]bool{}, watch: t.watch}
	watched.control = t.watch(s.pool)
	watched.marks = marks{watched.control, s.about.account}
	for _, step := range watched.selfChecks() {
		if err := step.try(ctx); err != nil {
			report(filewise.Finding{Check: step.name, Status: filewise.StatusFailed, Detail: err.Error(), Remedy: remedyOr(err, "paste this report into an issue")})
			continue
		}
		report(filewise.Finding{Check: step.name, Status: filewise.StatusOK, Detail: "done"})
	}
	for _, section := range append(sectionsOf(serverSQL), sectionsOf(workloads["inserts"])...) {
		if !t.sections[section] {
			report(filewise.Finding{Check: "statement " + section, Status: filewise.StatusNote, Detail: "no step came to it", Remedy: "see the steps that failed"})
		}
	}
}

// tried reports every section at its first time, and every failure.
type tried struct {
	report   func(filewise.Finding)
	mu       sync.Mutex
	sections map[string]bool
}

func (t *tried) watch(c client) client { return watching{c, t} }

type watching struct {
	client
	tried *tried
}

func (w watching) exec(ctx context.Context, s statement) error {
	return w.tried.saw(s, w.client.exec(ctx, s))
}

func (w watching) rows(ctx context.Context, s statement) ([][]any, error) {
	all, err := w.client.rows(ctx, s)
	return all, w.tried.saw(s, err)
}

func (t *tried) saw(s statement, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := filewise.Finding{Check: "statement " + s.section, Status: filewise.StatusOK, Detail: sqlfile.Short(s.text)}
	if err != nil {
		f.Status, f.Detail, f.Remedy = filewise.StatusFailed, err.Error(), remedyOr(err, "paste this report into an issue")
	}
	if err != nil || !t.sections[s.section] {
		t.sections[s.section] = true
		t.report(f)
	}
	return err
}

// selfCheck is one step.
type selfCheck struct {
	name string
	try  func(context.Context) error
}

func (s *server) selfChecks() []selfCheck {
	all := []selfCheck{
		{"version and rights", func(ctx context.Context) error { return s.learn(ctx, s.control) }},
		{"facts", func(ctx context.Context) error { _, err := s.Facts(ctx); return err }},
		{"preflight", func(ctx context.Context) error { s.Examine(ctx, filewise.Demand{}); return nil }},
		{"activity", func(ctx context.Context) error { _, err := s.Activity(ctx); return err }},
		{"measuring lock", func(ctx context.Context) error {
			lock, err := s.Lock(ctx, "the self-check")
			if err != nil {
				return err
			}
			return errors.Join(lock.Held(ctx), lock.Release())
		}},
		{"leftovers", func(ctx context.Context) error { _, err := s.Leftovers(ctx); return err }},
	}
	const size = 32 * mib
	spread := filewise.Spread{Files: 2, Bytes: size, Allocation: filewise.Preallocated, Placement: filewise.PlaceRoundRobin}
	growing := spread
	growing.Allocation, growing.Growth = filewise.Growing, mib
	one := spread
	one.Files = 1
	for _, l := range []filewise.Layout{
		{Name: "smallfile, preallocated", Kind: filewise.KindSmallfile, Data: spread},
		{Name: "smallfile, growing, indexes apart", Kind: filewise.KindSmallfile, Data: growing, Indexes: filewise.IndexesApart},
		{Name: "smallfile, files added later and rebuilt", Kind: filewise.KindSmallfile, Data: spread, AddedLater: filewise.LaterRebuilt},
		{Name: "bigfile", Kind: filewise.KindBigfile, Data: one},
	} {
		all = append(all, selfCheck{l.Name, func(ctx context.Context) error { return s.tryLayout(ctx, l) }})
	}
	return append(all, selfCheck{"a name without the mark is left alone", s.tryRefusal})
}

// tryLayout takes a layout through the life of a trial.
func (s *server) tryLayout(ctx context.Context, l filewise.Layout) (err error) {
	w, err := workload.NewInserts(workload.Params{Connections: 1, RowBytes: 100, CommitEvery: 3, Table: workload.TableShared, Key: workload.KeyRandom}, 1)
	if err != nil {
		return err
	}
	db, err := s.Build(ctx, l, w.Program())
	if err != nil {
		return err
	}
	defer func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropPatience)
		defer cancel()
		err = errors.Join(err, db.Dropper.Drop(limited))
	}()
	ledger, err := tryWork(ctx, db, 20)
	if err != nil {
		return err
	}
	if db.Extender != nil {
		if err := db.Extender.Extend(ctx); err != nil {
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

// tryWork inserts rows, and asks for one that cannot be, so that what follows an
// error is tried too.
func tryWork(ctx context.Context, db *filewise.Database, n int64) (filewise.Ledger, error) {
	worker, err := db.Connector.Connect(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer worker.Close()
	done, err := worker.Do(ctx, 0, n)
	if err != nil {
		return nil, err
	}
	if again, err := worker.Do(ctx, 0, 1); again != 1 || filewise.ClassOf(err) != filewise.ClassConstraint {
		return nil, fmt.Errorf("a row that is there already was inserted anew: %d done, error %w", again, err)
	}
	return filewise.Ledger{done}, nil
}

// tryRefusal asks for the removal of a tablespace that is not Filewise's.
func (s *server) tryRefusal(ctx context.Context) error {
	if err := s.Remove(ctx, filewise.Leftover{Kind: kindTablespace, Name: "USERS"}); err == nil {
		return errors.New("it was not refused")
	}
	return nil
}
