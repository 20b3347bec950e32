//go:build linux

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"filewise"
)

// The command measures all that its README lists, on any machine; how fast that machine is, is no matter of a test.
func TestEverythingIsMeasured(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"-repeats", "1", "-ops", "100000", "-blocks", "3"}, &out)
	if err != nil && !strings.Contains(err.Error(), "targets are missed") {
		t.Fatal(err)
	}
	for _, what := range []string{"without the driver", "driver's loop, workers: 1 ", "driver's loop, workers: 600 ",
		"allocs/op", "a timer alone", "open loop, 16 workers", "trial, median of", "until it was on the storage", "planning, driving"} {
		if !strings.Contains(out.String(), what) {
			t.Errorf("no figure of %q in:\n%s", what, out.String())
		}
	}
	if missed := strings.Contains(out.String(), "MISSED"); missed != (err != nil) {
		t.Errorf("error %v, but the table says:\n%s", err, out.String())
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-repeats", "0"}, {"-ops", "1"}, {"-blocks", "1"}, {"-nonsense"},
		{"drive-postgres", "-rounds", "0"}, {"drive-postgres", "-window", "1ms"}, {"drive-postgres", "-bin", "/nonexistent", "-dir", t.TempDir()},
		{"load-postgres", "-scale", "2"}, {"load-postgres", "more"},
		{"capture", "-rounds", "0"}, {"capture", "-engines", "postgres", "-bin", "/nonexistent", "-dir", t.TempDir()}} {
		var out strings.Builder
		if err := run(t.Context(), args, &out); err == nil || out.Len() > 0 {
			t.Errorf("%v: error %v, output %q", args, err, out.String())
		}
	}
}

// What looking costs, and what counters are compared by, on SQLite; the others are
// the same code on servers that take longer to make.
func TestSamplingIsMeasured(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	err := run(t.Context(), []string{"sampling", "-engines", "sqlite", "-idle", "2", "-pairs", "8", "-period", "300ms", "-dir", dir}, &out)
	if err != nil && !strings.Contains(err.Error(), "targets are missed") {
		t.Fatal(err)
	}
	for _, what := range []string{"sqlite: looking at waits, of one core", "sqlite: a display", "sqlite: throughput, looked at to not",
		"2 blocks)"} {
		if !strings.Contains(out.String(), what) {
			t.Errorf("no figure of %q in:\n%s", what, out.String())
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// Counters of the same name and file are compared, and those that hardly moved are
// not; the programs of the second reader see this process and its files.
func TestCompared(t *testing.T) {
	theirs := [2]map[counter]float64{{}, {}}
	for name, moved := range map[string]float64{"near": 1000, "far": 1000, "still": 100} {
		theirs[0][counter{"files", name, "a.db"}], theirs[1][counter{"files", name, "a.db"}] = 5000, 5000+moved
	}
	var deltas []filewise.Delta
	for _, name := range []string{"near", "far", "still", "unknown"} {
		deltas = append(deltas, filewise.Delta{Probe: "files", Name: name, Unit: "B", File: "/somewhere/a.db",
			Value: map[string]float64{"near": 1019, "far": 1021}[name]})
	}
	rows := compared(deltas, theirs)
	if len(rows) != 2 || !rows[0].ok || rows[1].ok || !strings.Contains(rows[1].value, "2.10 % apart") {
		t.Errorf("%+v", rows)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.db"), make([]byte, 1234), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := allOf(readSystem, readProcess("process", os.Getpid()), readTree("server", os.Getpid()), readSizes(dir))(t.Context())
	if err != nil || all[counter{"files", filewise.FileGrown, "a.db"}] != 1234 || all[counter{"cpu", "user", ""}] <= 0 ||
		all[counter{"process", "read calls", ""}] < 1 || all[counter{"server", "read calls", ""}] < all[counter{"process", "read calls", ""}] {
		t.Errorf("%v, %v", all, err)
	}
}

// Rounds take turns, and ratios are of figures of one round.
func TestInterleaved(t *testing.T) {
	var order strings.Builder
	client := func(name string, cpu time.Duration) func(context.Context) (work, error) {
		return func(context.Context) (work, error) {
			order.WriteString(name)
			n := time.Duration(order.Len()+1) / 2 // the round
			return work{ops: 10, cpu: cpu * n, wall: time.Second * n}, nil
		}
	}
	d, err := interleaved(t.Context(), 3, client("a", 30*time.Microsecond), client("b", 20*time.Microsecond))
	if err != nil || order.String() != "abbaab" {
		t.Errorf("error %v, order %s", err, order.String())
	}
	if got := spreadOf("%.2f", d.ratios(cpuPerOp)); got != "1.50 (1.50 … 1.50)" {
		t.Errorf("ratios of processor time %s", got)
	}
	if got := spreadOf("%.1f", of(d.ours, rate)); got != "5.0 (3.3 … 10.0)" {
		t.Errorf("rates %s", got)
	}
	idle := func(context.Context) (work, error) { return work{}, nil }
	if _, err := interleaved(t.Context(), 1, idle, client("b", 1)); err == nil || !strings.Contains(err.Error(), "round 1") {
		t.Errorf("a client that did nothing: %v", err)
	}
	w, out, err := byCommand(exec.CommandContext(t.Context(), "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done"))
	if err != nil || strings.TrimSpace(string(out)) != "done" || w.cpu <= 0 || w.wall < w.cpu/4 {
		t.Errorf("%+v, %v: %s", w, err, out)
	}
}

// What is planted is exact: at a rate of 1.25 everything takes a quarter longer.
func TestSlowClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSlowClock()
		start, began := c.Now(), time.Now()
		time.Sleep(time.Second)
		c.run(1.25)
		if err := c.Sleep(t.Context(), 2500*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if by, took := c.Now().Sub(start), time.Since(began); by != 3500*time.Millisecond || took != 3*time.Second {
			t.Errorf("by the clock %v, in truth %v", by, took)
		}
	})
}
