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
	"os"
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
	// Rows is how many rows a connection inserts where it matters little; 0: 150.
	Rows int64
	// Target makes a target of volumes; nil: embedded, durability normal.
	Target func([]filewise.Volume) filewise.Target
	// Package is the engine's folder, for the command that replays a failure.
	Package string
	// DiskFull is the size of the volume that is filled up, in bytes; 0: the
	// engine has no files, and NoDiskFull says why.
	DiskFull   int64
	NoDiskFull string
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
		{"Refusals", testRefusals},
		{"CancelledBuild", testCancelledBuild},
		{"DiskFull", testDiskFull},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, s) })
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
