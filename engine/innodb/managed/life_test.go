//go:build linux

package managed_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// A trial's life on every kind of layout: built, observed, worked on, settled,
// checked, dropped without a trace.
func testLife(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	s := sub.open(t, ctx, sub.onScratch(t, 2))
	growing := systemLayout(3, 24<<20)
	growing.Data.Allocation, growing.Data.Growth = filewise.Growing, 2<<20
	table := func(kind filewise.Kind, files int) filewise.Layout {
		return filewise.Layout{Name: string(kind), Kind: kind,
			Data: filewise.Spread{Files: files, Bytes: 16 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}}
	}
	each := func(p *workload.Params) {
		p.Table, p.Key, p.CommitEvery = workload.TablePerConnection, workload.KeyRandom, 7
	}
	for name, c := range map[string]struct {
		layout filewise.Layout
		change func(*workload.Params)
	}{
		"system 1":                  {systemLayout(1, 24<<20), nil},
		"system 4":                  {systemLayout(4, 24<<20), func(p *workload.Params) { p.Key = workload.KeyRandom }},
		"system growing":            {growing, each},
		"per-table, shared":         {table(filewise.KindPerTable, 1), nil},
		"per-table, taking turns":   {table(filewise.KindPerTable, 3), nil},
		"per-table, per connection": {table(filewise.KindPerTable, 4), each},
		"partitions":                {table(filewise.KindPartitions, 5), func(p *workload.Params) { p.CommitEvery = 10 }},
		"partitions of tables":      {table(filewise.KindPartitions, 8), each},
		"large rows":                {systemLayout(2, 32<<20), func(p *workload.Params) { p.RowBytes = 20000 }},
	} {
		if sub.Slow && slices.Contains([]string{"system 1", "per-table, shared", "partitions", "large rows"}, name) {
			continue // the sibling's code, and parts of the others
		}
		t.Run(name, func(t *testing.T) { life(t, ctx, s, 2, c.layout, inserts(t, c.change)) })
	}
}

func life(t *testing.T, ctx context.Context, s filewise.Server, across int, l filewise.Layout, w filewise.Workload) {
	start := time.Now()
	db := build(t, ctx, s, l, w)
	t.Logf("built in %v", time.Since(start))
	defer func() {
		if err := db.Drop(ctx); err != nil {
			t.Error(err)
		}
	}()
	if err := db.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	files, err := db.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	volumes := map[string]int{}
	for _, f := range files {
		if f.Role == filewise.RoleData {
			volumes[f.Volume]++
		}
	}
	onSecond := 0
	if across > 1 {
		onSecond = l.Data.Files / 2
	}
	if tables := volumes["v1"] + volumes["v2"]; tables%l.Data.Files != 0 || volumes["v2"] != onSecond*tables/l.Data.Files {
		t.Errorf("files by volume: %v, want %d of every %d on the second", volumes, onSecond, l.Data.Files)
	}
	ledger := work(t, ctx, db, w, 0, 101)
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err != nil {
		t.Error(err)
	}
	ledger[0]--
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); err == nil {
		t.Error("a row too many is not found")
	}
	if err := db.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	for _, p := range db.Probes {
		if c, err := p.Read(ctx); err != nil || len(c) == 0 {
			t.Errorf("probe %s: %v %v", p.Name(), c, err)
		}
	}
}
