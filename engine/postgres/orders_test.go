package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/postgres/installed"
	"filewise/lab/workload"
)

func smallOrders(t *testing.T, warehouses int) filewise.Workload {
	t.Helper()
	w, err := workload.NewOrders(workload.Params{Connections: 2, Warehouses: warehouses, Scale: 0.001, Churn: true}, 3)
	must(t, err)
	return w
}

func plainTables(bytes int64) filewise.Layout {
	return filewise.Layout{Name: "plain table", Kind: filewise.KindSingle,
		Data: filewise.Spread{Files: 1, Bytes: bytes, Allocation: filewise.Growing}}
}

// On plain tables: tables that come and go leave nothing, transactions that are
// interrupted a true ledger, and a call allocates nothing.
func TestOrdersOnPlainTables(t *testing.T) {
	need(t)
	ctx := deadline(t)
	w := smallOrders(t, 2)
	db := buildOn(t, ctx, open(t, ctx, onScratch(t, 1)), plainTables(32<<20), w)
	for _, table := range w.(filewise.Loadable).Data() {
		for batch := range table.Batches {
			must(t, db.Bulk.LoadBatch(ctx, table, batch))
		}
	}
	must(t, db.Bulk.Finish(ctx))
	s, err := db.Connect(ctx, 0, 0)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	ledger := filewise.Ledger{0, 0}
	do := func(ctx context.Context, n int64) error {
		done, err := s.Do(ctx, ledger[0], n)
		ledger[0] += done
		return err
	}
	must(t, do(ctx, 30))
	link := db.Build.(*build).link
	// On partitions, plans for the values of each call would take half of the time.
	var mode string
	must(t, link.Scan(ctx, "SELECT current_setting('plan_cache_mode')", nil, &mode))
	if mode != keptPlans {
		t.Errorf("plan_cache_mode is %s, not %s", mode, keptPlans)
	}
	var left, came int64
	must(t, link.Scan(ctx, "SELECT count(*) FROM pg_class WHERE relname LIKE 'fw_churn%'", nil, &left))
	if came = db.Build.(*build).churned.Load(); left != 0 || came != 30 {
		t.Errorf("%d of %d tables that came are left", left, came)
	}
	cut := 0
	for moment := 2 * time.Millisecond; moment < 100*time.Millisecond; moment += moment / 3 {
		short, cancel := context.WithTimeout(ctx, moment)
		err := do(short, 1000)
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("after %v: %v", moment, err)
		}
		cut++
	}
	t.Logf("%d transactions, interrupted %d times", ledger[0], cut)
	must(t, w.Check(ctx, db, 0, []filewise.Ledger{ledger}))
	_, err = db.Observe(ctx)
	must(t, err)
	if !underRace {
		allocatesNothing(t, s.(*statements), &ledger[0])
	}
}

// allocatesNothing counts the allocations of a transaction, from its arguments to its answer.
func allocatesNothing(t *testing.T, s *statements, next *int64) {
	t.Helper()
	s.churn = false
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ours := testing.AllocsPerRun(300, func() {
		if _, err := s.Do(ctx, *next, 1); err != nil {
			t.Fatal(err)
		}
		*next++
	})
	if ours > 1 { // of the library: its messages' texts
		t.Errorf("%v allocations a transaction", ours)
	}
}

// Layouts that cannot be are refused, and the partitions of others have all
// warehouses, each in one of them.
func TestOrdersDesign(t *testing.T) {
	target := filewise.Target{Engine: "postgres", Mode: filewise.Managed,
		Volumes: []filewise.Volume{{Name: "a", Dir: "/a"}, {Name: "b", Dir: "/b"}}}
	w := smallOrders(t, 5)
	if _, err := newDesign(target, partitions(6, 1<<20), w.Program(), installed.Oldest, noTablespace); !errors.Is(err,
		filewise.ErrUnsupported) || !strings.Contains(filewise.RemedyOf(err), "--warehouses 6") {
		t.Errorf("6 files of 5 warehouses: %v; %s", err, filewise.RemedyOf(err))
	}
	later := partitions(2, 1<<20)
	later.AddedLater = filewise.LaterRebuilt
	if _, err := newDesign(target, later, w.Program(), installed.Oldest, noTablespace); !errors.Is(err, filewise.ErrUnsupported) {
		t.Errorf("added later: %v", err)
	}
	d, err := newDesign(target, partitions(3, 1<<20), w.Program(), installed.Oldest, func(i int) string { return fmt.Sprint("space", i) })
	must(t, err)
	stock := d.named()["stock"]
	var bounds []string
	for _, l := range stock.Leaves {
		bounds = append(bounds, l.Values)
	}
	if want := []string{"FOR VALUES IN (1, 4)", "FOR VALUES IN (2, 5)", "FOR VALUES IN (3)"}; !slices.Equal(bounds, want) ||
		len(d.named()["item"].Leaves) != 1 {
		t.Errorf("%q", bounds)
	}
	if homes := d.homes(); !slices.Equal(homes, []string{` TABLESPACE "space0"`, ` TABLESPACE "space1"`}) {
		t.Errorf("tables that come and go lie in %q", homes)
	}
	for _, warned := range d.warnings {
		if warned.Code == "churn-in-one-place" {
			t.Errorf("on two volumes: %+v", warned)
		}
	}
}

func noTablespace(int) string { return "" }
