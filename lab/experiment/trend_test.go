package experiment

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"filewise"
)

// slicesOf is a window of 30 slices after a warm-up of 5 whose throughput grows
// by this much from the first to the last third, a step at the middle.
func slicesOf(random *rand.Rand, growth float64) filewise.Measure {
	m := filewise.Measure{Operation: "insert", Work: 30000, SliceLength: 10 * time.Millisecond,
		Window: [2]time.Duration{50 * time.Millisecond, 350 * time.Millisecond}}
	for i := range 40 { // five more come after the window
		x := 1000.0
		if i < 5 {
			x = 10
		} else if i >= 20 {
			x *= math.Exp(growth)
		}
		m.Slices = append(m.Slices, int64(x*math.Exp(0.02*random.NormFloat64())))
	}
	return m
}

func TestTrendWarning(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	p := Plan{Window: 300 * time.Millisecond, Layouts: []filewise.Layout{{Name: "1 file"}, {Name: "4 files"}, {Name: "8 files"}}}
	var trials []filewise.Trial
	for b := 1; b <= 6; b++ {
		for i, l := range p.Layouts {
			if i == 2 && b > 3 {
				continue // dropped
			}
			trials = append(trials, filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Block: b, Layout: l.Name, Attempt: 1},
				Measures: []filewise.Measure{slicesOf(random, []float64{0, 0.05, 0}[i])}})
		}
	}
	w := p.read(trials).trendWarning()
	if len(w) != 1 || w[0].Code != "trend" || !strings.Contains(w[0].Message, "4 files +") || strings.Contains(w[0].Message, "1 file ") ||
		strings.Contains(w[0].Message, "8 files") {
		t.Errorf("warnings %+v; planted: 4 files grow by 5 %%", w)
	}
	if g, ok := growthOf(trials[1].Measures[0]); !ok || math.Abs(g-0.05) > 0.02 {
		t.Errorf("growth %v, %v; planted 0.05", g, ok)
	}
	p.Window = 0
	if w := p.read(trials).trendWarning(); len(w) != 0 {
		t.Errorf("fixed work has no window to be steady in: %+v", w)
	}
}

func TestGrowthNeedsSlices(t *testing.T) {
	for name, m := range map[string]filewise.Measure{
		"no slices":  {},
		"two slices": {SliceLength: time.Second, Window: [2]time.Duration{0, 2 * time.Second}, Slices: []int64{5, 5}},
		"no work":    {SliceLength: time.Second, Window: [2]time.Duration{0, 3 * time.Second}, Slices: []int64{0, 5, 5}},
		"cut short":  {SliceLength: time.Second, Window: [2]time.Duration{0, 9 * time.Second}, Slices: []int64{5}},
	} {
		if g, ok := growthOf(m); ok {
			t.Errorf("%s: growth %v", name, g)
		}
	}
}
