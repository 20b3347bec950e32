//go:build linux

package managed_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/workload"
)

// testMeasureTrials prints what a trial at the default size costs and
// gives on this machine. It asserts nothing about speed, so it runs only when
// asked: FILEWISE_MEASURE=ROUNDS
// [FILEWISE_MEASURE_MIB=SIZE] go test -run TestServer//MeasureTrials -v ./engine/innodb/managed
func testMeasureTrials(t *testing.T, sub subject) {
	rounds, err := strconv.Atoi(os.Getenv("FILEWISE_MEASURE"))
	if err != nil {
		t.Skip("FILEWISE_MEASURE is not set: nothing is measured")
	}
	sub.Need(t)
	ctx := context.Background()
	scenario, err := workload.Lookup("inserts")
	if err != nil {
		t.Fatal(err)
	}
	target := sub.onStorage(t, filewise.DurabilityFull)
	s := sub.open(t, ctx, target)
	w, err := scenario.New(scenario.Params, 1)
	if err != nil {
		t.Fatal(err)
	}
	size := sub.Engine.Describe().Bytes
	if mib, err := strconv.ParseInt(os.Getenv("FILEWISE_MEASURE_MIB"), 10, 64); err == nil {
		size = mib << 20
	}
	for round := range rounds {
		for _, n := range scenario.Files {
			t.Logf("round %d, %2d files: %s", round, n, sub.measured(t, ctx, target, s, w, systemLayout(n, size)))
		}
	}
}

// measured takes one trial through its life and describes how long each part took.
func (sub subject) measured(t *testing.T, ctx context.Context, target filewise.Target, s filewise.Server, w filewise.Workload,
	l filewise.Layout) string {
	t.Helper()
	p := w.Program()
	bytes, err := sub.Engine.FillWork(target, l, p)
	if err != nil {
		t.Fatal(err)
	}
	last := time.Now()
	lap := func() time.Duration {
		d := time.Since(last)
		last = time.Now()
		return d.Round(time.Millisecond)
	}
	db := build(t, ctx, s, l, w)
	built := lap()
	if err := db.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	load := drive.Load{Ops: make([]int64, p.Connections())}
	for c := range load.Ops {
		load.Ops[c] = bytes / p.First().OpBytes / int64(p.Connections())
		session, err := db.Connect(ctx, 0, c)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		load.Sessions = append(load.Sessions, session)
	}
	settled := lap()
	before := readCounters(t, ctx, db)
	result, err := drive.Run(ctx, load)
	if err != nil {
		t.Fatal(err)
	}
	after := readCounters(t, ctx, db)
	lap()
	if err := db.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	drained := lap()
	if err := w.Check(ctx, db, 0, []filewise.Ledger{result.Ledger}); err != nil {
		t.Fatal(err)
	}
	checked := lap()
	files, err := db.Observe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Drop(ctx); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%6.0f rows/s in %v; build %v, settle and connect %v, drain %v, check %v, drop %v; %.0f of %.0f pages written "+
		"within; last file %.1f MiB used; final size %.1f MiB; %.0f rows",
		result.Measure.Throughput(), result.Measure.Window[1].Round(time.Millisecond), built, settled, drained, checked, lap(),
		after["Innodb_pages_written"]-before["Innodb_pages_written"], float64(sumUsed(files))/16384, float64(*files[l.Data.Files-1].Used)/(1<<20),
		float64(sumBytes(files))/(1<<20), result.Measure.Work)
}

func sumUsed(files []filewise.File) (sum int64) {
	for _, f := range files {
		if f.Used != nil {
			sum += *f.Used
		}
	}
	return sum
}

func sumBytes(files []filewise.File) (sum int64) {
	for _, f := range files {
		if f.Role == filewise.RoleData {
			sum += f.Bytes
		}
	}
	return sum
}

func readCounters(t *testing.T, ctx context.Context, db *filewise.Database) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for _, p := range db.Probes {
		counters, err := p.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range counters {
			all[c.Name] = c.Value
		}
	}
	return all
}
