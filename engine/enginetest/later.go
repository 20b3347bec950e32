package enginetest

import (
	"context"
	"slices"
	"testing"

	"filewise"
)

// later lists the arms of files that are added later.
var later = []filewise.AddedLater{filewise.LaterUntouched, filewise.LaterNewData, filewise.LaterRebuilt}

// tryAddLater checks that arms are refused if the engine does not offer them, and that an unknown arm always is. Another
// test checks that the offered arms work.
func tryAddLater(t *testing.T, b *bench, offered bool) {
	w := b.workload(params())
	for _, arm := range append(later[:len(later):len(later)], "sometimes") {
		if offered && arm != "sometimes" {
			continue
		}
		l := b.layout(4)
		l.AddedLater = arm
		if _, err := b.s.Engine.Statements(b.target, l, w.Program()); err == nil {
			t.Errorf("added later %q: Statements has nothing against it", arm)
		}
		if !offered {
			refused(t, b, l, w.Program())
		}
	}
}

// testAddedLater takes every arm through loading, extending and further work.
func testAddedLater(t *testing.T, s Subject) {
	bench := newBench(t, s)
	for _, arm := range later {
		t.Run(string(arm), func(t *testing.T) {
			b := bench.as(t)
			if !b.offers(filewise.CanAddLater) {
				t.Skip("NOT offered, and refused: see Offers")
			}
			if slices.Contains(s.LacksArms, arm) {
				l := b.layout(4)
				l.AddedLater = arm
				refused(t, b, l, b.workload(params()).Program())
				return
			}
			addedLater(t, b, arm)
		})
	}
}

// addedLater checks a build to which files are added. At first it has one file, with a share of the layout's bytes, and
// is loaded. Then the further files exist at the paths that the script lists. The loaded data stay, work goes on, also
// after a restart or a reset, and new data lie where the arm puts them.
func addedLater(t *testing.T, b *bench, arm filewise.AddedLater) {
	ctx := context.Background()
	l := b.layout(4)
	l.AddedLater = arm
	l.Data.Placement = filewise.PlaceRoundRobin
	share := l.Data.Bytes / int64(l.Data.Files)
	p := params()
	p.RowBytes = 4000
	w := b.workload(p)
	rows := func(bytes int64) int64 { return 1 + bytes/int64(p.RowBytes*p.Connections) }
	script, err := b.s.Engine.Statements(b.target, l, w.Program())
	fatal(t, err)
	db := b.build(l, w)
	if db.Extend == nil {
		t.Fatal("the database of a layout with files added later has no Extend")
	}
	first := dataFiles(t, db, 1)[0].Path
	ledger, errs := b.work(ctx, db, w.Program(), nil, rows(share/4))
	noErrors(t, errs)
	b.check(db, w, ledger)
	fatal(t, db.Extend(ctx))

	want := l.Data.Files
	if arm == filewise.LaterUntouched {
		want = 1
	}
	fatal(t, db.Settle(ctx))
	extended := dataFiles(t, db, want)
	if err := l.Verify(script.Files, extended, true); err != nil {
		t.Errorf("the files differ from the script's: %v", err)
	}
	b.check(db, w, ledger)
	b.stands(t, db, w, ledger)
	// More than the first file holds, so that engines that fill file after file
	// come to the new ones; the first has its loaded quarter.
	ledger, errs = b.work(ctx, db, w.Program(), ledger, rows(share))
	noErrors(t, errs)
	fatal(t, db.Settle(ctx))
	b.check(db, w, ledger)
	worked := dataFiles(t, db, want)

	fill, err := fillWork(b, l, w.Program())
	fatal(t, err)
	switch {
	case arm == filewise.LaterUntouched:
	case arm == filewise.LaterRebuilt && fill == 0:
		spread(t, extended)
	default:
		addedFilesGrow(t, first, extended, worked)
	}
}

// stands checks that a restart and a reset bring the extended database back.
func (b *bench) stands(t *testing.T, db *filewise.Database, w filewise.Workload, loaded filewise.Ledger) {
	t.Helper()
	ctx := context.Background()
	switch {
	case db.Reset != nil:
		fatal(t, db.Reset.Snapshot(ctx))
		_, errs := b.work(ctx, db, w.Program(), loaded, 10)
		noErrors(t, errs)
		fatal(t, db.Reset.Reset(ctx))
	case db.Restart != nil:
		fatal(t, db.Restart(ctx))
	default:
		return
	}
	b.check(db, w, loaded)
}

// fillWork returns the work that an engine needs if it fills one file after the other, or 0 if it fills files side by
// side.
func fillWork(b *bench, l filewise.Layout, p filewise.Program) (int64, error) {
	f, ok := b.s.Engine.(filewise.Filler)
	if !ok {
		return 0, nil
	}
	l.AddedLater = ""
	return f.FillWork(b.target, l, p)
}

// dataFiles returns the data files as observed, and fails the test if their number is not the expected one.
func dataFiles(t *testing.T, db *filewise.Database, want int) []filewise.File {
	t.Helper()
	all, err := db.Observe(context.Background())
	fatal(t, err)
	data := filewise.Those(all, func(f filewise.File) bool { return f.Role == filewise.RoleData })
	if len(data) != want {
		t.Fatalf("there are %d data files, expected %d: %v", len(data), want, data)
	}
	return data
}

// holds returns what the engine reports of how much a file holds, or else the file's
// size; a preallocated file of an engine that does not report it means nothing.
func holds(f filewise.File) int64 {
	switch {
	case f.Used != nil:
		return *f.Used
	case f.EngineBytes != nil:
		return *f.EngineBytes
	}
	return f.Bytes
}

// spread checks that after a rebuild every file holds a similar share of the data: at least a third of the largest. An
// empty file of the engine holds far less.
func spread(t *testing.T, files []filewise.File) {
	t.Helper()
	most := int64(0)
	for _, f := range files {
		most = max(most, holds(f))
	}
	for _, f := range files {
		if holds(f) < most/3 {
			t.Errorf("after the rebuild, %s holds %d bytes, another file %d", f.Path, holds(f), most)
		}
	}
}

// addedFilesGrow checks that new data lie in the added files.
func addedFilesGrow(t *testing.T, first string, before, after []filewise.File) {
	t.Helper()
	var grew int64
	for _, all := range []struct {
		files []filewise.File
		sign  int64
	}{{before, -1}, {after, +1}} {
		for _, f := range all.files {
			if f.Path != first {
				grew += all.sign * holds(f)
			}
		}
	}
	if grew <= 0 {
		t.Errorf("nothing of the further work is in the files that were added:\nbefore %+v\nafter  %+v", before, after)
	}
}
