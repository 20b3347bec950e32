package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/internal/openfiles"
	"filewise/internal/sqlitedriver"
	"filewise/lab/workload"
)

func layout(n int, bytes int64) filewise.Layout {
	return filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards,
		Data: filewise.Spread{Files: n, Bytes: bytes, Allocation: filewise.Preallocated}}
}

func target(dirs ...string) filewise.Target {
	t := filewise.Target{Durability: filewise.DurabilityOff}
	for i, dir := range dirs {
		t.Volumes = append(t.Volumes, filewise.Volume{Name: fmt.Sprintf("v%d", i), Dir: dir})
	}
	return t
}

func inserts(t *testing.T, connections, rowBytes, every int) filewise.Workload {
	t.Helper()
	w, err := workload.NewInserts(workload.Params{Connections: connections, RowBytes: rowBytes, CommitEvery: every,
		Table: workload.TableShared, Key: workload.KeySequential}, 1)
	must(t, err)
	return w
}

// build opens SQLite on the target and builds; the build is dropped at the end.
func build(t *testing.T, to filewise.Target, l filewise.Layout, w filewise.Workload) *filewise.Database {
	t.Helper()
	srv, err := New().Open(context.Background(), to)
	must(t, err)
	db, err := srv.Build(context.Background(), l, w.Program())
	must(t, err)
	t.Cleanup(func() { must(t, db.Drop(context.Background())) })
	return db
}

// insert lets every connection insert n rows, one connection after the other.
func insert(t *testing.T, db *filewise.Database, w filewise.Workload, n int64) {
	t.Helper()
	ledger := make(filewise.Ledger, w.Program().Connections())
	for i := range ledger {
		s, err := db.Connect(context.Background(), 0, i)
		must(t, err)
		ledger[i], err = s.Do(context.Background(), 0, n)
		must(t, err)
		must(t, s.Close())
	}
	must(t, w.Check(context.Background(), db, 0, []filewise.Ledger{ledger}))
}

func dataFiles(t *testing.T, db *filewise.Database) []filewise.File {
	t.Helper()
	all, err := db.Observe(context.Background())
	must(t, err)
	return slices.DeleteFunc(all, func(f filewise.File) bool { return f.Role != filewise.RoleData })
}

// Files lie on the layout's own volumes, in their order, whichever the target has first.
func TestDataLieOnTheLayoutsOwnVolumes(t *testing.T) {
	for volumes, placement := range map[filewise.VolumeNames]filewise.Placement{
		"v1": filewise.PlaceOne, "v2+v1": filewise.PlaceRoundRobin,
	} {
		to := target(t.TempDir(), t.TempDir(), t.TempDir())
		l, names := layout(2, 4<<20), volumes.List()
		l.Data.Volumes, l.Data.Placement = volumes, placement
		for i, f := range dataFiles(t, build(t, to, l, inserts(t, 2, 1000, 10))) {
			n := slices.IndexFunc(to.Volumes, func(v filewise.Volume) bool { return v.Name == f.Volume })
			if want := names[i%len(names)]; f.Volume != want || !strings.HasPrefix(f.Path, to.Volumes[n].Dir) {
				t.Errorf("volumes=%s: file %d is %s on %s, want %s", volumes, i+1, f.Path, f.Volume, want)
			}
		}
	}
}

// Checkpoints cut a SQLite file to its pages unless they are kept from it.
func TestPreallocatedFilesKeepTheirSize(t *testing.T) {
	db := build(t, target(t.TempDir()), layout(3, 6<<20), inserts(t, 2, 1000, 10))
	ctx := context.Background()
	for _, step := range []func(){
		func() {},
		func() { must(t, db.Settle(ctx)) },
		func() { insert(t, db, inserts(t, 2, 1000, 10), 300) },
		func() { must(t, db.Settle(ctx)) },
	} {
		step()
		for _, f := range dataFiles(t, db) {
			if f.Bytes != 2<<20 || f.Allocated == nil || *f.Allocated < 2<<20 {
				t.Errorf("%s has %d bytes, of which the storage holds %v", f.Path, f.Bytes, *f.Allocated)
			}
			if f.EngineBytes == nil || *f.EngineBytes > f.Bytes {
				t.Errorf("%s: SQLite's own size is %v of %d", f.Path, f.EngineBytes, f.Bytes)
			}
		}
	}
}

func TestAFullFileGrowsByAStep(t *testing.T) {
	w := inserts(t, 1, 1000, 50)
	db := build(t, target(t.TempDir()), layout(1, 1<<20), w)
	insert(t, db, w, 2300)
	must(t, db.Settle(context.Background()))
	if f := dataFiles(t, db)[0]; f.Bytes != 3<<20 {
		t.Errorf("2.3 MB of rows made a file of 1 MiB %d bytes large, want 3 MiB", f.Bytes)
	}
}

