package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"filewise"
)

// life is that of one scratch database.
type life struct {
	check   *SelfCheck
	layout  filewise.Layout
	work    filewise.Workload
	cleaner filewise.Cleaner    // nil: the engine has none
	before  []filewise.Leftover // what others have left
	db      *filewise.Database
	ledgers []filewise.Ledger // by phase
}

// handful are the operations of a connection that have all types of transactions.
const handful = 100

func (f *life) build(ctx context.Context) (err error) {
	if f.cleaner != nil {
		if f.before, err = f.cleaner.Leftovers(ctx); err != nil {
			return err
		}
	}
	f.db, err = f.check.Server.Build(ctx, f.layout, f.work.Program())
	return err
}

func (f *life) steps() []Step {
	steps := []Step{{Name: "found again, and kept while it is used", Do: f.kept}}
	loadable, loads := f.work.(filewise.Loadable)
	if loads {
		steps = append(steps, Step{Name: "load", Do: func(ctx context.Context) error { return f.load(ctx, loadable.Data()) }})
	}
	for phase, p := range f.work.Program().Phases {
		steps = append(steps, Step{Name: "work: " + p.Family, Do: func(ctx context.Context) error { return f.operate(ctx, phase) }})
	}
	if !loads && f.work.Program().Appends() {
		steps = append(steps, Step{Name: "a row that is there already", Do: f.again, fails: true},
			Step{Name: "interrupt a call", Do: f.interrupt, fails: true})
	}
	if f.layout.AddedLater != "" {
		steps = append(steps, Step{Name: "add files", Do: func(ctx context.Context) error { return f.db.Extender.Extend(ctx) }})
	}
	steps = append(steps, Step{Name: "settle", Do: func(ctx context.Context) error { return f.db.Settler.Settle(ctx) }},
		Step{Name: "observe", Do: func(ctx context.Context) error { _, err := f.db.Observer.Observe(ctx); return err }},
		Step{Name: "check the data", Do: f.checkData})
	for _, p := range f.db.Probes {
		steps = append(steps, Step{Name: "probe " + p.Name(), Optional: true, Do: func(ctx context.Context) error { return read(ctx, p) }})
	}
	if f.check.Besides != nil {
		steps = append(steps, f.check.Besides(f.db)...)
	}
	return steps
}

// notOurs is a name that Filewise does not give.
const notOurs = "filewise"

// kept: a run's database is listed while it is used, and stays.
func (f *life) kept(ctx context.Context) error {
	if f.cleaner == nil {
		return nil
	}
	now, err := f.cleaner.Leftovers(ctx)
	if err != nil {
		return err
	}
	now = slices.DeleteFunc(now, func(l filewise.Leftover) bool {
		return slices.ContainsFunc(f.before, func(b filewise.Leftover) bool { return b.Name == l.Name })
	})
	if len(now) == 0 {
		return errors.New("the scratch database does not carry the mark")
	}
	for _, l := range append(now, filewise.Leftover{Kind: now[0].Kind, Name: notOurs}) {
		if l.Kept == "" && l.Name != notOurs || f.cleaner.Remove(ctx, l) == nil {
			return fmt.Errorf("%s %s may be removed", l.Kind, l.Name)
		}
	}
	return nil
}

func (f *life) load(ctx context.Context, tables []filewise.TableData) error {
	for _, t := range tables {
		for batch := range t.Batches {
			if err := f.db.Bulk.LoadBatch(ctx, t, batch); err != nil {
				return err
			}
		}
	}
	if err := f.db.Bulk.Finish(ctx); err != nil {
		return err
	}
	return f.checkData(ctx)
}

// operate does operations of a phase with each of its connections.
func (f *life) operate(ctx context.Context, phase int) error {
	connections, n := f.size(phase)
	ledger := make(filewise.Ledger, connections)
	f.ledgers = append(f.ledgers, ledger)
	for worker := range ledger {
		err := f.connected(ctx, phase, worker, func(s filewise.Session) (err error) {
			ledger[worker], err = s.Do(ctx, 0, n)
			return err
		})
		if err != nil {
			return err
		}
	}
	return f.checkData(ctx)
}

func (f *life) connected(ctx context.Context, phase, worker int, do func(filewise.Session) error) error {
	s, err := f.db.Connector.Connect(ctx, phase, worker)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// again asks for a row that cannot be, so that what follows an error is tried.
func (f *life) again(ctx context.Context) error {
	return f.connected(ctx, 0, 0, func(s filewise.Session) error {
		if n, err := s.Do(ctx, 0, 1); n != 1 || filewise.ClassOf(err) != filewise.ClassConstraint {
			return fmt.Errorf("a row that is there already was inserted anew: %d committed, error %w", n, err)
		}
		return nil
	})
}

// interrupt stops a call that would take long, as the end of a time window does.
func (f *life) interrupt(ctx context.Context) error {
	return f.connected(ctx, 0, 0, func(s filewise.Session) error {
		stop, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		done, err := s.Do(stop, f.ledgers[0][0], 1<<30)
		f.ledgers[0][0] += done
		if err == nil || stop.Err() == nil {
			return fmt.Errorf("%d rows were inserted before the call could be stopped: %w", done, err)
		}
		return ctx.Err()
	})
}

func read(ctx context.Context, p filewise.Probe) error {
	if s, ok := p.(filewise.Sampler); ok {
		if err := s.Sample(ctx, 0); err != nil {
			return err
		}
	}
	_, err := p.Read(ctx)
	return err
}

// drop leaves nothing.
func (f *life) drop(ctx context.Context) error {
	if err := f.db.Dropper.Drop(ctx); err != nil || f.cleaner == nil {
		return err
	}
	now, err := f.cleaner.Leftovers(ctx)
	for _, l := range now {
		if !slices.ContainsFunc(f.before, func(b filewise.Leftover) bool { return b.Name == l.Name }) {
			err = errors.Join(err, fmt.Errorf("%s %s is left", l.Kind, l.Name))
		}
	}
	return err
}
