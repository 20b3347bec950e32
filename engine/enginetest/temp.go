package enginetest

import (
	"cmp"
	"context"
	"errors"
	"testing"

	"filewise"
	"filewise/workload"
)

// tryTemp does cycles of temporary tables on layouts of 1 and of several temporary
// files, and wants all of the files to be there and the first, at least, to be used.
func tryTemp(t *testing.T, b *bench, offered bool) {
	w, err := workload.NewTemp(workload.Params{Connections: 2, Rows: 9000, RowBytes: 400, Cycle: workload.CycleJoin}, seed(t))
	fatal(t, err)
	for _, n := range []int{1, cmp.Or(b.s.Temps, 4)} {
		l := b.layout(1)
		l.Kind, l.Data.Allocation = ownKind(b.s, l.Kind), filewise.Growing
		l.Temp = filewise.Spread{Files: n, Bytes: 12 << 20, Placement: filewise.PlaceRoundRobin}
		if !offered {
			refused(t, b, l, w.Program())
			continue
		}
		tempCycles(t, b, l, w)
	}
}

// ownKind is the kind of layout that the engine has for scenario temp.
func ownKind(s Subject, usual filewise.Kind) filewise.Kind {
	if d, ok := s.Engine.(filewise.Describer); ok {
		if kinds := d.Describe().TempKinds; len(kinds) > 0 {
			return kinds[0]
		}
	}
	return usual
}

func tempCycles(t *testing.T, b *bench, l filewise.Layout, w filewise.Workload) {
	t.Helper()
	ctx := context.Background()
	script, err := b.s.Engine.Script(b.target, l, w.Program())
	fatal(t, err)
	db := b.build(l, w)
	ledger := filewise.Ledger{0, 0}
	sessions := make([]filewise.Session, len(ledger))
	for c := range ledger {
		sessions[c], err = db.Connector.Connect(ctx, 0, c)
		fatal(t, err)
	}
	for c, n := range []int64{2, 1} {
		ledger[c], err = sessions[c].Do(ctx, 0, n)
		fatal(t, err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if n, err := sessions[0].Do(stopped, ledger[0], 1); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up did %d cycles: %v", n, err)
	}
	check := w.Check
	fatal(t, check(ctx, db.Querier, 0, []filewise.Ledger{ledger}))
	ledger[1]++
	if err := check(ctx, db.Querier, 0, []filewise.Ledger{ledger}); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("the check does not see a cycle that was not done: %v", err)
	}
	found, err := db.Observer.Observe(ctx)
	fatal(t, err)
	if err := l.Verify(script.Files, found, true); err != nil {
		t.Error(err)
	}
	places, used := 0, 0
	for _, f := range found {
		if f.Role == filewise.RoleTemp {
			places++
			if f.Used != nil && *f.Used > 0 {
				used++
			}
		}
	}
	if places != l.Temp.Files || used == 0 {
		t.Errorf("%d temporary files, of which %d were used: %+v", places, used, found)
	}
	for _, s := range sessions {
		fatal(t, s.Close())
	}
	fatal(t, db.Dropper.Drop(ctx))
}
