package probe

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
)

func counter(name, unit string, v float64) filewise.Counter {
	return filewise.Counter{Name: name, Unit: unit, Value: v}
}

func TestDeltas(t *testing.T) {
	before := []filewise.Counter{counter("same", "B", 5), counter("up", "B", 5), counter("reset", "B", 5),
		counter("gone", "B", 5), counter("unit", "ms", 5), counter("nan", "B", math.NaN())}
	after := []filewise.Counter{counter("up", "B", 12), counter("same", "B", 5), counter("reset", "B", 1),
		counter("new", "B", 1), counter("unit", "s", 6), counter("nan", "B", 1), counter("up", "B", 99)}
	deltas, absent := Deltas("p", before, after)
	want := []filewise.Delta{{Probe: "p", Name: "up", Unit: "B", Value: 7}, {Probe: "p", Name: "same", Unit: "B", Value: 0}}
	if d := cmp.Diff(want, deltas); d != "" {
		t.Errorf("deltas (−want +got):\n%s", d)
	}
	reasons := map[string]string{"reset": "went backwards, from 5 to 1", "new": "window's start", "gone": "window's end",
		"unit": `from "ms" to "s"`, "nan": "not a number"}
	for _, a := range absent {
		if a.Probe != "p" || reasons[a.Name] == "" || !strings.Contains(a.Reason, reasons[a.Name]) {
			t.Errorf("absence %+v, want %q", a, reasons[a.Name])
		}
		delete(reasons, a.Name)
	}
	if len(reasons) > 0 {
		t.Errorf("nothing said of %v", reasons)
	}
}

// Counters of one name are distinguished by file, and a wait's time from its number; an event that had never been
// waited for began at zero.
func TestDeltasOfFilesAndWaits(t *testing.T) {
	file := func(path string, v float64) filewise.Counter {
		return filewise.Counter{Name: filewise.FileReads, Unit: "requests", Value: v, File: path}
	}
	deltas, absent := Deltas(filewise.ProbeFiles, []filewise.Counter{file("a", 1), file("b", 2)},
		[]filewise.Counter{file("a", 4), file("b", 9), file("c", 1)})
	want := []filewise.Delta{{Probe: "files", Name: "reads", Unit: "requests", Value: 3, File: "a"},
		{Probe: "files", Name: "reads", Unit: "requests", Value: 7, File: "b"}}
	if d := cmp.Diff(want, deltas); d != "" {
		t.Errorf("files (−want +got):\n%s", d)
	}
	if len(absent) != 1 || absent[0].Name != "c reads" {
		t.Errorf("a file that is new: %v", absent)
	}
	event := func(name, unit string, v float64) filewise.Counter {
		return filewise.Counter{Name: name, Unit: unit, Value: v, Class: filewise.WaitLock}
	}
	deltas, absent = Deltas(filewise.ProbeWaits, []filewise.Counter{event("row", "s", 1), event("row", "waits", 10)},
		[]filewise.Counter{event("row", "s", 2), event("row", "waits", 15), event("table", "s", 0.5)})
	want = []filewise.Delta{{Probe: "waits", Name: "row", Unit: "s", Value: 1, Class: "lock"},
		{Probe: "waits", Name: "row", Unit: "waits", Value: 5, Class: "lock"},
		{Probe: "waits", Name: "table", Unit: "s", Value: 0.5, Class: "lock"}}
	if d := cmp.Diff(want, deltas); d != "" || len(absent) != 0 {
		t.Errorf("waits (−want +got):\n%s%v", d, absent)
	}
}

// Each counter is either a delta or absent with a reason, once, and no delta is
// negative.
func FuzzDeltas(f *testing.F) {
	f.Add("a b c", "b c d", 1.0, 2.0)
	f.Add("a a", "a", 2.0, 1.0)
	f.Fuzz(func(t *testing.T, before, after string, x, y float64) {
		counters := func(names string, v float64) (out []filewise.Counter) {
			for i, n := range strings.Fields(names) {
				out = append(out, counter(n, "B", v*float64(i)))
			}
			return out
		}
		b, a := counters(before, x), counters(after, y)
		deltas, absent := Deltas("p", b, a)
		seen := map[string]int{}
		for _, d := range deltas {
			seen[d.Name]++
			if !(d.Value >= 0) {
				t.Errorf("delta %+v", d)
			}
		}
		for _, d := range absent {
			seen[d.Name]++
			if d.Reason == "" {
				t.Errorf("no reason for %+v", d)
			}
		}
		for _, c := range append(b, a...) {
			if seen[c.Name] != 1 {
				t.Errorf("%q appears %d times", c.Name, seen[c.Name])
			}
		}
	})
}
