//go:build linux

package main

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filewise/internal/longtest"
)

func TestMain(m *testing.M) {
	longtest.Leave("^TestMiddle$")
	os.Exit(m.Run())
}

// The middle size of each row stays within its memory, except for rows that fill a server or a thousand runs, which
// take minutes.
func TestMiddle(t *testing.T) {
	ctx := context.Background()
	p, err := newPlace(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p.self = filepath.Join(p.dir, "growth") // a test is none of its steps
	if out, err := exec.Command("go", "build", "-o", p.self, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, r := range rows() {
		if strings.Contains(r.name, "MariaDB") || strings.Contains(r.name, "PostgreSQL") || strings.HasPrefix(r.name, "store") {
			continue
		}
		c, err := p.measure(ctx, r, r.sizes[1])
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		if r.most == 0 || c.Peak > float64(r.most) {
			t.Errorf("%s, %d %s: %.0f MiB; %d may be", r.name, r.sizes[1], r.unit, c.Peak, r.most)
		}
	}
}

// What was measured is read again, the last of a row and size counts, and an exponent comes from the last two sizes.
func TestCells(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cells.jsonl")
	for _, cpu := range []float64{3, 2} {
		if err := (cells{}).add(path, cell{key: key{"a", 10}, CPU: cpu}); err != nil {
			t.Fatal(err)
		}
	}
	done, err := load(path)
	if err != nil || len(done) != 1 || done[key{"a", 10}].CPU != 2 || done.has(key{"a", 100}) {
		t.Errorf("read again: %v, %v", done, err)
	}
	if n := exponent([3]int{1, 10, 1000}, 2, 2e4); math.Abs(n-2) > 1e-9 {
		t.Errorf("exponent %v", n)
	}
}