func TestGrowingFiles(t *testing.T) {
	for growth, want := range map[int64]func(int64) bool{
		0:       func(n int64) bool { return n > 2_300_000 && n < 2_600_000 },
		1 << 20: func(n int64) bool { return n == 3<<20 },
		1000:    func(n int64) bool { return n > 2_300_000 && n%pageBytes == 0 },
	} {
		w := inserts(t, 1, 1000, 50)
		l := layout(1, 64<<20)
		l.Data.Allocation, l.Data.Growth = filewise.Growing, growth
		db := build(t, target(t.TempDir()), l, w)
		must(t, db.Settle(context.Background()))
		if f := dataFiles(t, db)[0]; f.Bytes > max(growth, 2*pageBytes) {
			t.Errorf("growth %d: the file starts with %d bytes", growth, f.Bytes)
		}
		insert(t, db, w, 2300)
		must(t, db.Settle(context.Background()))
		if f := dataFiles(t, db)[0]; !want(f.Bytes) {
			t.Errorf("growth %d: 2.3 MB of rows made %d bytes", growth, f.Bytes)
		}
	}
}

// By a step of a page, files begin with no page more than the tables and the index of their key take.
func TestGrowingFilesWithAnIndex(t *testing.T) {
	w, err := workload.NewDML(workload.Params{Connections: 2, Rows: 100, Mode: workload.ModeBoth, Connect: workload.ConnectPooled,
		Index: workload.IndexKey}, 7)
	must(t, err)
	l := layout(2, 64<<20)
	l.Data.Allocation, l.Data.Growth = filewise.Growing, pageBytes
	db := build(t, target(t.TempDir()), l, w)
	must(t, db.Settle(context.Background()))
	for _, f := range dataFiles(t, db) {
		if f.Bytes != 3*pageBytes {
			t.Errorf("%s starts with %d bytes", f.Path, f.Bytes)
		}
	}
}

func TestEveryFileIsTouched(t *testing.T) {
	for _, c := range []struct{ files, connections int }{{1, 4}, {3, 4}, {4, 4}, {7, 3}, {8, 1}} {
		w := inserts(t, c.connections, 50, 2)
		db := build(t, target(t.TempDir()), layout(c.files, 4<<20), w)
		insert(t, db, w, 40)
		rows, err := db.Query(context.Background(), "check")
		must(t, err)
		if len(rows) != c.files {
			t.Errorf("%d files: check returned %d rows", c.files, len(rows))
		}
		for i, r := range rows {
			if r[0].(int64) == 0 {
				t.Errorf("%d connections on %d files: file %d was not touched", c.connections, c.files, i+1)
			}
		}
	}
}

// A layout that is not what was requested must be found out.
func TestObserveFindsWhatIsNotAsAsked(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"cut short": func(path string) error { return os.Truncate(path, 1<<20-pageBytes) },
		"too long":  func(path string) error { return os.Truncate(path, 1<<20+pageBytes) },
		"removed":   os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, make([]byte, 1<<20), 0o600))
		},
		"not held":    sparse,
		"not in WAL":  nil,
		"not synced":  nil,
		"one too few": nil,
	} {
		db := build(t, target(t.TempDir()), layout(2, 2<<20), inserts(t, 1, 100, 1))
		d := db.Build.(*database)
		switch name {
		case "not in WAL":
			_, err := d.files[1].keeper.value(context.Background(), "PRAGMA journal_mode = DELETE")
			must(t, err)
		case "not synced":
			must(t, d.files[1].keeper.exec(context.Background(), "PRAGMA synchronous = FULL"))
		case "one too few":
			d.shape.shards = append(d.shape.shards, d.shards[0])
			d.shards[2].path += "x"
		default:
			must(t, damage(d.files[1].path))
		}
		if _, err := db.Observe(context.Background()); !errors.Is(err, filewise.ErrLayout) {
			t.Errorf("%s: observing says %v", name, err)
		}
	}
}

// sparse gives a file's size without the blocks for it.
func sparse(path string) error {
	return errors.Join(os.Truncate(path, 2*pageBytes), os.Truncate(path, 1<<20))
}

func TestAFileOfTheUserIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "2-files-0002.db")
	must(t, os.WriteFile(mine, []byte("mine"), 0o644))
	srv, err := New().Open(context.Background(), target(dir))
	must(t, err)
	_, err = srv.Build(context.Background(), layout(2, 2<<20), inserts(t, 1, 100, 1).Program())
	if filewise.CodeOf(err) != filewise.CodePreflight || !errors.Is(err, os.ErrExist) {
		t.Errorf("building over a file: %v", err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("the file has become %q, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left over: %v", left)
	}
}

