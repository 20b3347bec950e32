package sqlite

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// TestMeasureTrials prints what a trial costs and gives on this machine. It
// measures and asserts nothing about speed, so it runs only when asked:
// FILEWISE_MEASURE=SECONDS go test -run TestMeasureTrials -v ./engine/sqlite
func TestMeasureTrials(t *testing.T) {
	seconds, err := strconv.ParseFloat(os.Getenv("FILEWISE_MEASURE"), 64)
	if err != nil {
		t.Skip("FILEWISE_MEASURE is not set: nothing is measured")
	}
	window := time.Duration(seconds * float64(time.Second))
	for round := range 2 {
		for _, d := range []filewise.Durability{filewise.DurabilityFull, filewise.DurabilityNormal, filewise.DurabilityOff} {
			for _, n := range []int{1, 2, 4, 8, 16} {
				t.Logf("round %d %-6s %s", round, d, measure(t, d, n, window))
			}
		}
	}
}

func measure(t *testing.T, durability filewise.Durability, files int, window time.Duration) string {
	ctx := context.Background()
	scenario, err := workload.Lookup("inserts")
	must(t, err)
	w, err := scenario.New(scenario.Params, 1)
	must(t, err)
	srv, err := New().Open(ctx, filewise.Target{
		Volumes: []filewise.Volume{{Name: "v", Dir: t.TempDir()}}, Durability: durability,
	})
	must(t, err)
	line := ""
	stage := func(name string, do func() error) {
		start := time.Now()
		must(t, do())
		line += fmt.Sprintf(" %s %.0f ms", name, float64(time.Since(start).Microseconds())/1000)
	}
	var db *filewise.Database
	ledger := make(filewise.Ledger, scenario.Params.Connections)
	stage("build", func() (err error) {
		db, err = srv.Build(ctx, filewise.Layout{Name: filewise.FilesName(files), Kind: filewise.KindShards,
			Data: filewise.Spread{Files: files, Bytes: scenario.Bytes, Allocation: filewise.Preallocated}}, w.Program())
		return err
	})
	stage("observe", func() error { _, err := db.Observe(ctx); return err })
	stage("settle", func() error { return db.Settle(ctx) })
	sessions := make([]filewise.Session, len(ledger))
	stage("connect", func() (err error) {
		for i := range sessions {
			if sessions[i], err = db.Connect(ctx, 0, i); err != nil {
				return err
			}
		}
		return nil
	})
	start := time.Now()
	run, cancel := context.WithTimeout(ctx, window)
	var wg sync.WaitGroup
	for i, s := range sessions {
		wg.Go(func() {
			for run.Err() == nil {
				n, _ := s.Do(run, ledger[i], 1)
				ledger[i] += n
			}
		})
	}
	wg.Wait()
	cancel()
	rate := float64(ledger.Total()) / time.Since(start).Seconds()
	overrun := time.Since(start) - window
	counters, err := db.Probes[0].Read(ctx)
	must(t, err)
	wal := int64(0)
	found, err := db.Observe(ctx)
	must(t, err)
	for _, f := range found {
		if f.Role == filewise.RoleLog {
			wal = max(wal, f.Bytes)
		}
	}
	stage("drain", func() error { return db.Settle(ctx) })
	stage("close", func() error {
		for _, s := range sessions {
			if err := s.Close(); err != nil {
				return err
			}
		}
		return nil
	})
	stage("check", func() error { return w.Check(ctx, db, 0, []filewise.Ledger{ledger}) })
	stage("drop", func() error { return db.Drop(ctx) })
	return fmt.Sprintf("%2d files %7.0f rows/s, tail %.0f ms, WAL %.1f MB;%s; %v", files, rate, overrun.Seconds()*1e3, float64(wal)/1e6, line,
		counters)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
