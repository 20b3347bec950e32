package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// Extents are as the server takes them (Oracle Database Concepts), and from the files in
// turns: with AUTOALLOCATE after the first 16.
func TestFill(t *testing.T) {
	total := int64(0)
	for i := range firstTogether + 63 + 120 {
		if total += extent(i, 0); i == firstTogether-1 && total != mib || i == firstTogether+62 && total != 64*mib {
			t.Errorf("the first %d extents have %d bytes", i+1, total)
		}
	}
	if total != 1024*mib || extent(200, 0) != 64*mib {
		t.Errorf("%d bytes of up to 8 MiB each", total)
	}
	room := []int64{8 * mib, 8 * mib, 8 * mib, 8 * mib}
	for _, c := range []struct {
		what             string
		segments         []segment
		uniform          int64
		touched          int
		beyond, firstHas int64
	}{
		{"one extent", []segment{{true, 1}}, 0, 1, 0, unit},
		{"the first MiB", []segment{{true, mib}}, 0, 1, 0, mib},
		{"and one extent more", []segment{{true, mib + 1}}, 0, 2, 0, 0},
		{"a MiB in small extents", []segment{{true, mib}}, unit, 4, 0, mib / 4},
		{"an index is no table", []segment{{true, 1}, {false, 8 * mib}}, 0, 1, 0, 0},
		{"all files full", []segment{{true, 32 * mib}}, 0, 4, 0, 8 * mib},
		{"more than they hold", []segment{{true, 40 * mib}}, 0, 4, 8 * mib, 0},
	} {
		f := fill(room, c.segments, c.uniform)
		if f.touched != c.touched || f.beyond != c.beyond || c.firstHas > 0 && f.used[0] != c.firstHas {
			t.Errorf("%s: %+v", c.what, f)
		}
	}
}

