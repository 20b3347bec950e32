package experiment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"filewise"
)

// loaded is a plan of a layout of four files with trials in which each had so much
// of a load.
func loaded(counter string, loads ...float64) (Plan, []filewise.Trial) {
	p := Plan{Window: time.Second, Layouts: []filewise.Layout{{Name: "4 files", Data: filewise.Spread{Files: 4}}}}
	var trials []filewise.Trial
	for b := 1; b <= 3; b++ {
		t := filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Block: b, Layout: "4 files", Attempt: 1}}
		m := filewise.Measure{Operation: "inserts", Work: 1, Window: [2]time.Duration{0, time.Second}}
		for i, x := range loads {
			path := fmt.Sprintf("/v/trial%d/table%d.db", b, i+1)
			t.Files = append(t.Files, filewise.File{Role: filewise.RoleData, Path: path})
			if x >= 0 {
				m.Deltas = append(m.Deltas, filewise.Delta{Probe: filewise.ProbeFiles, Name: counter, File: path, Value: x})
			}
		}
		t.Measures = []filewise.Measure{m}
		trials = append(trials, t)
	}
	return p, trials
}

func messages(ws []filewise.Warning) string {
	var all []string
	for _, w := range ws {
		all = append(all, w.Code+": "+w.Message)
	}
	return strings.Join(all, "\n")
}

func TestSpreadWarning(t *testing.T) {
	for name, x := range map[string]struct {
		counter string
		loads   []float64 // negative: not counted
		want    []string
	}{
		"even":            {filewise.FileRows, []float64{1000, 1010, 990, 1000}, nil},
		"a little uneven": {filewise.FileRows, []float64{1500, 1000, 1000, 500}, nil},
		"one has it all":  {filewise.FileWrites, []float64{9000, 200, 200, 200}, []string{"uneven-spread", "4 files worked like 1.1 evenly"}},
		"two are untouched": {filewise.FileRows, []float64{1000, 1000, 0, -1},
			[]string{"uneven-spread", "4 files worked like 2.0 evenly used files"}},
		"too little to say": {filewise.FileRows, []float64{90, 0, 0, 0}, nil},
		"nothing is known":  {filewise.FileGrown, []float64{9000, 0, 0, 0}, nil},
	} {
		got := messages(first(loaded(x.counter, x.loads...)).spreadWarning())
		for _, want := range x.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", name, got, want)
			}
		}
		if len(x.want) == 0 && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The files of SQL Server are compared, the first with its own extension too, and also if there are two, on Windows.
// First contact: SQL Server 9.
func TestSpreadWarningOfPaths(t *testing.T) {
	for name, paths := range map[string][]string{
		"Windows": {`C:\MSSQL\DATA\filewise_a1b2_data_01.mdf`, `E:\filewise_a1b2_data_02.ndf`},
		"Linux":   {"/var/opt/mssql/data/filewise_a1b2_data_01.mdf", "/b/filewise_a1b2_data_02.ndf"},
	} {
		p, trials := loaded(filewise.FileWrites, 9000, 20)
		for i := range trials {
			for k, path := range paths {
				trials[i].Files[k].Path, trials[i].Measures[0].Deltas[k].File = path, path
			}
		}
		if got := messages(p.standing(trials).spreadWarning()); !strings.Contains(got, "uneven-spread") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func first(p Plan, trials []filewise.Trial) standing { return p.standing(trials) }

// What is uneven on purpose, or was reported by the engine, is not reported again; and tables are not compared with
// each other.
func TestSpreadWarningKeepsQuiet(t *testing.T) {
	p, trials := loaded(filewise.FileRows, 1000, 1000, 0, 0)
	p.Layouts[0].AddedLater = filewise.LaterNewData
	if got := messages(p.standing(trials).spreadWarning()); got != "" {
		t.Errorf("files that only new data go to: %q", got)
	}
	p, trials = loaded(filewise.FileRows, 9000, 9000, 200, 200)
	for i := range trials {
		for k, object := range []string{"stock_p0", "stock_p1", "item_p0", "item_p1"} {
			trials[i].Files[k].Object = object
		}
	}
	if got := messages(p.standing(trials).spreadWarning()); got != "" {
		t.Errorf("two tables, each spread evenly: %q", got)
	}
}
