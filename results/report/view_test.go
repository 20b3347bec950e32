package report

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

func storedView(t *testing.T) view {
	t.Helper()
	text, err := os.ReadFile("testdata/gentle.data.json")
	if err != nil {
		t.Fatal(err)
	}
	var d Data
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return newView(d)
}

func TestTheOutlierIsTheDownWeightedTrial(t *testing.T) {
	var found []filewise.Cell
	for _, tr := range storedView(t).Trials {
		if tr.Kind == kindDownWeighted {
			found = append(found, tr.Cell)
		}
	}
	if len(found) != 1 || found[0].Layout != "4 files" || found[0].Block != 3 {
		t.Errorf("down-weighted: %+v; planted: 4 files in block 3", found)
	}
}

func TestTimeAddsUp(t *testing.T) {
	v := storedView(t)
	var sum float64
	for _, s := range v.where() {
		sum += float64(s.Took)
	}
	if whole := float64(v.Judgement.Elapsed); math.Abs(sum-whole) > 0.002*whole {
		t.Errorf("the parts are %v of %v", sum, whole)
	}
}

func TestDirection(t *testing.T) {
	const margin = 0.02
	for _, c := range []struct {
		sign   int
		lo, hi float64
		want   agreement
	}{
		{1, 0.01, 0.1, agrees}, {1, -0.1, -0.01, differs}, {1, -0.05, 0.1, undecided}, {1, -0.01, 0.01, differs},
		{-1, -0.1, -0.01, agrees}, {-1, 0.03, 0.1, differs},
		{0, -0.01, 0.01, agrees}, {0, 0.005, 0.015, agrees}, {0, 0.05, 0.1, differs}, {0, -0.1, 0.1, undecided},
	} {
		if got := direction(c.sign, c.lo, c.hi, margin); got != c.want {
			t.Errorf("published %+d, measured %v … %v: %s, want %s", c.sign, c.lo, c.hi, got, c.want)
		}
	}
}

func TestPublishedBesideMeasured(t *testing.T) {
	percent := func(x float64) *float64 { return &x }
	v := storedView(t)
	v.Scenario.Published = []workload.Figure{
		{Files: 8, Against: 1, Percent: percent(6), Sign: 1, Words: "just over 6 % faster"},
		{Files: 8, Against: 1, Percent: percent(50), Sign: 1},
		{Files: 64, Against: 1, Sign: 1, Words: "stands apart"},
		{Files: 2, Against: 8, Sign: -1, Words: "slower"},
	}
	got := v.shape()
	if c := got[0]; c.Sign != agrees || c.Inside != "inside the interval" || c.Published != "+6.0 %: just over 6 % faster" {
		t.Errorf("8 against 1: %+v", c)
	}
	if c := got[1]; c.Sign != agrees || c.Inside != "outside the interval" {
		t.Errorf("8 against 1 by 50 %%: %+v", c)
	}
	if c := got[2]; c.Sign != notMeasured || c.Measured != say.Absent || c.Published != "stands apart" {
		t.Errorf("64 against 1: %+v", c)
	}
	if c := got[3]; c.Sign != undecided && c.Sign != agrees || c.Measured == say.Absent {
		t.Errorf("2 against 8: %+v", c)
	}
}