// Every scenario, as published and not, at every scale, fits into its files; and where its
// rows do not reach all of them the plan reports it.
func TestEveryScenarioFits(t *testing.T) {
	n := 0
	for _, usual := range workload.Scenarios() {
		if !slices.Contains([]string{"inserts", "orders", "dml", "scan"}, usual.Name) {
			continue
		}
		for _, scale := range []float64{0, usual.Design.Scale, 20 * usual.Design.Scale, 0.05} {
			s := usual
			if s.Params.Cache != "" { // the usual one of servers by URL
				s.Params.Cache = workload.CacheWarm
			}
			if scale > 0 {
				s = usual.AsPublished(scale)
			}
			for _, files := range s.Files {
				for _, allocation := range []filewise.Allocation{filewise.Preallocated, filewise.Growing} {
					for _, block := range []int64{8 * kib, 16 * kib, 32 * kib} {
						n++
						fits(t, s, scale, files, allocation, block)
					}
				}
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d designs", n)
	}
}

func fits(t *testing.T, s workload.Scenario, scale float64, files int, allocation filewise.Allocation, block int64) {
	t.Helper()
	what := fmt.Sprintf("%s at scale %g in %d %s files, blocks of %d", s.Name, scale, files, allocation, block)
	if s.Filling > 0 {
		s.Params.Rows = s.RowsIn(s.Bytes, s.Params)
	}
	w, err := s.New(s.Params, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := w.Program()
	if s.Name == "inserts" {
		p.WorkBytes = 24 * mib
		if scale > 0 {
			p.WorkBytes = workload.Scaled(s.Design.Work, scale, 0)
		}
	}
	l := smallfile(files)
	l.Data.Bytes, l.Data.Allocation = s.Bytes, allocation
	d, err := newDesign(serverTarget(), l, p, planNames(false), block)
	if err != nil {
		if !strings.Contains(err.Error(), "at least") && !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	f := d.predict(d.files)
	if f.beyond > 0 {
		t.Errorf("%s: %d bytes have no room", what, f.beyond)
	}
	reported := slices.ContainsFunc(d.warnings, func(w filewise.Warning) bool { return w.Code == "files-unreached" && w.Remedy != "" })
	if reported != (f.touched < files) {
		t.Errorf("%s: %d files are reached, said %v", what, f.touched, reported)
	}
	if s.Name == "dml" && scale == 0 && block == usualBlock && f.touched < files {
		t.Errorf("%s: %d files are reached", what, f.touched)
	}
}

// Rows lie in what a block's header and PCTFREE leave, and a segment has its own blocks.
func TestRowsInBlocks(t *testing.T) {
	d := &design{program: filewise.Program{Workload: "inserts"}, block: usualBlock}
	for rows, blocks := range map[int64]int64{1: 4, 67: 4, 68: 5, 67 * 64: 68, 67 * 128: 133} {
		if got := d.bytesOf(rows, 100, 1) / usualBlock; got != blocks {
			t.Errorf("%d rows: %d blocks, want %d", rows, got, blocks)
		}
	}
	if got := d.indexed(900, 16); got != 36000+3*usualBlock {
		t.Errorf("an index of %d bytes", got)
	}
}

// A single file that is not reached is reported, with what would reach it.
func TestOneUnreached(t *testing.T) {
	for _, s := range workload.Scenarios() {
		want := map[string]string{"inserts": "--work", "orders": "--warehouses", "dml": "--rows with --index key", "scan": "--rows"}[s.Name]
		if want == "" {
			continue
		}
		if s.Params.Cache != "" {
			s.Params.Cache = workload.CacheWarm
		}
		w, err := s.New(s.Params, 1)
		if err != nil {
			t.Fatal(err)
		}
		l := smallfile(8)
		l.Data.Bytes = 4 << 30
		p := w.Program()
		p.WorkBytes, p.Tables = mib, slices.Clone(p.Tables)
		for i := range p.Tables {
			p.Tables[i].Rows = min(p.Tables[i].Rows, 30)
		}
		d, err := newDesign(serverTarget(), l, p, planNames(false), usualBlock)
		if err != nil {
			t.Fatal(err)
		}
		touched := d.predict(d.files).touched
		for n, many := range map[int]bool{touched: false, touched + 1: true} {
			d.warnings, d.files = nil, slices.Repeat(d.files[:1], n)
			d.reach()
			reported := slices.ContainsFunc(d.warnings, func(w filewise.Warning) bool {
				return strings.Contains(w.Remedy, "more "+want+",") ||
					strings.Contains(w.Remedy, "larger "+want+",")
			})
			if now := d.predict(d.files).touched; now < n != many || reported != many {
				t.Errorf("%s: %d of %d files, %v", s.Name, now, n, d.warnings)
			}
		}
	}
}

// A rebuild takes a table's rows to all files: while they fill the first one, a move finds space
// in the others alone.
func TestRebuildReachesAll(t *testing.T) {
	l := smallfile(4)
	l.AddedLater = filewise.LaterRebuilt
	d, err := newDesign(serverTarget(), l, testProgram(t, small), planNames(false), usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := d.steps(d.markerText)
	if err != nil {
		t.Fatal(err)
	}
	room, rows := []int64{15 * mib, 15 * mib, 15 * mib, 15 * mib}, []segment{{true, 15 * mib}}
	lies := fill(room[:1], rows, 0).used
	for _, text := range steps.At(filewise.StageExtend).Texts() {
		if !strings.HasSuffix(text, " MOVE") {
			continue
		}
		free := slices.Clone(room)
		for i := range lies {
			free[i] -= lies[i]
		}
		lies = fill(free, rows, 0).used
	}
	for i, n := range lies {
		if n < 3*mib || n > 5*mib {
			t.Errorf("file %d has %d bytes of 15 MiB over 4 files", i, n)
		}
	}
}

// What the server reports of files that were filled as predicted fills the report of a
// trial: how many the rows touched.
func TestUntouchedFiles(t *testing.T) {
	for rows, want := range map[int64]int{2: 7, 120: 6, 1000: 0} {
		w, err := workload.NewDML(workload.Params{Connections: 2, Rows: rows, Mode: workload.ModeSingle,
			Connect: workload.ConnectPooled, Index: workload.IndexNone}, 7)
		if err != nil {
			t.Fatal(err)
		}
		d, err := newDesign(serverTarget(filewise.Volume{Name: "a", Dir: "/u02"}), smallfile(8), w.Program(), newNames(false), usualBlock)
		if err != nil {
			t.Fatal(err)
		}
		f := newFake()
		f.add(t, d.names.Tablespace, true)
		f.dataFiles(d)
		files, err := observed(t, f, d)
		if err != nil {
			t.Fatal(err)
		}
		untouched := 0
		for _, file := range files {
			if *file.Used == 0 {
				untouched++
			}
		}
		if untouched != want {
			t.Errorf("%d rows: %d files are untouched, want %d", rows, untouched, want)
		}
	}
}

// An extent of dml has five blocks at least, and whole units.
func TestExtentsOfDML(t *testing.T) {
	for block, want := range map[int64]int64{2 * kib: 64 * kib, 8 * kib: 64 * kib, 16 * kib: 128 * kib, 32 * kib: 192 * kib} {
		if got := (&design{program: filewise.Program{Workload: "dml"}, block: block}).uniform(); got != want {
			t.Errorf("blocks of %d: extents of %d bytes, want %d", block, got, want)
		}
	}
	if got := (&design{program: filewise.Program{Workload: "inserts"}, block: usualBlock}).uniform(); got != 0 {
		t.Errorf("extents of inserts are of %d bytes, and not the server's choice", got)
	}
}
