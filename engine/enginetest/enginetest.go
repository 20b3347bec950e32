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

	"filewise"
)

// Subject is an engine under test.
type Subject struct {
	Engine filewise.Engine
	// Kind is the layout kind to test; every kind has a Run of its own.
	Kind filewise.Kind
	// Bytes is the size of the layouts, in total.
	Bytes int64
	// Files are the numbers of files to compare; nil: 1, 2, 4 and 16.
	Files []int
	// Most is a number of files that one comparison has besides; 0: none.
	Most int
	// Only are the names of the tests to run; nil: all. For kinds whose other tests
	// would repeat what the same code does for another kind or engine.
	Only []string
	// Rows is how many rows a connection inserts where it matters little; 0: 150.
	Rows int64
	// Target makes a target of volumes; nil: embedded, durability normal. An
	// external one has volumes of its own, as its server sees them.
	Target func([]filewise.Volume) filewise.Target
	// Lacks are capabilities that the server offers for other kinds and refuses for
	// this one.
	Lacks []filewise.Capability
	// LacksArms are arms of files added later that it refuses, though it offers
	// others.
	LacksArms []filewise.AddedLater
	// Tried are capabilities that another run of the suite tries through the same
	// code: here only what is said of them is looked at.
	Tried []filewise.Capability
	// Temps is the most temporary files that its layouts have; 0: 4.
	Temps int
	// Foreign dumps what an external server holds that is not Filewise's, a line
	// for each thing, in an order of its own; nil: the files are local.
	Foreign func(*testing.T) []string
	// Sever ends the server's side of all connections to a build, while they work;
	// nil: NoSever says why that cannot be.
	Sever   func(context.Context, *filewise.Database) error
	NoSever string
	// Raw opens a connection to a build for statements of the suite's own; nil:
	// NoRaw says why that cannot be.
	Raw   func(context.Context, *filewise.Database) (Raw, error)
	NoRaw string
	// Load is a number of connections that the server must bear at the same time,
	// besides the few of the other tests; 0: not tested.
	Load int
	// Package is the engine's folder, for the command that replays a failure.
	Package string
	// DiskFull is the size of the volume that is filled up, in bytes; 0: the
	// engine has no files, and NoDiskFull says why.
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
			t.Run(test.name, func(t *testing.T) { test.run(t, s) })
		}
	}
}

// seed is the suite's seed: FILEWISE_SEED, else 1.
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
