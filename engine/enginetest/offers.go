package enginetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"filewise"
)

// testOffers checks that what is offered works, and that what is not offered is absent and the engine explains why.
func testOffers(t *testing.T, s Subject) {
	bench := newBench(t, s)
	for _, c := range filewise.Capabilities {
		t.Run(string(c), func(t *testing.T) {
			b := bench.as(t)
			why, stated := b.server.Offers()[c]
			if !stated {
				t.Fatalf("the server's offers lack %q", c)
			}
			if why != nil && (!errors.Is(why, filewise.ErrUnsupported) || len(why.Error()) < 20) {
				t.Errorf("the reason %q does not say why, or does not wrap ErrUnsupported", why)
			}
			if slices.Contains(s.Tried, c) {
				t.Skip("it is tried in another run of the suite")
			}
			trials[c](t, b, b.offers(c))
		})
	}
}

var trials = map[filewise.Capability]func(t *testing.T, b *bench, offered bool){
	filewise.CanPreallocate: func(t *testing.T, b *bench, offered bool) {
		l := b.layout(2)
		l.Data.Allocation = filewise.Preallocated
		built(t, b, l, offered)
	},
	filewise.CanGrow: func(t *testing.T, b *bench, offered bool) {
		l := b.layout(2)
		l.Data.Allocation, l.Data.Growth = filewise.Growing, 1<<20
		built(t, b, l, offered)
	},
	filewise.CanVolumes:    tryVolumes,
	filewise.CanAddLater:   tryAddLater,
	filewise.CanLogApart:   tryLogApart,
	filewise.CanIndexApart: tryIndexApart,
	filewise.CanRestart:    tryRestart,
	filewise.CanReset:      tryReset,
	filewise.CanBulk:       tryBulk,
	filewise.CanBackup:     tryBackup,
	filewise.CanTemp:       tryTemp,
	filewise.CanWaits:      tryWaits,
	filewise.CanFileIO:     tryFileIO,
}

// built builds, works, checks and observes, or must be refused. It returns the
// files as built.
func built(t *testing.T, b *bench, l filewise.Layout, offered bool) []filewise.File {
	t.Helper()
	w := b.workload(params())
	if !offered {
		refused(t, b, l, w.Program())
		return nil
	}
	db := b.build(l, w)
	files, err := db.Observe(context.Background())
	fatal(t, err)
	ledger, errs := b.work(context.Background(), db, w.Program(), nil, b.s.Rows)
	noErrors(t, errs)
	b.check(db, w, ledger)
	return files
}

// refused checks that Statements and Build explain why they refuse, and leave nothing behind.
func refused(t *testing.T, b *bench, l filewise.Layout, p filewise.Program) {
	t.Helper()
	b.leftAsIs("what was refused", func() {
		scripted, built := b.tried(context.Background(), l, p)
		for who, err := range map[string]error{"Statements": scripted, "Build": built} {
			if !errors.Is(err, filewise.ErrUnsupported) || len(err.Error()) < 20 {
				t.Errorf("not offered, but %s returns %v, which is no reason that wraps ErrUnsupported", who, err)
			}
		}
	})
}

func tryRestart(t *testing.T, b *bench, offered bool) {
	w := b.workload(params())
	db := b.build(b.layout(2), w)
	if (db.Restart != nil) != offered {
		t.Fatalf("offered: %v, but Database.Restart is nil: %v", offered, db.Restart == nil)
	}
	if !offered {
		return
	}
	ledger, errs := b.work(context.Background(), db, w.Program(), nil, b.s.Rows)
	noErrors(t, errs)
	fatal(t, db.Restart(context.Background()))
	b.check(db, w, ledger)
	ledger, errs = b.work(context.Background(), db, w.Program(), ledger, b.s.Rows)
	noErrors(t, errs)
	b.check(db, w, ledger)
}

func tryReset(t *testing.T, b *bench, offered bool) {
	w := b.workload(params())
	db := b.build(b.layout(2), w)
	if (db.Reset != nil) != offered {
		t.Fatalf("offered: %v, but Database.Reset is %v", offered, db.Reset)
	}
	if !offered {
		return
	}
	ctx := context.Background()
	ledger, errs := b.work(ctx, db, w.Program(), nil, b.s.Rows)
	noErrors(t, errs)
	fatal(t, db.Reset.Snapshot(ctx))
	for range 2 {
		_, errs = b.work(ctx, db, w.Program(), ledger, b.s.Rows)
		noErrors(t, errs)
		fatal(t, db.Reset.Reset(ctx))
		b.check(db, w, ledger)
	}
}

// testScript checks that a script is the same twice, executes nothing, and lists the files that are then built.
func testScript(t *testing.T, s Subject) {
	b := newBench(t, s)
	w := b.workload(params())
	for _, n := range s.Files {
		l := b.layout(n)
		before := b.listing()
		script, err := s.Engine.Statements(b.target, l, w.Program())
		fatal(t, err)
		if !slices.Equal(before, b.listing()) {
			t.Errorf("%s: the script has changed the volumes", l.Name)
		}
		if len(script.Steps) == 0 || script.Space[b.target.Volumes[0].Name] <= 0 {
			t.Errorf("%s: a script of %d steps, space %v", l.Name, len(script.Steps), script.Space)
		}
		db, err := b.server.Build(context.Background(), l, w.Program())
		fatal(t, err)
		found, err := db.Observe(context.Background())
		fatal(t, err)
		if err := l.Verify(script.Files, found, false); err != nil {
			t.Errorf("%s: what was built differs from the script: %v", l.Name, err)
		}
		fatal(t, db.Drop(context.Background()))
	}
}
