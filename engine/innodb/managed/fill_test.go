//go:build linux

package managed_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// The default work fills every file of a layout, whatever the key.
func testFillWork(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	target := sub.onScratch(t, 1)
	target.Durability = filewise.DurabilityOff // the rows are the same, and there sooner
	s := sub.open(t, ctx, target)
	growing := systemLayout(4, 32<<20)
	growing.Data.Allocation, growing.Data.Growth = filewise.Growing, 1<<20
	for name, c := range map[string]struct {
		layout filewise.Layout
		change func(*workload.Params)
	}{
		"sequential":     {systemLayout(8, 32<<20), func(p *workload.Params) { p.Connections = 16 }},
		"random":         {systemLayout(8, 32<<20), func(p *workload.Params) { p.Key = workload.KeyRandom }},
		"per connection": {systemLayout(4, 48<<20), func(p *workload.Params) { p.Connections, p.Table = 16, workload.TablePerConnection }},
		"large rows":     {systemLayout(4, 48<<20), func(p *workload.Params) { p.RowBytes = 20000 }},
		"medium rows":    {systemLayout(4, 48<<20), func(p *workload.Params) { p.RowBytes = 3000 }},
		"growing":        {growing, nil},
		"the default": {systemLayout(16, sub.Engine.Describe().Bytes), func(p *workload.Params) {
			p.Connections, p.RowBytes, p.CommitEvery = 16, sub.Engine.Describe().RowBytes, 1
		}},
		"few, small":     {systemLayout(8, 48<<20), func(p *workload.Params) { p.Connections, p.RowBytes = 2, 200 }},
		"few, 100 files": {systemLayout(100, 200<<20), func(p *workload.Params) { p.Connections, p.RowBytes = 2, 4000 }},
	} {
		t.Run(name, func(t *testing.T) {
			if sub.Slow && !slices.Contains([]string{"random", "the default"}, name) {
				t.Skip("NOT tested here, but with the sibling, which has the same InnoDB")
			}
			w := inserts(t, func(p *workload.Params) {
				p.CommitEvery, p.RowBytes = 50, 500
				if c.change != nil {
					c.change(p)
				}
			})
			sub.filled(t, ctx, target, s, c.layout, w)
		})
	}
}

func (sub subject) filled(t *testing.T, ctx context.Context, target filewise.Target, s filewise.Server, l filewise.Layout,
	w filewise.Workload) {
	p := w.Program()
	one := l // the work that 1 file gets fills many as well
	one.Data.Files = 1
	bytes, err := sub.Engine.FillWork(target, one, p)
	if err != nil || bytes <= 0 {
		t.Fatal(bytes, err)
	}
	db := build(t, ctx, s, l, w)
	defer func() {
		if err := db.Drop(ctx); err != nil {
			t.Error(err)
		}
	}()
	if err := db.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	base := used(t, ctx, db)
	ledger := work(t, ctx, db, w, 0, bytes/p.First().OpBytes/int64(p.Connections()))
	if err := db.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	files, err := db.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	in := look(t, db)
	taken := used(t, ctx, db) - base
	perRow := float64(taken) / float64(ledger.Total())
	t.Logf("base %.1f MiB; %d rows take %.1f MiB, %.0f bytes each (model %.0f), %.0f %% of the room",
		float64(base)/(1<<20), ledger.Total(), float64(taken)/(1<<20), perRow, in.BytesPerRow, 100*float64(taken)/float64(in.Capacity))
	if strayed := math.Abs(perRow/in.BytesPerRow - 1); l.Data.Files == 16 && strayed > 0.05 {
		if strayed > 0.20 {
			t.Errorf("the model is wrong by %.0f %%", 100*strayed)
		}
		return // how often 16 connections overtake one another is the machine's: 16 files need it as it mostly is
	}
	for _, warning := range filewise.FillWarnings(files) {
		if l.Data.Files == 16 { // those by default must not grow either
			t.Errorf("%v", warning)
		}
	}
	last := files[l.Data.Files-1]
	t.Logf("data files of %.0f MiB, at the end %.0f", float64(l.Data.Bytes)/(1<<20), float64(sumBytes(files))/(1<<20))
	share := l.Data.Bytes / int64(l.Data.Files)
	if *last.Used <= 0 || *last.Used > share+l.Data.Bytes/8 {
		t.Errorf("the last of %d files holds %.1f MiB, the others have %.1f", l.Data.Files, float64(*last.Used)/(1<<20), float64(share)/(1<<20))
	}
}

func used(t *testing.T, ctx context.Context, db *filewise.Database) int64 {
	t.Helper()
	files, err := db.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return sumUsed(files)
}

// Work that leaves files untouched is warned about, before and after it, and so
// is work that the files do not hold.
func testFillWarnings(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	target := sub.onScratch(t, 1)
	s := sub.open(t, ctx, target)
	w := inserts(t, nil)
	l := systemLayout(4, 48<<20)
	p := w.Program()
	for bytes, code := range map[int64]string{0: "files-filled-in-order", 1 << 20: "later-files-untouched", 200 << 20: "last-file-outgrows"} {
		p.WorkBytes = bytes
		script, err := sub.Engine.Statements(target, l, p)
		said := slices.DeleteFunc(script.Warnings, func(w filewise.Warning) bool { return w.Code == "system-scope" })
		if err != nil || len(said) != 1 || said[0].Code != code || said[0].Remedy == "" {
			t.Errorf("work of %d bytes: %v %v, want %s", bytes, said, err, code)
		}
	}
	db := build(t, ctx, s, l, w)
	work(t, ctx, db, w, 0, 100)
	if err := db.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	files, err := db.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	unused := 0 // by which the condition "reach" is measured
	for _, f := range files {
		if f.Role == filewise.RoleData && f.Used != nil && *f.Used == 0 {
			unused++
		}
	}
	if got := filewise.FillWarnings(files); len(got) != 0 || unused == 0 {
		t.Errorf("%v, %d files unused", got, unused)
	}
}
