//go:build linux

package managed_test

import (
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// Every file's size by the engine's account is its size; use is reported only once
// it is true; and what outgrew its preallocated size is reported.
func testObserve(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	s := sub.open(t, ctx, sub.onScratch(t, 1))
	w := inserts(t, func(p *workload.Params) { p.CommitEvery, p.RowBytes = 50, 1000 })
	db := build(t, ctx, s, systemLayout(4, 24<<20), w)
	observe := func() []filewise.File {
		t.Helper()
		files, err := db.Observe(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return files[:4]
	}
	if f := observe()[3]; f.Used != nil || f.EngineBytes != nil {
		t.Errorf("use of files that are not settled: %v %v", f.Used, f.EngineBytes)
	}
	for range 2 {
		if err := db.Settle(ctx); err != nil {
			t.Fatal(err)
		}
		files := observe()
		for _, f := range files {
			if f.Used == nil || f.EngineBytes == nil || *f.EngineBytes != f.Bytes || f.Grew != 0 {
				t.Errorf("%+v: engine %v", f, f.EngineBytes)
			}
		}
		if *files[0].Used == 0 || *files[3].Used != 0 {
			t.Errorf("used %d … %d", *files[0].Used, *files[3].Used)
		}
		work(t, ctx, db, w, 0, 0)
		if observe()[0].Used != nil {
			t.Error("use is told after work that is not settled")
		}
	}
	work(t, ctx, db, w, 0, 5000)
	if err := db.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	files := observe()
	if last := files[3]; last.Grew <= 0 || *last.EngineBytes != last.Bytes {
		t.Errorf("the last file holds 20,000 rows: %+v", last)
	}
	if got := filewise.FillWarnings(files); len(got) != 1 || got[0].Code != "preallocated-grew" {
		t.Errorf("%v", got)
	}
}
