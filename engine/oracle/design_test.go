package oracle

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

func smallfile(files int) filewise.Layout {
	return filewise.Layout{Kind: filewise.KindSmallfile,
		Data: filewise.Spread{Files: files, Bytes: 64 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceRoundRobin}}
}

// What cannot be is refused with the reason, and before anything is executed.
func TestRefusals(t *testing.T) {
	for what, change := range map[string]func(*filewise.Target, *filewise.Layout, *filewise.Program){
		"a managed server": func(t *filewise.Target, _ *filewise.Layout, _ *filewise.Program) { t.Mode = filewise.Managed },
		"a setting of the server": func(t *filewise.Target, _ *filewise.Layout, _ *filewise.Program) {
			t.Settings = map[string]string{"sga_target": "1G"}
		},
		"durability off": func(t *filewise.Target, _ *filewise.Layout, _ *filewise.Program) {
			t.Durability = filewise.DurabilityOff
		},
		"an unknown kind": func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) { l.Kind = "heap" },
		"a bigfile of two": func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) {
			l.Kind, l.Data.Files = filewise.KindBigfile, 2
		},
		"a bigfile that gets more": func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) {
			l.Kind, l.Data.Files, l.AddedLater = filewise.KindBigfile, 1, filewise.LaterNewData
		},
		"1023 files": func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) {
			l.Data.Files, l.Data.Bytes = 1023, 1<<40
		},
		"a smallfile of 40 GiB": func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) {
			l.Data.Files, l.Data.Bytes = 1, 40<<30
		},
		"no space for a page": func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) {
			l.Data.Files, l.Data.Bytes = 16, 16*512
		},
		"the log apart":             func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) { l.LogVolume = "b" },
		"an unknown added-later":    func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) { l.AddedLater = "soon" },
		"an unknown place of index": func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) { l.Indexes = "elsewhere" },
		"an unknown workload":       func(_ *filewise.Target, _ *filewise.Layout, p *filewise.Program) { p.Workload = "knitting" },
		"rows of 3981 bytes":        func(_ *filewise.Target, _ *filewise.Layout, p *filewise.Program) { p.Phases[0].OpBytes = 3981 },
	} {
		target, l, p := serverTarget(filewise.Volume{Name: "a", Dir: "/u02"},
			filewise.Volume{Name: "b", Dir: "/u03"}), smallfile(2), testProgram(t, small)
		change(&target, &l, &p)
		if _, err := (Engine{}).Statements(target, l, p); !errors.Is(err, filewise.ErrUnsupported) || filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, change := range map[string]func(*filewise.Target, *filewise.Layout, *filewise.Program){
		"no volume":               func(t *filewise.Target, _ *filewise.Layout, _ *filewise.Program) { t.Volumes = nil },
		"no file":                 func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) { l.Data.Files = 0 },
		"a negative size":         func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) { l.Data.Bytes = -1 },
		"no connection":           func(_ *filewise.Target, _ *filewise.Layout, p *filewise.Program) { p.Phases[0].Connections = 0 },
		"no row in a transaction": func(_ *filewise.Target, _ *filewise.Layout, p *filewise.Program) { p.Phases[0].CommitEvery = 0 },
		"a volume for nothing":    func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) { l.IndexVolume = "b" },
		"an unknown index volume": func(_ *filewise.Target, l *filewise.Layout, _ *filewise.Program) {
			l.Indexes, l.IndexVolume = filewise.IndexesApart, "c"
		},
		"two operating systems": func(t *filewise.Target, _ *filewise.Layout, _ *filewise.Program) { t.Volumes[1].Dir = `C:\ora` },
		"a relative path":       func(t *filewise.Target, _ *filewise.Layout, _ *filewise.Program) { t.Volumes[1].Dir = `ora` },
		"no volume left for data": func(t *filewise.Target, l *filewise.Layout, _ *filewise.Program) {
			t.Volumes, l.Indexes, l.IndexVolume = t.Volumes[1:], filewise.IndexesApart, "b"
		},
		"a path with a line break": func(t *filewise.Target, _ *filewise.Layout, _ *filewise.Program) { t.Volumes[1].Dir = "/u;\nDROP" },
	} {
		target, l, p := serverTarget(filewise.Volume{Name: "a", Dir: "/u02"},
			filewise.Volume{Name: "b", Dir: "/u03"}), smallfile(2), testProgram(t, small)
		change(&target, &l, &p)
		if _, err := (Engine{}).Statements(target, l, p); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Queries start buffer-cold without a restart (build.Cool); the system's cache is not ours to empty.
func TestColdQueries(t *testing.T) {
	for cache, refused := range map[string]bool{string(filewise.CacheBufferCold): false, string(filewise.CacheStorageCold): true} {
		w, err := workload.NewScan(workload.Params{Rows: 1000, Cache: cache, Data: workload.DataGrown, Repeat: 1}, 7)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Engine{}).Statements(serverTarget(), smallfile(2), w.Program()); errors.Is(err, filewise.ErrUnsupported) != refused ||
			err != nil && !refused {
			t.Errorf("%s: %v", cache, err)
		}
	}
}

