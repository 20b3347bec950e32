package experiment

import (
	"strings"
	"testing"
	"time"

	"filewise"
)

// Storage that slows down is suspected, when its device shows it too.
func TestCliffWarning(t *testing.T) {
	for name, x := range map[string]struct {
		fall, rise float64 // from one block to the next
		want       bool
	}{
		"steady": {1, 1, false}, "credits spent": {0.9, 1.3, true}, "slower, but not for the device": {0.9, 1,
			false}, "busier, but not slower": {1, 1.3, false},
	} {
		p := Plan{Window: time.Second, Layouts: []filewise.Layout{{Name: "1 file"}, {Name: "4 files"}}}
		var trials []filewise.Trial
		work, ms := 1000.0, 0.5
		for b := 1; b <= 6; b++ {
			for _, l := range p.Layouts {
				d := func(name string, v float64) filewise.Delta {
					return filewise.Delta{Probe: "disk", Name: name, Value: v}
				}
				trials = append(trials, filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Block: b, Layout: l.Name, Attempt: 1},
					Measures: []filewise.Measure{{Operation: "inserts", Work: work, Window: [2]time.Duration{0, time.Second},
						Deltas: []filewise.Delta{d("sda writes", 400), d("sda write time", 400*ms), d("sdb writes", 3), d("sdb write time", 90)}}}})
			}
			work, ms = work*x.fall, ms*x.rise
		}
		w := p.standing(trials).cliffWarning()
		if len(w) > 0 != x.want {
			t.Errorf("%s: %+v", name, w)
		}
		if x.want && len(w) == 1 && !strings.Contains(w[0].Message, "fell 34 %, writes took 2.9 times as long") {
			t.Errorf("%s: %s", name, w[0].Message)
		}
	}
	if w := (Plan{Layouts: []filewise.Layout{{Name: "a"}}}).standing(nil).cliffWarning(); w != nil {
		t.Errorf("of no trials: %+v", w)
	}
}