// Names that mean something to a URI, to SQL or to a shell.
func TestStrangeDirectories(t *testing.T) {
	for _, name := range []string{"with space", "a?mode=memory", "100%41", "a#b", `q'u"ote;`, "ünïcode", "a&b=c"} {
		dir := filepath.Join(t.TempDir(), name)
		must(t, os.Mkdir(dir, 0o755))
		w := inserts(t, 2, 100, 1)
		insert(t, build(t, target(dir), layout(2, 2<<20), w), w, 5)
		if left, _ := os.ReadDir(dir); len(left) == 0 {
			t.Errorf("%q: the files are elsewhere", name)
		}
	}
}

func TestIdentifiersCannotBreakOut(t *testing.T) {
	name := `x" (id INTEGER); DROP TABLE "fw_rows`
	w := inserts(t, 1, 10, 1)
	db := build(t, target(t.TempDir()), layout(1, 1<<20), w)
	statements, err := workloads["inserts"].Statements("tables", vars(w.Program(), name))
	must(t, err)
	keeper := db.Build.(*database).files[0].keeper
	for _, st := range statements {
		must(t, keeper.exec(context.Background(), st))
	}
	found, err := keeper.query(context.Background(), "SELECT name FROM sqlite_schema ORDER BY name")
	must(t, err)
	if len(found) != 2 || found[0][0] != "fw_rows" || found[1][0] != name {
		t.Errorf("the tables are %v", found)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		change func(*filewise.Target, *filewise.Layout)
		says   string
	}{
		"files above 2 GiB": {func(_ *filewise.Target, l *filewise.Layout) { l.Data.Bytes = 3 << 30 }, "at most 2.0 GiB"},
		"growth":            {func(_ *filewise.Target, l *filewise.Layout) { l.Data.Allocation, l.Data.Growth = "growing", -1 }, "--growth -1"},
		"too many files":    {func(_ *filewise.Target, l *filewise.Layout) { l.Data.Files = 1001 }, "1001 files"},
		"no page":           {func(_ *filewise.Target, l *filewise.Layout) { l.Data.Files, l.Data.Bytes = 500, 1<<20 }, "4096 bytes for a file"},
		"durability":        {func(t *filewise.Target, _ *filewise.Layout) { t.Durability = "fll" }, `"fll"`},
		"setting": {func(t *filewise.Target, _ *filewise.Layout) { t.Settings = map[string]string{"cach_size": "1"} },
			"--set cach_size"},
		"setting's value": {func(t *filewise.Target, _ *filewise.Layout) { t.Settings = map[string]string{"cache_size": "1; DROP"} }, "1; DROP"},
		"mode":            {func(t *filewise.Target, _ *filewise.Layout) { t.Mode = filewise.Managed }, "managed"},
		"placement":       {func(_ *filewise.Target, l *filewise.Layout) { l.Data.Placement = "two" }, `"two"`},
		"allocation":      {func(_ *filewise.Target, l *filewise.Layout) { l.Data.Allocation = "thin" }, `"thin"`},
		"no volume":       {func(t *filewise.Target, _ *filewise.Layout) { t.Volumes = nil }, "no volume"},
	} {
		to, l := target(dir), layout(1, 2<<20)
		c.change(&to, &l)
		_, err := New().Statements(to, l, inserts(t, 4, 100, 1).Program())
		if err == nil || !strings.Contains(err.Error(), c.says) || filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v (%s)", name, err, filewise.RemedyOf(err))
		}
	}
	if _, err := New().Open(context.Background(), target(filepath.Join(dir, "none"))); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("opening a volume that does not exist: %v", err)
	}
}

// Connections that starve behind one lock must stop soon after the context ends.
func TestCancelWhileWaitingForTheLock(t *testing.T) {
	w := inserts(t, 16, 100, 1)
	to := target(t.TempDir())
	to.Durability = filewise.DurabilityFull
	db := build(t, to, layout(1, 4<<20), w)
	holder, err := open(db.Build.(*database).files[0].path)
	must(t, err)
	must(t, holder.exec(context.Background(), "BEGIN IMMEDIATE"))
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	var wg sync.WaitGroup
	for i := range 16 {
		s, err := db.Connect(context.Background(), 0, i)
		must(t, err)
		wg.Go(func() {
			if n, err := s.Do(ctx, 0, 1000); n != 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("connection %d: %d done, %v", i, n, err)
			}
		})
	}
	returned := make(chan struct{})
	go func() { wg.Wait(); close(returned) }()
	select {
	case <-returned:
	case <-time.After(20 * time.Second):
		t.Error("connections still wait 20 s after the context has ended")
	}
	must(t, holder.exec(context.Background(), "ROLLBACK"))
	must(t, holder.Close())
	must(t, w.Check(context.Background(), db, 0, []filewise.Ledger{make(filewise.Ledger, 16)}))
}

