package store

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// TestMain lets tests run this binary as another process that uses a store.
func TestMain(m *testing.M) {
	if path := os.Getenv("STORE_TEST_WRITER"); path != "" {
		if err := writeOn(path); err != nil {
			fmt.Println("error", filewise.CodeOf(err), err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeOn opens a store, makes a run, and adds trials to it, saying of each that
// it is stored, until it is killed or STORE_TEST_TRIALS are done.
func writeOn(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := s.CreateRun(ctx, Run{Plan: samplePlan()})
	if err != nil {
		return err
	}
	fmt.Println("run", id)
	limit, err := strconv.Atoi(os.Getenv("STORE_TEST_TRIALS"))
	if err != nil {
		return err
	}
	for block := 1; block <= limit; block++ {
		if err := s.AddTrial(ctx, id, sampleTrial(block)); err != nil {
			return err
		}
		fmt.Println("stored", block)
	}
	return nil
}

func writer(path string, trials int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STORE_TEST_WRITER="+path, fmt.Sprint("STORE_TEST_TRIALS=", trials))
	return cmd
}

func samplePlan() experiment.Plan {
	return experiment.Plan{
		Scenario: "inserts",
		Target: filewise.Target{Engine: "sqlite", Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "a", Dir: "/data"}}, Settings: map[string]string{"x": "y"}},
		Layouts: []filewise.Layout{{Name: "1 file", Data: filewise.Spread{Files: 1, Bytes: 1 << 40}}, {Name: "8 files", Rank: 1}},
		Params:  workload.Params{Connections: 16, RowBytes: 200},
		Seed:    math.MaxUint64, Baseline: "1 file", Window: time.Second, WarmUp: -1,
		Margin: 2, Confidence: 0.95, MaxBlocks: 20, Budget: time.Hour, Attempts: 3,
		Command: []string{"filewise", "run", "inserts", "--seed", "18446744073709551615"},
	}
}

// sampleTrial has every field set, and numbers that are easily lost.
func sampleTrial(block int) filewise.Trial {
	zero, much := int64(0), mostCount // more is in no bundle
	slices := make([]int64, 400)
	for i := range slices {
		slices[i] = int64(block*1000 + i)
	}
	slices[0], slices[1], slices[2] = 0, -1, mostCount
	return filewise.Trial{
		Cell:  filewise.Cell{Block: block, Position: 1, Layout: "8 files", Attempt: 2},
		Build: "i1", State: filewise.Done, Reason: "“why”",
		Started: time.Date(2026, 3, 1, 14, 5, 9, 123456789, time.FixedZone("", 3*3600)),
		Elapsed: 1234567890123,
		Measures: []filewise.Measure{{
			Operation: "inserts", Unit: "rows", Connections: 4, Paced: true, Window: [2]time.Duration{1, 2e9 + 1}, Work: 0.1 + 0.2, Bytes: 1e20,
			Tail: 5, Sync: 7, SliceLength: 5e7, Slices: slices, Hist: []byte{0, 1, 255},
			Deltas: []filewise.Delta{{Probe: "cpu", Name: "user", Unit: "s", Value: math.SmallestNonzeroFloat64},
				{Probe: "cpu", Name: "idle", Value: 3, Class: filewise.WaitLock, File: "/a b"}},
			Errors: map[filewise.Class]int64{filewise.ClassDeadlock: 3, filewise.ClassSerialization: mostCount},
			Types: map[string]filewise.TypeMeasure{
				"new-order": {Work: 11.5, Hist: []byte{1, 0, 255}, Errors: map[filewise.Class]int64{filewise.ClassDeadlock: 3}}, "payment": {},
			},
		}, {Operation: "none", Turns: []float64{1200.5, 0, math.SmallestNonzeroFloat64},
			Rest: &filewise.Rest{Work: 0.1, Time: time.Second, Empty: 1}}},
		Stages:   []filewise.Stage{{Name: filewise.StageBuild, Took: 99}},
		Files:    []filewise.File{{Role: filewise.RoleData, Path: "/data/ä \"x\"", Bytes: 1, Allocated: &zero, EngineBytes: &much}, {Path: "b"}},
		Final:    []filewise.File{},
		Warnings: []filewise.Warning{{Code: "c", Message: "m <&>", Remedy: "r"}},
	}
}

// openNew opens a new store that is closed with the test.
func openNew(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "filewise.db"))
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func newRun(t *testing.T, s *Store) int64 {
	t.Helper()
	id, err := s.CreateRun(t.Context(), Run{Plan: samplePlan()})
	must(t, err)
	return id
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
