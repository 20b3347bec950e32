// Package enginetest is the conformance suite that every engine passes:
//
//	func TestConformance(t *testing.T) {
//		enginetest.Run(t, enginetest.Subject{
//			Engine: sqlite.New(), Kind: filewise.KindShards, Bytes: 4 << 20,
//			Package: "./engine/sqlite", DiskFull: 8 << 20,
//		})
//	}
package enginetest

import (
	"context"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// Subject is an engine under test.
type Subject struct {
	Engine filewise.Engine
	// Kind is the layout kind to test. Each kind has its own Run.
	Kind filewise.Kind
	// Bytes is the size of the layouts, in total.
	Bytes int64
	// Files lists the numbers of files to compare. If nil, they are 1, 2, 4 and 16.
	Files []int
	// Most is an additional number of files for one comparison. 0 means none.
	Most int
	// Only lists the names of the tests to run; nil means all. It is for kinds whose other tests would only repeat what
	// another kind or engine tests through the same code.
	Only []string
	// Parallel lets the tests run at the same time as others. Each test opens its own target.
	Parallel bool
	// Rows is the number of rows that a connection inserts if the number matters little. 0 means 150.
	Rows int64
	// Target returns a target with the volumes. If nil, the target is embedded with durability normal. An external target
	// has its own volumes, named as its server sees them.
	Target func([]filewise.Volume) filewise.Target
	// Lacks lists capabilities that the server offers for other kinds and refuses for this one.
	Lacks []filewise.Capability
	// LacksArms lists arms of files added later that the engine refuses, although it offers others.
	LacksArms []filewise.AddedLater
	// Tried lists capabilities that another run of the suite tests through the same code. Here only what the engine
	// reports of them is checked.
	Tried []filewise.Capability
	// Temps is the most temporary files that the engine's layouts have. 0 means 4.
	Temps int
	// Foreign lists what an external server holds that is not Filewise's, one object per line, in a fixed order. If nil,
	// the files are local.
	Foreign func(*testing.T) []string
	// Sever ends the server's side of all connections to a build while they work. If nil, NoSever explains why that is not
	// possible.
	Sever   func(context.Context, *filewise.Database) error
	NoSever string
	// Raw opens a connection to a build for the suite's own statements. If nil, NoRaw explains why that is not possible.
	Raw   func(context.Context, *filewise.Database) (Raw, error)
	NoRaw string
	// Load is the number of connections that the server must bear at the same time, in addition to the few of the other tests. 0
	// means that this is not tested.
	Load int
	// Package is the engine's folder, for the command that replays a failure.
	Package string
	// DiskFull is the size of the volume that is filled up, in bytes. 0 means that the engine has no files; then
	// NoDiskFull explains why.
	DiskFull   int64
	NoDiskFull string
}

// Raw is a connection for the suite's own statements, with the adapter's classes
// of failures on its errors.
type Raw interface {
	Exec(ctx context.Context, statement string) error
	// Number returns the only value of a query, which is a whole number.
	Number(ctx context.Context, query string) (int64, error)
	Close() error
}

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	if s.Files == nil {
		s.Files = []int{1, 2, 4, 16}
	}
	if s.Rows == 0 {
		s.Rows = 150
	}
	if s.Target == nil {
		s.Target = func(v []filewise.Volume) filewise.Target {
			return filewise.Target{Engine: s.Engine.Name(), Mode: filewise.Embedded, Volumes: v, Durability: filewise.DurabilityNormal}
		}
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, Subject)
	}{
		{"Trial", testTrial},
		{"WrongLedgerIsRefused", testWrongLedger},
		{"CancelLeavesATrueLedger", testCancel},
		{"Limit", testLimit},
		{"Layouts", testEquivalence},
		{"Statements", testScript},
		{"Offers", testOffers},
		{"DML", testDML},
		{"Scan", testScan},
		{"Orders", testOrders},
		{"Custom", testCustom},
		{"Refusals", testRefusals},
		{"CancelledBuild", testCancelledBuild},
		{"AddedLater", testAddedLater},
		{"Names", testNames},
		{"ConnectionLost", testConnectionLost},
		{"LoadLost", testLoadLost},
		{"Deadlocks", testDeadlocks},
		{"Load", testLoad},
		{"DiskFull", testDiskFull},
	} {
		if s.Only == nil || slices.Contains(s.Only, test.name) {
			t.Run(test.name, func(t *testing.T) {
				if s.Parallel {
					t.Parallel()
				}
				test.run(t, s)
			})
		}
	}
}

// seed returns the suite's seed: FILEWISE_SEED, else 1.
func seed(t *testing.T) uint64 {
	text := os.Getenv("FILEWISE_SEED")
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("FILEWISE_SEED: %v", err)
	}
	return n
}

// Within returns the time limit of a test with a server.
func Within(t *testing.T, most time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), most)
	t.Cleanup(cancel)
	return ctx
}

// Inserts returns the workload inserts with parameters for a small test, which change can modify.
func Inserts(t *testing.T, change func(*workload.Params)) filewise.Workload {
	t.Helper()
	p := workload.Params{Connections: 4, RowBytes: 200, CommitEvery: 1, Table: workload.TableShared, Key: workload.KeySequential}
	if change != nil {
		change(&p)
	}
	w, err := workload.NewInserts(p, 42)
	fatal(t, err)
	return w
}

// Scratch returns a managed target on the test's own volumes, called v1 and so on.
func Scratch(t *testing.T, engine string, volumes int, d filewise.Durability) filewise.Target {
	t.Helper()
	target := filewise.Target{Engine: engine, Mode: filewise.Managed, Durability: d}
	for i := range volumes {
		target.Volumes = append(target.Volumes, filewise.Volume{Name: "v" + string(rune('1'+i)), Dir: t.TempDir()})
	}
	return target
}

// Open opens a target and closes it at the end of the test. Nothing may then be left on volumes that only this test
// uses.
func Open(t *testing.T, ctx context.Context, e filewise.Engine, target filewise.Target) filewise.Server {
	t.Helper()
	s, err := e.Open(ctx, target)
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for _, v := range target.Volumes {
			left, err := os.ReadDir(v.Dir)
			if target.Mode == filewise.Managed && (err != nil || len(left) > 0) {
				t.Errorf("left on %s: %v %v", v.Dir, left, err)
			}
		}
	})
	return s
}

// Build builds a layout.
func Build(t *testing.T, ctx context.Context, s filewise.Server, l filewise.Layout, w filewise.Workload) *filewise.Database {
	t.Helper()
	db, err := s.Build(ctx, l, w.Program())
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	return db
}

// Work makes every connection do n operations in two calls, and returns the ledger.
func Work(t *testing.T, ctx context.Context, db *filewise.Database, w filewise.Workload, first, n int64) filewise.Ledger {
	t.Helper()
	ledger := make(filewise.Ledger, w.Program().Connections())
	errs := make(chan error)
	for c := range ledger {
		go func() { errs <- WorkOne(ctx, db, c, first, n, &ledger[c]) }()
	}
	for range ledger {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return ledger
}

// WorkOne makes one connection do operations, and adds the committed ones to done.
func WorkOne(ctx context.Context, db *filewise.Database, worker int, first, n int64, done *int64) error {
	s, err := db.Connect(ctx, 0, worker)
	if err != nil {
		return err
	}
	defer s.Close()
	half := n / 2
	for _, part := range [][2]int64{{first, half}, {first + half, n - half}} {
		got, err := s.Do(ctx, part[0], part[1])
		*done += got
		if err != nil {
			return err
		}
	}
	*done += first
	return nil
}
