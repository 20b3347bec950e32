package sqlserver

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/internal/marker"
	"filewise/run/doctor/doctortest"
)

// TestLeftovers: what is Filewise's is listed, what lives is kept, and what is not
// Filewise's is neither listed nor removed.
func TestLeftovers(t *testing.T) {
	lab := newLab(t, nil)
	s := lab.open()
	live := lab.build(s, layout(1), inserts(t, nil))
	living := lab.names()[0]
	add := func(change func(*modelDatabase)) string {
		name := marker.NewName()
		lab.add(name, change)
		return name
	}
	marked := func(d *modelDatabase) {
		d.properties["filewise"], d.objects = enginetest.DeadMarker(t, d.name, false), 5
	}
	dead := add(marked)
	young := add(func(d *modelDatabase) { d.age = 1 })
	unmarked := add(nil)
	closed := add(func(d *modelDatabase) { d.access = false })
	used := add(func(d *modelDatabase) { marked(d); d.sessions = 2 })
	strange := add(func(d *modelDatabase) { marked(d); d.strange = []string{"my_precious", "zoo"} })
	restoring := add(func(d *modelDatabase) { d.state = "RESTORING" })
	full := add(func(d *modelDatabase) { d.objects, d.foreign = 1, true })
	copied := add(func(d *modelDatabase) { d.properties["filewise"] = lab.model.databases[living].properties["filewise"] })
	other := add(func(d *modelDatabase) { d.properties["owner"], d.foreign = "me", true })
	restored := add(func(d *modelDatabase) { d.properties["owner"] = "me" }) // and killed before it was marked
	lab.add("filewise_production", nil)
	lab.add("sales", nil)
	left, err := s.Leftovers(t.Context())
	ok(t, err)
	found := map[string]filewise.Leftover{}
	for _, l := range left {
		found[l.Name] = l
	}
	for name, want := range map[string]struct {
		kept     string
		unmarked bool
	}{
		living: {"still runs", false}, dead: {"", false}, young: {"minutes old", true}, unmarked: {"", true},
		closed: {"account", false}, used: {"2 sessions", false}, strange: {"did not make: my_precious, 2 in all", false},
		restoring: {"RESTORING", false}, restored: {"DROP DATABASE [" + restored + "]", false},
	} {
		l, listed := found[name]
		if !listed || (l.Kept == "") != (want.kept == "") || !strings.Contains(l.Kept, want.kept) || l.Unmarked != want.unmarked {
			t.Errorf("%+v, listed %v, want %+v", l, listed, want)
		}
	}
	for _, name := range []string{full, copied, other, "filewise_production", "sales"} {
		if l, listed := found[name]; listed {
			t.Errorf("listed: %+v", l)
		}
		if err := s.Remove(t.Context(), filewise.Leftover{Kind: "database", Name: name}); filewise.CodeOf(err) != filewise.CodePreflight {
			t.Errorf("removing %s: %v", name, err)
		}
	}
	for name, code := range map[string]filewise.Code{living: filewise.CodeBusy, young: filewise.CodeBusy, used: filewise.CodeBusy,
		strange: filewise.CodePreflight} {
		if err := s.Remove(t.Context(), found[name]); filewise.CodeOf(err) != code || filewise.RemedyOf(err) == "" {
			t.Errorf("removing %s, which is in use: %v", name, err)
		}
	}
	for _, name := range []string{used, strange} { // nor by the batch that drops
		lab.model.mu.Lock()
		text := lab.model.databases[name].properties["filewise"]
		lab.model.mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the server's refusal is waited for
		if err := s.drop(ctx, name, text); err == nil || name == strange && filewise.CodeOf(err) != filewise.CodePreflight {
			t.Errorf("dropping %s: %v", name, err)
		}
		cancel()
	}
	lied := found[unmarked]
	lied.Unmarked = false
	if err := s.Remove(t.Context(), lied); err == nil {
		t.Error("what was listed as marked and is not, was removed")
	}
	before := len(lab.names())
	ok(t, s.Remove(t.Context(), found[dead]), s.Remove(t.Context(), found[unmarked]))
	if len(lab.names()) != before-2 {
		t.Errorf("left are %v", lab.names())
	}
	ok(t, live.Drop(t.Context()))
}

