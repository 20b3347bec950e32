package sqlserver

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/sqlserver/dialect"
	"filewise/internal/marker"
	"filewise/lab/workload"
)

// TestTrial takes layouts through the life of a trial, over the real driver. The
// rows come from the procedure's own arithmetic.
func TestTrial(t *testing.T) {
	for _, table := range []string{workload.TableShared, workload.TablePerConnection} {
		for _, key := range []string{workload.KeySequential, workload.KeyRandom, workload.KeyIdentity} {
			for _, every := range []int{1, 4} {
				t.Run(fmt.Sprintf("%s-%s-%d", table, key, every), func(t *testing.T) {
					trial(t, func(p *workload.Params) { p.Table, p.Key, p.CommitEvery = table, key, every })
				})
			}
		}
	}
}

func trial(t *testing.T, change func(*workload.Params)) {
	lab := newLab(t, nil)
	lab.add("sales", func(d *modelDatabase) { d.objects = 100 })
	s := lab.open()
	w := inserts(t, change)
	p := w.Program()
	for _, n := range []int{1, 4} {
		db := lab.build(s, layout(n), w)
		ok(t, db.Settle(t.Context()))
		files, err := db.Observe(t.Context())
		ok(t, err)
		if len(files) != n+1 {
			t.Errorf("%d files observed, want %d and a log", len(files), n)
		}
		ledger := make(filewise.Ledger, p.Connections())
		ok(t, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}))
		ok(t, work(t, t.Context(), db, p, ledger, 50)...)
		ok(t, work(t, t.Context(), db, p, ledger, 33)...) // further connections go on
		ok(t, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}))
		wrong := slices.Clone(ledger)
		wrong[0]++
		if err := w.Check(t.Context(), db, 0, []filewise.Ledger{wrong}); !errors.Is(err, filewise.ErrCheck) {
			t.Errorf("a wrong ledger passes: %v", err)
		}
		ok(t, db.Drop(t.Context()), db.Drop(t.Context()))
	}
	if got := lab.names(); !slices.Equal(got, []string{"sales"}) {
		t.Errorf("left are %v", got)
	}
}

