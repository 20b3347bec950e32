package experiment

import (
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// From some scale on an article's design is about files: data beyond the memory, a backup of two seconds, a run that
// no log holds back, files that grow ten times; and a size above the original's is reported as such.
func TestScaleThatHolds(t *testing.T) {
	for _, c := range []struct {
		scenario string
		memory   int64
		least    float64 // of the scale
		most     float64
		says     string
	}{
		{"inserts", 8 << 30, 0.009, 0.011, "writes: a run inserts 1.0 GiB"},
		{"orders", 8 << 30, 0.2, 0.23, "reads: data of 4 times the memory of 8.0 GiB"},
		{"backup", 1 << 20, 0.002, 0.0025, "duration: a backup takes 2 s"},
		{"scan", 24 << 30, 1.1, 1e3, "not even at the original's size"},
		{"dml", 8 << 30, 18, 19, `but from --scale 19 on (growth: the files of "1 file" grow 10 times`},
	} {
		sc, err := workload.Lookup(c.scenario)
		if err != nil {
			t.Fatal(err)
		}
		d := sc.AsPublished(sc.Design.Scale)
		p := Plan{Scenario: c.scenario, Params: d.Params, AsPublished: &AsPublished{Repeats: 1, Scale: sc.Design.Scale},
			Layouts: []filewise.Layout{{Name: "1 file", Data: filewise.Spread{Files: 1, Bytes: 18 << 20,
				Allocation: filewise.Growing, Growth: 1 << 20}}}}
		m := p.Meaning(Host{Memory: c.memory})
		if m == nil || m.Scale < c.least || m.Scale > c.most || m.Took <= 0 || !strings.Contains(m.Sentence(sc.Design.Scale), c.says) {
			t.Errorf("%s: %+v, want %g … %g and %q", c.scenario, m, c.least, c.most, c.says)
		}
	}
	if (Plan{Scenario: "inserts"}).Meaning(Host{}) != nil {
		t.Error("a plan of its own has the meaning of an article's")
	}
	if s := (Meaning{Scale: 0.5, Bytes: 1e9}).Sentence(0.5); !strings.Contains(s, "hold at this scale") {
		t.Error(s)
	}
}