func TestScript(t *testing.T) {
	volumes := []filewise.Volume{{Name: "a", Dir: "/u02"}, {Name: "b", Dir: "/u03/"}, {Name: "c", Dir: "/u04"}}
	l := smallfile(4)
	l.Indexes, l.IndexVolume = filewise.IndexesApart, "c"
	script, err := Engine{}.Statements(serverTarget(volumes...), l, testProgram(t, small))
	if err != nil {
		t.Fatal(err)
	}
	on := map[string]int{}
	for _, f := range script.Files {
		on[string(f.Role)+" "+f.Volume]++
		if f.Role == filewise.RoleData && f.Bytes != 17<<20 || // the header is extra
			strings.Contains(f.Path, "//") {
			t.Errorf("%+v", f)
		}
	}
	if len(script.Files) != 5 || on["data a"] != 2 || on["data b"] != 2 || on["index c"] != 1 || script.Space["a"] != 34<<20 ||
		script.Space["c"] == 0 {
		t.Errorf("files %v, space %v", on, script.Space)
	}
	var all strings.Builder
	for _, s := range script.Steps {
		all.WriteString(s.SQL + "\n")
	}
	for text, times := range map[string]int{"CREATE SMALLFILE TABLESPACE": 2, "ADD DATAFILE": 3, "COMMENT ON TABLE": 2, "DROP TABLESPACE": 2,
		"COMMIT WRITE IMMEDIATE WAIT": 1, "REUSE": 0} {
		if n := strings.Count(all.String(), text); n != times {
			t.Errorf("%q stands %d times, want %d", text, n, times)
		}
	}
	growing := smallfile(1)
	growing.Data.Allocation = filewise.Growing
	script, err = Engine{}.Statements(serverTarget(), growing, testProgram(t, small))
	if err != nil || len(script.Warnings) != 1 || script.Warnings[0].Code != "grows-by-a-block" ||
		script.Files[0].Bytes != leastSmall(usualBlock) {
		t.Errorf("growing without a step: %+v, %v", script, err)
	}
	growing.AddedLater, growing.Data.Files = filewise.LaterUntouched, 4
	if script, err = (Engine{}).Statements(serverTarget(), growing, testProgram(t, small)); err != nil || len(script.Files) != 1 {
		t.Errorf("untouched: %+v, %v", script.Files, err)
	}
	many := small
	many.Table, many.Connections = workload.TablePerConnection, 2000
	if _, err := (Engine{}).Statements(serverTarget(), smallfile(1), testProgram(t, many)); err != nil {
		t.Error(err)
	}
}

// A file has space for its header and an extent, whatever the blocks, and no more of them than
// the server counts (ORA-03214, ORA-01144).
func TestSizesByBlock(t *testing.T) {
	for block, want := range map[int64]struct{ least, most int64 }{
		2 * kib: {128 * kib, 8 << 30}, 4 * kib: {128 * kib, 16 << 30}, 8 * kib: {128 * kib, 32 << 30},
		16 * kib: {256 * kib, 64 << 30}, 32 * kib: {448 * kib, 128 << 30},
	} {
		kind, later := filewise.KindSmallfile, filewise.LaterUntouched
		fails := func(bytes int64, what string) bool {
			l := smallfile(1)
			l.Kind, l.Data.Bytes, l.AddedLater = kind, bytes, later
			_, err := newDesign(serverTarget(), l, testProgram(t, small), planNames(false), block)
			return err != nil && strings.Contains(err.Error(), what)
		}
		if fails(want.least, "at least") || !fails(want.least-unit, "at least") {
			t.Errorf("blocks of %d: the least is not %d", block, want.least)
		}
		if fails(want.most-unit, "at most") || !fails(want.most, "at most") {
			t.Errorf("blocks of %d: the most is not below %d", block, want.most)
		}
		kind, later = filewise.KindBigfile, ""
		if fails(1024*block, "at least") || !fails(1024*block-unit, "at least") || fails(want.most, "at most") {
			t.Errorf("blocks of %d: a bigfile has 1,024 at least, and more than a smallfile", block)
		}
		if small, large := headerOf(want.least, block), headerOf(4*mib, block); small != 8*block || large != mib ||
			want.least < small+5*block {
			t.Errorf("blocks of %d: headers of %d and %d bytes", block, small, large)
		}
	}
}

// TestColdTurns: work whose turns begin with an empty cache is reported. First contact: Oracle 5.
func TestColdTurns(t *testing.T) {
	shown := map[string]bool{}
	for _, w := range phasedWorkloads(t) {
		d := phasedDesign(t, w.Program(), "", filewise.DurabilityFull)
		shown[w.Program().Workload] = slices.ContainsFunc(d.warnings, func(w filewise.Warning) bool {
			return w.Code == "cold-turns" && strings.Contains(w.Remedy, "--rounds 2 and --window")
		})
	}
	shown["inserts"] = slices.ContainsFunc(phasedDesign(t, testProgram(t, small), "", filewise.DurabilityFull).warnings,
		func(w filewise.Warning) bool { return w.Code == "cold-turns" })
	if want := map[string]bool{"orders": true, "dml": false, "scan": false, "inserts": false}; !maps.Equal(shown, want) {
		t.Errorf("%v", shown)
	}
}
