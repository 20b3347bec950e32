package external

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// A trial's life on every kind of layout, with an account that has the
// documented rights: nothing of others is different afterwards.
func testLife(t *testing.T, b bench) {
	s := open(t, b, b.Target("filewise"))
	later := layout(filewise.KindPartitions, 4)
	later.AddedLater = filewise.LaterRebuilt
	untouched := later
	untouched.AddedLater = filewise.LaterUntouched
	for name, c := range map[string]struct {
		layout filewise.Layout
		change func(*workload.Params)
		files  int
	}{
		"partitions": {layout(filewise.KindPartitions, 4), nil, 4},
		"per-table":  {layout(filewise.KindPerTable, 3), nil, 3},
		"partitions of tables": {layout(filewise.KindPartitions, 2),
			func(p *workload.Params) { p.Table, p.CommitEvery = workload.TablePerConnection, 7 }, 8},
		"rebuilt":   {later, nil, 4},
		"untouched": {untouched, nil, 1},
	} {
		t.Run(name, func(t *testing.T) { life(t, s, c.layout, inserts(t, c.change), c.files) })
	}
	if left, err := s.Leftovers(deadline(t)); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

func life(t *testing.T, s *server, l filewise.Layout, w filewise.Workload, files int) {
	ctx := deadline(t)
	db := buildOn(t, s, l, w)
	fatal(t, db.Settle(ctx))
	if db.Unsettled == nil { // it writes one file after the other
		t.Error("its drain would be part of what is judged")
	}
	_, err := db.Observe(ctx)
	fatal(t, err)
	ledger := work(t, db, w, 0, 50)
	if db.Extend != nil {
		fatal(t, db.Extend(ctx))
		ledger = work(t, db, w, 50, 50)
	}
	fatal(t, db.Settle(ctx))
	found, err := db.Observe(ctx)
	fatal(t, err)
	if len(found) != files {
		t.Errorf("%d files: %v", len(found), found)
	}
	fatal(t, w.Check(ctx, db, 0, []filewise.Ledger{ledger}))
	ledger[0]--
	if err := w.Check(ctx, db, 0, []filewise.Ledger{ledger}); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("a row too many: %v", err)
	}
	for _, p := range db.Probes {
		// By MySQL's default the system caches the files, too, so what can hold the data is unknown.
		if c, err := p.Read(ctx); err != nil || len(c) == 0 && p.Name() != filewise.ProbeServerMemory {
			t.Errorf("probe %s: %v %v", p.Name(), c, err)
		}
	}
	fatal(t, db.Drop(ctx))
	fatal(t, db.Drop(ctx))
}

// testBinlog: whatever the format of the binary log, a row takes about its own
// size in it, and not the text that payloads are cut from.
func testBinlog(t *testing.T, b bench) {
	var before string
	fatal(t, b.Root.QueryRow("SELECT @@GLOBAL.binlog_format").Scan(&before))
	defer func() { b.Exec(t, "SET GLOBAL binlog_format = "+before) }()
	for _, format := range []string{"ROW", "MIXED", "STATEMENT"} {
		b.Exec(t, "SET GLOBAL binlog_format = "+format)
		s := open(t, b, b.Target("filewise"))
		for _, key := range []string{workload.KeySequential, workload.KeyRandom} {
			w := inserts(t, func(p *workload.Params) { p.Key, p.CommitEvery = key, 10 })
			db := buildOn(t, s, layout(filewise.KindPartitions, 2), w)
			start := written(t, b)
			ledger := work(t, db, w, 0, 50)
			if each := (written(t, b) - start) / ledger.Total(); each > 2000 {
				t.Errorf("%s, %s keys: a row of 200 bytes takes %d bytes in the binary log", format, key, each)
			}
			fatal(t, w.Check(deadline(t), db, 0, []filewise.Ledger{ledger}))
			fatal(t, db.Drop(deadline(t)))
		}
	}
}

// written returns the size of all files of the binary log.
func written(t *testing.T, b bench) (sum int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(b.Data, "bin.0*"))
	fatal(t, err)
	for _, f := range files {
		info, err := os.Stat(f)
		fatal(t, err)
		sum += info.Size()
	}
	return sum
}