// TestLock: one measures at a time, the other learns who; the lock goes with the
// connection.
func TestLock(t *testing.T) {
	lab := newLab(t, nil)
	one, two := lab.open(), lab.open()
	held, err := one.Lock(t.Context(), filewise.Holder{Who: "run 7 of ada"})
	ok(t, err)
	ok(t, held.Held(t.Context()))
	if _, err := two.Lock(t.Context(), filewise.Holder{Who: "run 8"}); filewise.CodeOf(err) != filewise.CodeBusy ||
		!strings.Contains(err.Error(), "run 7 of ada") || filewise.RemedyOf(err) == "" {
		t.Errorf("%v", err)
	}
	lab.model.mu.Lock()
	lab.model.view = false
	lab.model.mu.Unlock()
	if _, err := two.Lock(t.Context(), filewise.Holder{Who: "run 8"}); filewise.CodeOf(err) != filewise.CodeBusy ||
		!strings.Contains(err.Error(), "another Filewise") {
		t.Errorf("%v", err)
	}
	ok(t, held.Release())
	held, err = two.Lock(t.Context(), filewise.Holder{Who: strings.Repeat("long ", 100)})
	ok(t, err)
	for _, s := range lab.wire.Sessions() { // its connection dies
		if strings.HasPrefix(s.Login.Program, lockName) {
			s.Drop()
		}
	}
	if held.Held(t.Context()) == nil {
		t.Error("held by a connection that died")
	}
	soon(t, "the lock of a dead connection", func() bool {
		again, err := one.Lock(t.Context(), filewise.Holder{Who: "run 9"})
		if err == nil {
			ok(t, again.Release())
		}
		return err == nil
	})
	ok(t, held.Release()) // harmless
}

func TestActivity(t *testing.T) {
	lab := newLab(t, func(m *model) { m.others = 8 })
	gauges, err := lab.open().Activity(t.Context())
	ok(t, err)
	if len(gauges) != 2 || gauges[0].Name != "active" || gauges[0].Value != 4 || gauges[1].Name != "sessions" || gauges[1].Value != 8 {
		t.Errorf("%+v", gauges)
	}
	lab = newLab(t, func(m *model) { m.view = false })
	if gauges, err := lab.open().Activity(t.Context()); err != nil || len(gauges) != 0 {
		t.Errorf("without the right: %+v %v", gauges, err)
	}
}

// TestChangedDefinition: a build stays in which someone has changed a definition, or put an index, a type or a default of his
// own in, whatever its name; loaded or not.
func TestChangedDefinition(t *testing.T) {
	lab := newLab(t, nil)
	lab.target.Settings = map[string]string{"keep-backups": "on"}
	s := lab.open()
	for _, w := range append(phasedWorkloads(t), inserts(t, nil)) {
		db := lab.build(s, layout(1), w)
		name := lab.names()[0]
		if _, loads := w.(filewise.Loadable); loads {
			ok(t, loadAll(t, db, w))
		}
		set := func(to string) {
			lab.model.mu.Lock()
			lab.model.databases[name].definition = to
			lab.model.mu.Unlock()
		}
		set("with an index more")
		if err := db.Drop(t.Context()); filewise.CodeOf(err) != filewise.CodePreflight || !slices.Equal(lab.names(), []string{name}) {
			t.Fatalf("dropped: %v", err)
		}
		set("")
		ok(t, db.Drop(t.Context()))
	}
}

// TestOldRelease: what the oldest release does not have is not read from it.
func TestOldRelease(t *testing.T) {
	for release, version := range map[string]string{"2016": "13.0.5026.0", "2022": "16.0.4085.2"} {
		var asked atomic.Int32
		s := newLab(t, func(m *model) {
			m.version = version
			m.fault = func(_ context.Context, q Request, _ *Reply) (bool, error) {
				if strings.Contains(q.SQL, "dm_os_enumerate_fixed_drives") || strings.Contains(q.SQL, "is_accelerated_database_recovery_on") {
					asked.Add(1)
				}
				return false, nil
			}
		}).open()
		s.Examine(t.Context(), filewise.Demand{Layouts: []filewise.Layout{layout(1)}, Program: inserts(t, nil).Program(),
			Space: map[string]int64{"default": 1}})
		_, err := s.Facts(t.Context())
		ok(t, err)
		if newer := asked.Load(); (newer == 0) != (release == "2016") {
			t.Errorf("%s is asked %d times for what is newer than 2016", release, newer)
		}
	}
}