// A figure on two arrays stands next to a run on two volumes, and next to no other run of 8 files; for 64 files it is
// published that they stand apart, not in which direction.
func TestFiguresOfTwoArrays(t *testing.T) {
	sc, err := workload.Lookup("inserts")
	if err != nil {
		t.Fatal(err)
	}
	for _, volumes := range [][]filewise.Volume{nil, {{Name: "a"}, {Name: "b"}}} {
		d := storedView(t).whole
		d.Scenario, d.Plan.Target.Volumes = sc, volumes
		for i := range d.Plan.Layouts {
			d.Plan.Layouts[i].Data.Placement = filewise.PlaceRoundRobin
		}
		seen := false
		for _, c := range newView(d).shape() {
			seen = seen || strings.Contains(c.Published, "just over 6 %") && c.Measured != say.Absent
		}
		if seen != (volumes != nil) {
			t.Errorf("on volumes %v the figure of two arrays is compared: %v", volumes, seen)
		}
	}
	for _, c := range []struct {
		lo, hi float64
		want   agreement
	}{{0.05, 0.1, agrees}, {-0.2, -0.1, agrees}, {-0.01, 0.01, differs}, {-0.1, 0.1, undecided}} {
		if got := apart(c.lo, c.hi, 0.02); got != c.want {
			t.Errorf("apart, measured %v … %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestMarksAreTheReportsWords(t *testing.T) {
	for mark, want := range map[verdict.Mark]string{
		verdict.MarkBest: "best", verdict.MarkWithin: "within the margin", verdict.MarkWorse: "worse", verdict.MarkUndecided: "undecided",
		"": "undecided",
	} {
		if got := (row{Judged: true, Estimate: verdict.Estimate{Mark: mark}}).markText(); got != want {
			t.Errorf("%q is shown as %q, want %q", mark, got, want)
		}
	}
}

func TestManyTrialsBecomeBands(t *testing.T) {
	var ms []filewise.Measure
	for i := range 20 {
		m := filewise.Measure{SliceLength: 1e7, Window: [2]time.Duration{0, 4e9}}
		for range 400 {
			m.Slices = append(m.Slices, int64(100+i))
		}
		ms = append(ms, m)
	}
	c := courseOf("x", "rows/s", ms)
	if c.Lines != nil || len(c.Bands) == 0 || len(c.Bands) > maxPoints || len(c.Bands) != len(c.Median) {
		t.Fatalf("%d lines, %d bands, %d medians", len(c.Lines), len(c.Bands), len(c.Median))
	}
	b := c.Bands[0]
	if !(b[0] < b[1] && b[1] < c.Median[0] && c.Median[0] < b[2] && b[2] < b[3]) {
		t.Errorf("bands out of order: %+v around %v", b, c.Median[0])
	}
	if want := 109.5 / 0.01; math.Abs(c.Median[0]-want) > 10 {
		t.Errorf("median %v a second, want %v", c.Median[0], want)
	}
}

// TestACounterThatIsNoNumberIsNoValue: one trial's does not hide the others'.
func TestACounterThatIsNoNumberIsNoValue(t *testing.T) {
	v := storedView(t)
	n := 0
	for i := range v.Trials {
		if tr := &v.Trials[i]; tr.Cell.Layout == "1 file" && tr.Kind == kindDone {
			tr.Measure.Deltas = []filewise.Delta{{Probe: "disk", Name: "utilisation", Unit: "%", Value: 40}}
			if n++; n <= 4 {
				tr.Measure.Deltas[0].Value = math.NaN()
			}
		}
	}
	for _, c := range v.counters() {
		if c.names[1] == "utilisation" && c.cells[0].Text == "40.0" {
			return
		}
	}
	t.Errorf("no utilisation of 40 in %+v", v.counters())
}

// The busiest file is compared with files of which the same is counted, and a log is no data file.
func TestBalanceCountsWhatItSays(t *testing.T) {
	counted := func(name string, file string, value float64) filewise.Delta {
		return filewise.Delta{Probe: filewise.ProbeFiles, Name: name, File: file, Value: value}
	}
	one := trial{Trial: filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Layout: "2 files", Block: 1}, Files: []filewise.File{
		{Role: filewise.RoleData, Path: "/t1"}, {Role: filewise.RoleData, Path: "/t2"}, {Role: filewise.RoleData, Path: "/index"},
		{Role: filewise.RoleLog, Path: "/log"},
	}}}
	one.Measure.Deltas = []filewise.Delta{
		counted(filewise.FileRows, "/t1", 100), counted(filewise.FileRows, "/t2", 100), counted(filewise.FileBytes, "/index", 10),
		counted(filewise.FileBytes, "/t1", 10), counted(filewise.FileBytes, "/t2", 10), counted(filewise.FileBytes, "/log", 90),
	}
	v := view{Trials: []trial{one}}
	l := v.filesOf("2 files")
	if l.dataFiles() != 3 || l.Balance[0] != 1 || l.Balance[3] != 1 || say.Known(l.Files[2].Shares[3]) {
		t.Errorf("%d data files, balance %v (bytes, requests, time, rows), rows of the index %v", l.dataFiles(), l.Balance, l.Files[2].Shares[3])
	}
}