// TestScriptIsWhatIsBuilt compares the plan with what reached the server.
func TestScriptIsWhatIsBuilt(t *testing.T) {
	for _, c := range []struct {
		name    string
		volumes []filewise.Volume
		data    string
		change  func(*filewise.Layout)
	}{
		{"default", []filewise.Volume{{Name: "default"}}, `C:\DATA\`, nil},
		{"windows", volumeSets["windows"], `C:\DATA\`, func(l *filewise.Layout) {
			l.LogVolume, l.IndexVolume, l.Indexes, l.Data.Placement = "log", "ix", filewise.IndexesApart, filewise.PlaceRoundRobin
		}},
		{"linux", volumeSets["linux"], "/var/opt/mssql/data/", func(l *filewise.Layout) {
			l.AddedLater, l.LogVolume, l.Data.Placement, l.Data.Allocation = filewise.LaterRebuilt, "log", filewise.PlaceRoundRobin, filewise.Growing
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newLab(t, func(m *model) { m.data, m.log = c.data, c.data })
			lab.target.Volumes = c.volumes
			lab.target.Settings = map[string]string{settingMix: "on", settingAll: "on", "log-size": "80MiB"}
			w := inserts(t, nil)
			l := layout(4)
			if c.change != nil {
				c.change(&l)
			}
			script, err := Engine{}.Statements(lab.target, l, w.Program())
			ok(t, err)
			db := lab.build(lab.open(), l, w)
			if db.Extend != nil {
				before, err := db.Observe(t.Context())
				ok(t, err)
				if len(before) != 2 {
					t.Errorf("%d files before Extend", len(before))
				}
				ok(t, db.Extend(t.Context()), db.Extend(t.Context()))
			}
			found, err := db.Observe(t.Context())
			ok(t, err)
			if len(found) != len(script.Files) {
				t.Fatalf("%d files were built, the script has %d", len(found), len(script.Files))
			}
			name := db.Build.(*build).design.name
			for i, f := range found {
				s := script.Files[i]
				if f.Role != s.Role || f.Volume != s.Volume || f.Bytes != s.Bytes ||
					c.name != "default" && strings.ReplaceAll(f.Path, name, marker.PlanName) != s.Path {
					t.Errorf("built %+v, the script says %+v", f, s)
				}
			}
			received := strings.Join(lab.wire.Received(), "\n")
			for _, step := range script.Steps {
				if step.Stage == filewise.StageBuild && !strings.Contains(step.SQL, "(the server") {
					sql := strings.ReplaceAll(strings.ReplaceAll(step.SQL, marker.PlanName, name), dialect.Literal("(the marker)"),
						dialect.Literal(db.Build.(*build).design.marker))
					if !strings.Contains(received, sql) {
						t.Errorf("the script has a step that was not executed:\n%s", sql)
					}
				}
			}
		})
	}
}

// TestAddedLater: the three arms have the files that they should.
func TestAddedLater(t *testing.T) {
	for later, want := range map[filewise.AddedLater]int{filewise.LaterUntouched: 1, filewise.LaterNewData: 4, filewise.LaterRebuilt: 4} {
		lab := newLab(t, nil)
		w := inserts(t, nil)
		l := layout(4)
		l.AddedLater, l.Indexes = later, filewise.IndexesApart
		db := lab.build(lab.open(), l, w)
		ledger := make(filewise.Ledger, 3)
		ok(t, work(t, t.Context(), db, w.Program(), ledger, 20)...)
		ok(t, db.Extend(t.Context()))
		files, err := db.Observe(t.Context())
		ok(t, err, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}))
		count := map[filewise.Role]int{}
		for _, f := range files {
			count[f.Role]++
		}
		if count[filewise.RoleData] != want || count[filewise.RoleIndex] != want || count[filewise.RoleLog] != 1 {
			t.Errorf("%s: %v", later, count)
		}
		rebuilds := 0
		for _, text := range lab.wire.Received() {
			if strings.Contains(text, "REBUILD") {
				rebuilds++
			}
		}
		if (rebuilds > 0) != (later == filewise.LaterRebuilt) {
			t.Errorf("%s: %d rebuilds", later, rebuilds)
		}
	}
}

// TestObserveSeesAnotherLayout: what differs from the layout fails.
func TestObserveSeesAnotherLayout(t *testing.T) {
	for what, change := range map[string]func(*modelDatabase){
		"a file less":    func(d *modelDatabase) { d.files = d.files[1:] },
		"a file more":    func(d *modelDatabase) { d.files = append(d.files, d.files[0]) },
		"another path":   func(d *modelDatabase) { d.files[1].path += "x" },
		"smaller":        func(d *modelDatabase) { d.files[1].kb -= 64 },
		"another growth": func(d *modelDatabase) { d.files[0].growthKB += 64 },
		"another group":  func(d *modelDatabase) { d.files[1].group = "OTHER" },
		"another name":   func(d *modelDatabase) { d.files[0].logical = "x" },
	} {
		lab := newLab(t, nil)
		db := lab.build(lab.open(), layout(4), inserts(t, nil))
		change(lab.model.databases[lab.names()[0]])
		if _, err := db.Observe(t.Context()); !errors.Is(err, filewise.ErrLayout) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestGrewAndProbes: a file that grew is reported, and so is I/O per file.
func TestGrewAndProbes(t *testing.T) {
	lab := newLab(t, nil)
	w := inserts(t, nil)
	db := lab.build(lab.open(), layout(2), w)
	lab.model.databases[lab.names()[0]].files[1].kb += 1024
	files, err := db.Observe(t.Context())
	ok(t, err)
	if files[1].Grew != mib || files[0].Grew != 0 || files[0].Used == nil || *files[0].Used != 100*page || files[2].Used != nil {
		t.Errorf("%+v", files)
	}
	before := counters(t, db, filewise.ProbeFiles)
	ok(t, work(t, t.Context(), db, w.Program(), make(filewise.Ledger, 3), 20)...)
	after := counters(t, db, filewise.ProbeFiles)
	for _, f := range files {
		key := filewise.Counter{Name: filewise.FileBytes, Unit: "B", File: f.Path}
		if after[key] <= before[key] || before[filewise.Counter{Name: filewise.FileReadTime, Unit: "s", File: f.Path}] != 0.001 {
			t.Errorf("%s: before %v\nafter %v", f.Path, before, after)
		}
	}
	if len(before) != len(files)*len(counted) || counters(t, db, engineName)[filewise.Counter{Name: "checkpoint pages", Unit: "pages"}] != 77 {
		t.Errorf("before %v", before)
	}
}

// TestServersOwn: memory is the server's, not the client's, and a window is reported in cycles of
// checkpoints, but not if a checkpoint is measured.
// First contact: SQL Server 16.
func TestServersOwn(t *testing.T) {
	lab := newLab(t, nil)
	s := lab.open()
	memory := filewise.Counter{Name: filewise.MemoryTotal, Unit: filewise.UnitSummed}
	looked := filewise.Counter{Name: filewise.UnitLooked, Unit: filewise.UnitLooked}
	for _, work := range []int64{0, 100 * mib} {
		p := inserts(t, nil).Program()
		p.WorkBytes = work
		db, err := s.Build(t.Context(), layout(1), p)
		ok(t, err)
		before := counters(t, db, filewise.ProbeServerMemory)
		after := counters(t, db, filewise.ProbeServerMemory)
		mean := (after[memory] - before[memory]) / (after[looked] - before[looked])
		if math.Abs(mean-16<<30) > 1 {
			t.Errorf("%v B of memory", mean)
		}
		cycles := counters(t, db, filewise.ProbeCheckpoints)
		if n, counted := cycles[filewise.Counter{Name: filewise.CheckpointCycles, Unit: "cycles"}]; counted != (work == 0) || n > 1 {
			t.Errorf("work of %d: %v cycles", work, cycles)
		}
	}
}

func counters(t *testing.T, db *filewise.Database, probe string) map[filewise.Counter]float64 {
	t.Helper()
	all := map[filewise.Counter]float64{}
	for _, p := range db.Probes {
		if p.Name() == probe {
			found, err := p.Read(t.Context())
			ok(t, err)
			for _, c := range found {
				value := c.Value
				c.Value = 0
				all[c] = value
			}
		}
	}
	return all
}

// TestWaits: sums of sessions that end or are reset never fall, the benign are left
// out, and latches are split by the pages that samples saw.
func TestWaits(t *testing.T) {
	lab := newLab(t, nil)
	db := lab.build(lab.open(), layout(2), inserts(t, nil))
	latch, log := filewise.Counter{Name: "PAGELATCH_UP", Unit: "s", Class: filewise.WaitLatch}, filewise.Counter{Name: "WRITELOG", Unit: "s",
		Class: filewise.WaitLog}
	pfs := filewise.Counter{Name: "PAGELATCH_UP (PFS)", Unit: "s", Class: filewise.WaitAllocation}
	for i, step := range []struct {
		waits          []modelWait
		pages          map[string]int
		log, latch, pf float64
	}{
		{[]modelWait{{51, "WRITELOG", 2000, 20}, {52, "WRITELOG", 1000, 10}, {51, "SLEEP_TASK", 9000, 9}, {52, "PAGELATCH_UP", 4000, 4}}, nil,
			3, 4, 0},
		{[]modelWait{{51, "WRITELOG", 2500, 25}, {52, "PAGELATCH_UP", 8000, 8}}, map[string]int{"PFS": 3, "": 1}, 3.5, 5, 3},
		{[]modelWait{{51, "WRITELOG", 100, 1}, {52, "PAGELATCH_UP", 8000, 8}}, nil, 3.6, 5, 3},
	} {
		lab.model.mu.Lock()
		lab.model.waits, lab.model.latches = step.waits, step.pages
		lab.model.mu.Unlock()
		for _, p := range db.Probes {
			if s, is := p.(filewise.Sampler); is {
				ok(t, s.Sample(t.Context(), time.Second))
			}
		}
		all := counters(t, db, filewise.ProbeWaits)
		if all[log] != step.log || all[latch] != step.latch || all[pfs] != step.pf ||
			all[filewise.Counter{Name: "looks", Unit: "looks"}] != float64(i+1) {
			t.Errorf("step %d: %v", i, all)
		}
		for c := range all {
			if c.Name == "SLEEP_TASK" || c.Unit == "waits" && c.Name != "WRITELOG" {
				t.Errorf("step %d: %+v", i, c)
			}
		}
	}
}

// TestRefusals: what cannot be is refused by Statements and by Build, and nothing
// reaches the server.
func TestRefusals(t *testing.T) {
	lab := newLab(t, nil)
	s := lab.open()
	sent := len(lab.wire.Received())
	for _, c := range []struct {
		name        string
		layout      func(*filewise.Layout)
		program     func(*filewise.Program)
		unsupported bool
	}{
		{"kind", func(l *filewise.Layout) { l.Kind = "heap" }, nil, true},
		{"workload", nil, func(p *filewise.Program) { p.Workload = "knitting" }, true},
		{"no file", func(l *filewise.Layout) { l.Data.Files = 0 }, nil, false},
		{"too many files", func(l *filewise.Layout) { l.Data.Files = 40000 }, nil, true},
		{"less than model's file", func(l *filewise.Layout) { l.Data.Files = 16 }, nil, false},
		{"growth below an extent", func(l *filewise.Layout) { l.Data.Growth = 4096 }, nil, false},
		{"unknown log volume", func(l *filewise.Layout) { l.LogVolume = "x" }, nil, false},
		{"no data volume", func(l *filewise.Layout) { l.LogVolume = "default" }, nil, false},
		{"index volume without apart", func(l *filewise.Layout) { l.IndexVolume = "default" }, nil, false},
		{"indexes", func(l *filewise.Layout) { l.Indexes = "aside" }, nil, false},
		{"added later", func(l *filewise.Layout) { l.AddedLater = "never" }, nil, false},
		{"rebuilt out of row", func(l *filewise.Layout) { l.AddedLater = filewise.LaterRebuilt },
			func(p *filewise.Program) { p.Phases[0].OpBytes = 9000 }, true},
		{"no connection", nil, func(p *filewise.Program) { p.Phases[0].Connections = 0 }, false},
		{"no row in a transaction", nil, func(p *filewise.Program) { p.Phases[0].CommitEvery = 0 }, false},
	} {
		l, p := layout(2), inserts(t, nil).Program()
		if c.layout != nil {
			c.layout(&l)
		}
		if c.program != nil {
			c.program(&p)
		}
		_, scripted := Engine{}.Statements(lab.target, l, p)
		_, built := s.Build(t.Context(), l, p)
		for _, err := range []error{scripted, built} {
			if filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" ||
				errors.Is(err, filewise.ErrUnsupported) != c.unsupported {
				t.Errorf("%s: %v (%s)", c.name, err, filewise.RemedyOf(err))
			}
		}
	}
	for name, change := range map[string]func(*filewise.Target){
		"off":            func(t *filewise.Target) { t.Durability = filewise.DurabilityOff },
		"managed":        func(t *filewise.Target) { t.Mode, t.Address = filewise.Managed, nil },
		"server setting": func(t *filewise.Target) { t.Settings = map[string]string{"max_server_memory": "1"} },
		"bad setting":    func(t *filewise.Target) { t.Settings = map[string]string{"log-size": "much"} },
		"bad switch":     func(t *filewise.Target) { t.Settings = map[string]string{settingMix: "maybe"} },
		"client's path":  func(t *filewise.Target) { t.Volumes = []filewise.Volume{{Name: "a", Dir: "data"}} },
		"two systems": func(t *filewise.Target) {
			t.Volumes = []filewise.Volume{{Name: "a", Dir: `D:\x`}, {Name: "b", Dir: "/x"}}
		},
	} {
		target := lab.target
		change(&target)
		_, scripted := Engine{}.Statements(target, layout(2), inserts(t, nil).Program())
		_, opened := Engine{}.Open(t.Context(), target)
		if filewise.CodeOf(scripted) != filewise.CodeUsage || filewise.CodeOf(opened) != filewise.CodeUsage {
			t.Errorf("%s: %v, %v", name, scripted, opened)
		}
	}
	target := lab.target
	target.Volumes = []filewise.Volume{{Name: "a", Dir: path.Clean("/var/lib")}}
	if _, err := (Engine{}).Open(t.Context(), target); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Errorf("a Linux path on a Windows server: %v", err)
	}
	for _, text := range lab.wire.Received()[sent:] {
		if strings.Contains(text, "CREATE") && !strings.Contains(text, "HAS_PERMS") {
			t.Errorf("sent: %s", text)
		}
	}
}

func TestOffers(t *testing.T) {
	for _, view := range []bool{true, false} {
		lab := newLab(t, func(m *model) { m.view = view })
		s := lab.open()
		offers := s.Offers()
		for _, c := range filewise.Capabilities {
			why, stated := offers[c]
			if !stated || why != nil && !errors.Is(why, filewise.ErrUnsupported) {
				t.Errorf("%s: %v, stated %v", c, why, stated)
			}
		}
		db := lab.build(s, layout(1), inserts(t, nil))
		if (offers[filewise.CanFileIO] == nil) != view || (offers[filewise.CanWaits] == nil) != view || (len(db.Probes) > 0) != view ||
			db.Restart != nil || db.Reset != nil || db.Lifecycle != nil {
			t.Errorf("view %v: %v, %+v", view, offers[filewise.CanFileIO], db)
		}
	}
}