// TestExamine holds. First contact: SQL Server 7.
func TestExamine(t *testing.T) {
	demand := func(t *testing.T) filewise.Demand {
		return filewise.Demand{Layouts: []filewise.Layout{layout(1), layout(4)}, Program: inserts(t, nil).Program(),
			Space: map[string]int64{"default": 1 << 30}}
	}
	for _, c := range []struct {
		name   string
		change func(*model)
		check  string
		status filewise.Status
		remedy string
	}{
		{"all is well", nil, "free space of default", filewise.StatusOK, ""},
		{"version", nil, "version", filewise.StatusOK, ""},
		{"no space", func(m *model) { m.available = 1 << 20 }, "free space of default", filewise.StatusFailed, "--size"},
		{"no space for logs", func(m *model) { m.logRoom = 1 << 20 }, "free space of default for logs", filewise.StatusFailed, "--volume"},
		{"space for logs apart", func(m *model) { m.logRoom, m.available = 1<<29, 1<<29+1<<28 }, "free space of default", filewise.StatusOK, ""},
		{"unknown volume", func(m *model) { m.mount = `Z:\` }, "free space of default", filewise.StatusNote, ""},
		{"no right to create", func(m *model) { m.create = false }, "rights to create databases", filewise.StatusFailed,
			"GRANT CREATE ANY DATABASE TO [filewise];"},
		{"no right to look", func(m *model) { m.view = false }, "rights to see the server's state", filewise.StatusNote,
			"GRANT VIEW SERVER PERFORMANCE STATE TO [filewise];"},
		{"no right to look, 2019", func(m *model) { m.view, m.version = false, "15.0.2000.5" }, "rights to see the server's state",
			filewise.StatusNote, "GRANT VIEW SERVER STATE TO [filewise];"},
		{"one right of 2022", func(m *model) { m.view, m.performance = false, true }, "instant file initialization",
			filewise.StatusNote, "GRANT VIEW SERVER SECURITY STATE TO [filewise];"},
		{"both rights of 2022", func(m *model) { m.view, m.performance, m.security = false, true, true }, "instant file initialization",
			filewise.StatusOK, ""},
		{"no right to see space", func(m *model) { m.view = false }, "free space of default", filewise.StatusNote,
			"GRANT VIEW SERVER PERFORMANCE STATE"},
		{"instant", nil, "instant file initialization", filewise.StatusOK, ""},
		{"not instant", func(m *model) { m.noInstant = true }, "instant file initialization", filewise.StatusWarning, "volume maintenance"},
		{"2016 RTM", func(m *model) { m.version = "13.0.1601.5" }, "instant file initialization", filewise.StatusNote, ""},
		{"large model", func(m *model) { m.modelPages = 1 << 20 }, "size of model", filewise.StatusFailed, "--size"},
		{"objects in model", func(m *model) { m.inModel = []string{"HouseRules"} }, "objects in model", filewise.StatusFailed, "model"},
		{"busy", func(m *model) { m.others = 32760 }, "connections", filewise.StatusFailed, "--connections"},
		{"few workers", func(m *model) { m.workers = 70 }, "connections", filewise.StatusFailed, "--connections"},
		{"a drive that may have mount points", func(m *model) { m.drivesOnly, m.available = true, 1<<20 }, "free space of default",
			filewise.StatusNote, "check it"},
		{"free bytes unknown", func(m *model) { m.available = 0 }, "free space of default", filewise.StatusNote, "check it"},
		{"one host", func(m *model) { m.client = "10.0.0.9" }, "client and server", filewise.StatusNote, "another machine"},
		{"all memory", func(m *model) { m.largeMemory = 2147483647 }, "setting max server memory (MB)", filewise.StatusWarning, "limit it"},
		{"express", func(m *model) { m.engine, m.edition = editionExpress, "Express Edition" }, "edition", filewise.StatusWarning, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := false
			for _, f := range newLab(t, c.change).open().Examine(t.Context(), demand(t)) {
				if f.Check == c.check {
					found = true
					if f.Status != c.status || !strings.Contains(f.Remedy, c.remedy) {
						t.Errorf("%+v", f)
					}
				}
				if f.Status == filewise.StatusFailed && f.Remedy == "" {
					t.Errorf("without a remedy: %+v", f)
				}
			}
			if !found {
				t.Errorf("nothing is said of %s", c.check)
			}
		})
	}
	d := demand(t)
	d.Layouts[0].Data.Bytes = 20 << 30
	for _, f := range newLab(t, func(m *model) { m.engine = editionExpress }).open().Examine(t.Context(), d) {
		if f.Check == "edition" && f.Status != filewise.StatusFailed {
			t.Errorf("20 GiB on Express: %+v", f)
		}
	}
}

// TestServersThatAreRefused: services without files, and what is too old.
func TestServersThatAreRefused(t *testing.T) {
	for name, change := range map[string]func(*model){
		"Azure SQL Database": func(m *model) { m.engine = 5 }, "Managed Instance": func(m *model) { m.engine = 8 },
		"Fabric": func(m *model) { m.engine = 12 },
		"2014":   func(m *model) { m.version = "12.0.6024.0" }, "nonsense": func(m *model) { m.version = "x" },
	} {
		lab := newLab(t, change)
		if _, err := (Engine{}).Open(t.Context(), lab.target); filewise.CodeOf(err) != filewise.CodePreflight || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v (%s)", name, err, filewise.RemedyOf(err))
		}
	}
}

// TestOpenOnlyReads.
func TestOpenOnlyReads(t *testing.T) {
	lab := newLab(t, nil)
	s := lab.open()
	_, err := s.Facts(t.Context())
	ok(t, err)
	s.Examine(t.Context(), filewise.Demand{})
	for _, text := range lab.wire.Received() {
		if !strings.HasPrefix(strings.TrimSpace(text), "SELECT") && !strings.HasPrefix(text, "-- ") {
			t.Errorf("opening says %s", text)
		}
	}
}

func TestFacts(t *testing.T) {
	lab := newLab(t, nil)
	lab.target.Settings = map[string]string{settingMix: "on", settingAll: "on"}
	facts, err := lab.open().Facts(t.Context())
	ok(t, err)
	all := map[string]string{}
	for _, f := range facts {
		all[f.Name] = f.Value
		if strings.Contains(f.Value, lab.model.password) {
			t.Errorf("the password is shown: %+v", f)
		}
	}
	// "allocation" is SQL Server 3 of the first contact.
	for name, want := range map[string]string{
		"allocation": "GAM and SGAM pages at the same time", "version": "2022", "edition": "Developer", "recovery model": "SIMPLE",
		"delayed durability": "DISABLED",
		"adapter":            "not yet run", "processors": "8", settingMix: "on", settingAll: "on", "operating system": "Windows"} {
		if !strings.Contains(all[name], want) {
			t.Errorf("%s: %q", name, all[name])
		}
	}
}

// TestSelfCheck sends every section except restores, for which files would be left on
// another machine, and drops its databases.
func TestSelfCheck(t *testing.T) {
	// What cycle executes holds all of cool, so cool is looked for below.
	apart := []string{"wake", "backup-files", "backup-header",
		"restore", "drop-restoring", "check-database", "restored-options", "cool",
		"inspect-waits"} // which inspect sends, and its test
	lab := newLab(t, func(m *model) { m.slow, m.alterAny = 200*time.Microsecond, true; customModel(m) })
	passed := 0
	for _, f := range doctortest.SelfCheckFindings(t, Engine{}, lab.target) {
		switch {
		case strings.Contains(f.Detail, errNoProcedures.Error()): // as far as the model goes
		case f.Status == filewise.StatusFailed:
			t.Errorf("%+v", f)
		case strings.Contains(f.Check, " on "):
			passed++
		}
	}
	if passed < 8 {
		t.Errorf("only %d trials passed", passed)
	}
	sent := strings.Join(lab.wire.Received(), "\n")
	for _, file := range []string{"server", "inserts"} {
		for section, telling := range tellingOf(t, file) {
			if !slices.Contains(apart, section) && !slices.ContainsFunc(telling, func(text string) bool { return strings.Contains(sent, text) }) {
				t.Errorf("the self-check does not try section %s, which says %q", section, telling)
			}
		}
	}
	if !strings.Contains(sent, "SET OFFLINE WITH NO_WAIT") {
		t.Error("the self-check does not try section cool")
	}
	if left := lab.names(); len(left) > 0 {
		t.Errorf("left is %v", left)
	}
}

// tellingOf are, by the sections of a file, the texts that only they say.
func tellingOf(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := sqlFiles.ReadFile("sql/" + file + ".sql")
	ok(t, err)
	shown, all := map[string]int{}, map[string][]string{}
	for _, section := range strings.Split(string(text), "-- name: ")[1:] {
		head, body, _ := strings.Cut(section, "\n")
		name := strings.Fields(head)[0]
		for line := range strings.SplitSeq(body, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "--") {
				continue
			}
			for _, piece := range action.Split(line, -1) {
				if piece = strings.TrimRight(strings.TrimSpace(piece), ";"); len(piece) >= 10 && !slices.Contains(all[name], piece) {
					shown[piece]++
					all[name] = append(all[name], piece)
				}
			}
		}
	}
	for name, pieces := range all {
		all[name] = slices.DeleteFunc(pieces, func(piece string) bool { return shown[piece] > 1 })
	}
	return all
}

var action = regexp.MustCompile(`{{[^}]*}}`)