func TestDropClosesEverything(t *testing.T) {
	before := descriptors(t)
	w := inserts(t, 3, 100, 1)
	srv, err := New().Open(context.Background(), target(t.TempDir()))
	must(t, err)
	db, err := srv.Build(context.Background(), layout(4, 4<<20), w.Program())
	must(t, err)
	s, err := db.Connect(context.Background(), 0, 1)
	must(t, err)
	must(t, db.Drop(context.Background()))
	must(t, db.Drop(context.Background()))
	if _, err := s.Do(context.Background(), 0, 1); err == nil {
		t.Error("a connection works after the drop")
	}
	if _, err := db.Connect(context.Background(), 0, 0); err == nil {
		t.Error("a connection opens after the drop")
	}
	if err := db.Settle(context.Background()); err == nil {
		t.Error("a dropped database settles")
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open descriptors are NOT counted: there is no /proc/self/fd")
	}
	return len(all)
}

func TestManyFilesAndConnections(t *testing.T) {
	for _, c := range []struct{ files, connections int }{{200, 4}, {2, 200}} {
		w := inserts(t, c.connections, 20, 1)
		insert(t, build(t, target(t.TempDir(), t.TempDir()), layout(c.files, 8<<20), w), w, 3)
	}
}

func TestFactsAndWarnings(t *testing.T) {
	dir := t.TempDir()
	to := target(dir, dir)
	to.Durability = filewise.DurabilityNormal
	to.Settings = map[string]string{"wal_autocheckpoint": "77", "cache_size": "-4000"}
	srv, err := New().Open(context.Background(), to)
	must(t, err)
	facts, err := srv.Facts(context.Background())
	must(t, err)
	got := map[string]string{}
	for _, f := range facts {
		got[f.Name] = f.Value
	}
	for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "1 (NORMAL)", "page_size": "4096",
		"wal_autocheckpoint": "77", "cache_size": "-4000"} {
		if got[name] != want {
			t.Errorf("fact %s is %q, want %q", name, got[name], want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("facts leave %v behind", left)
	}
	l := layout(3, 4<<20)
	l.Data.Allocation, l.Data.Growth = filewise.Growing, 5000
	script, err := New().Statements(to, l, inserts(t, 4, 100, 1).Program())
	must(t, err)
	var codes []string
	for _, w := range script.Warnings {
		codes = append(codes, w.Code)
	}
	want := []string{"sqlite-scope", "sqlite-polling", "uneven-load", "volumes-unused", "growth-rounded"}
	if sqlitedriver.PureGo {
		want = slices.Insert(want, 1, "sqlite-pure-go")
	}
	if !slices.Equal(codes, want) {
		t.Errorf("warnings %v, want %v", codes, want)
	}
}

func TestOpenFilesAreLimited(t *testing.T) {
	limit, _, known := openfiles.Limits()
	if !known || limit > 1_000_000 {
		t.Skip("the limit of open files is NOT tested: there is none")
	}
	_, err := New().Statements(target(t.TempDir()), layout(1, 4<<20), hundredThousand{}.Program())
	if limit < 300_000 && (filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), fmt.Sprint(limit))) {
		t.Errorf("100,000 connections with %d open files: %v", limit, err)
	}
}

// hundredThousand is a workload of more connections than parameters allow.
type hundredThousand struct{}

func (hundredThousand) Program() filewise.Program {
	return filewise.Program{Workload: "inserts",
		Phases: []filewise.Phase{{Appends: true, Connections: 100_000, CommitEvery: 1, OpBytes: 10, Args: noArgs{}}}}
}

type noArgs struct{}

func (noArgs) Args(dst []any, _ int, _ int64) []any { return dst }
func (noArgs) Pool() string                         { return "" }

// The whole of a check must be cheap compared with a trial: it runs after each.
func BenchmarkCheck(b *testing.B) {
	t := &testing.T{}
	w := inserts(t, 16, 200, 5000)
	srv, _ := New().Open(context.Background(), target(b.TempDir()))
	db, err := srv.Build(context.Background(), layout(1, 128<<20), w.Program())
	if err != nil {
		b.Fatal(err)
	}
	ledger := make(filewise.Ledger, 16)
	for i := range ledger {
		s, _ := db.Connect(context.Background(), 0, i)
		if ledger[i], err = s.Do(context.Background(), 0, 300_000/16); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := w.Check(context.Background(), db, 0, []filewise.Ledger{ledger}); err != nil {
			b.Fatal(err)
		}
	}
	_ = db.Drop(context.Background())
}

// Storage that goes away before the first trial is not Filewise's own fault.
func TestFactsWithoutVolume(t *testing.T) {
	dir := t.TempDir()
	srv, err := New().Open(t.Context(), target(dir))
	must(t, err)
	must(t, os.Remove(dir))
	_, err = srv.Facts(t.Context())
	if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(filewise.RemedyOf(err), "mounted") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
}
