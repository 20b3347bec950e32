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
	// Kind is the layout kind to test; every kind has a Run of its own.
	Kind filewise.Kind
	// Bytes is the size of the layouts, in total.
	Bytes int64
	// Files are the numbers of files to compare. Nil means 1, 2, 4 and 16.
	Files []int
	// Most is a number of files that one comparison has in addition. 0 means none.
	Most int
	// Only are the names of the tests to run. Nil means all. For kinds whose other tests
	// would repeat what the same code does for another kind or engine.
	Only []string
	// Parallel runs the tests at the same time as others; each opens a target of its own.
	Parallel bool
	// Rows holds how many rows a connection inserts if it matters little. 0 means 150.
	Rows int64
	// Target makes a target of volumes. Nil means embedded, durability normal. An
	// external one has volumes of its own, as its server sees them.
	Target func([]filewise.Volume) filewise.Target
	// Lacks are capabilities that the server offers for other kinds and refuses for
	// this one.
	Lacks []filewise.Capability
	// LacksArms are arms of files added later that it refuses, though it offers
	// others.
	LacksArms []filewise.AddedLater
	// Tried are capabilities that another run of the suite tries through the same
	// code: here only what is reported of them is looked at.
	Tried []filewise.Capability
	// Temps is the most temporary files that its layouts have. 0 means 4.
	Temps int
	// Foreign dumps what an external server holds that is not Filewise's, a line
	// for each thing, in an order of its own. If nil, the files are local.
	Foreign func(*testing.T) []string
	// Sever ends the server's side of all connections to a build, while they work;
	// if nil, NoSever explains why that cannot be.
	Sever   func(context.Context, *filewise.Database) error
	NoSever string
	// Raw opens a connection to a build for statements of the suite's own. If nil,
	// NoRaw explains why that cannot be.
	Raw   func(context.Context, *filewise.Database) (Raw, error)
	NoRaw string
	// Load is a number of connections that the server must bear at the same time,
	// in addition to the few of the other tests. 0 means not tested.
	Load int
	// Package is the engine's folder, for the command that replays a failure.
	Package string
	// DiskFull is the size of the volume that is filled up, in bytes. 0 means the
	// engine has no files, and NoDiskFull explains why.
	DiskFull   int64
	NoDiskFull string
}

// Raw is a connection for the suite's own statements, with the adapter's classes
// of failures on its errors.
type Raw interface {
	Exec(ctx context.Context, statement string) error
	// Number is the one whole number that a query returns.
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
		{"Script", testScript},
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

// Within returns what a test with a server can take at most.
func Within(t *testing.T, most time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), most)
	t.Cleanup(cancel)
	return ctx
}

// Inserts returns the workload with parameters of a small test, which change can change.
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

// Scratch returns a managed target on volumes of the test's own, called v1 and so on.
func Scratch(t *testing.T, engine string, volumes int, d filewise.Durability) filewise.Target {
	t.Helper()
	target := filewise.Target{Engine: engine, Mode: filewise.Managed, Durability: d}
	for i := range volumes {
		target.Volumes = append(target.Volumes, filewise.Volume{Name: "v" + string(rune('1'+i)), Dir: t.TempDir()})
	}
	return target
}

// Open opens a target, and closes it at the end of the test, when nothing must be left
// on volumes that are only its own.
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

// Work has every connection do n operations in two calls, and returns the ledger.
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

// WorkOne has one connection do them, and adds to done what is committed.
func WorkOne(ctx context.Context, db *filewise.Database, worker int, first, n int64, done *int64) error {
	s, err := db.Connector.Connect(ctx, 0, worker)
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
