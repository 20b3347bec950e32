package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// Nothing differs by the estimand: all layouts have one median, whatever their disturbance is.
func TestMediansAreTheSame(t *testing.T) {
	for _, w := range append(disturbed()[:3], heldOut()[:3]...) {
		const n, k = 40000, 2
		var y [k][]float64
		for seed := range uint64(40) {
			draw := w.make(rand.New(rand.NewPCG(seed, 1)), k)
			for i := range n / 40 * k {
				y[i%k] = append(y[i%k], draw(i/k, i%k, i+1))
			}
		}
		median := func(x []float64) float64 { slices.Sort(x); return x[len(x)/2] }
		if d := median(y[1]) - median(y[0]); math.Abs(d) > 0.012 {
			t.Errorf("%s: medians differ by %.4f", w.name, d)
		}
	}
}

// A table goes on after a stop: finished batches are not measured again, a batch that was cut off is.
func TestTableGoesOn(t *testing.T) {
	state := t.TempDir() + "/cells.jsonl"
	args := []string{"-table", "-S", "2", "-only", "all CV", "-state", state}
	table := func() (string, string) {
		var out, progress bytes.Buffer
		if err := run(t.Context(), args, &out, &progress); err != nil && !strings.Contains(err.Error(), "targets missed") {
			t.Fatal(err)
		}
		return out.String(), progress.String()
	}
	first, _ := table()
	text, err := os.ReadFile(state)
	if err != nil || strings.Count(first, "\n") != 2+50 {
		t.Fatalf("%v\n%s", err, first)
	}
	if err := os.WriteFile(state, text[:len(text)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	again, progress := table()
	if again != first || strings.Count(progress, "\n") != 1 {
		t.Errorf("measured again:\n%s\n%s", progress, again)
	}
}

// Cells that err too often are reported.
func TestTableMisses(t *testing.T) {
	c := cellDone{cellKey: cellKey{World: "w", Layouts: 5, Blocks: 20}, S: 1000, Alarms: 90, Wrong: 80, Covered: 900, Together: 890,
		Reversed: 30}
	got := strings.Join(printTable(new(bytes.Buffer), []cellDone{c, {cellKey: c.cellKey, S: 1000, Covered: 1000, Together: 1000}}), "\n")
	for _, want := range []string{"false alarms 9.0", "wrong recommendations 8.0", "intervals missed 10.0", "U or intervals missed 11.0",
		"wrong direction 3.0"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("no %q, or more than one, in:\n%s", want, got)
		}
	}
}

// The page gets the summary between its marks, and a page without them is left alone.
func TestTablePage(t *testing.T) {
	page := t.TempDir() + "/page.md"
	o := tableOptions{s: 10, rules: 2, page: page}
	cells := []cellDone{{cellKey: cellKey{World: "w", Layouts: 2, Blocks: 20}, S: 10, Alarms: 1, Covered: 9},
		{cellKey: cellKey{World: "w", Layouts: 3, Blocks: 20}, S: 10, Alarms: 2, Covered: 8},
		{cellKey: cellKey{World: "w", Blocks: 20, Percent: 6}, S: 10, Found: 5}}
	for text, whole := range map[string]bool{"a\n" + pageBegin + "old\n" + pageEnd + "b\n": true, "a\nb\n": false} {
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := writePage(o, cells, []string{"w: bad"})
		got, _ := os.ReadFile(page)
		switch {
		case !whole && (err == nil || string(got) != text):
			t.Errorf("a page without marks: %v, %s", err, got)
		case whole && (err != nil || strings.Contains(string(got), "old") || !strings.Contains(string(got), "| w | 10 | 20.0 ±") ||
			!strings.Contains(string(got), "- w: bad") || !strings.HasSuffix(string(got), pageEnd+"b\n")):
			t.Errorf("%v\n%s", err, got)
		}
	}
}
