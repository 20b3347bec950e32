package experiment

import (
	"fmt"
	"math"
	"strings"

	"filewise"
	"filewise/lab/verdict/stats"
)

// trendError is the error level of the trend test, for all layouts together.
const trendError = 0.05

// trendWarning tests for each layout, over all its trials in blocks, whether the last third of the window was faster or
// slower than the first third. If so, the warm-up was too short, or the machine slows down under load.
func (h history) trendWarning() []filewise.Warning {
	if h.plan.Window == 0 || h.plan.Measure == MeasureLifecycle {
		return nil
	}
	var names []string
	var growth [][]float64
	for _, l := range h.plan.Layouts {
		if g := h.growth(l.Name); len(g) >= 2 {
			names, growth = append(names, l.Name), append(growth, g)
		}
	}
	trends, _, err := stats.Trends(growth, trendError)
	if err != nil { // there are too few trials to judge
		return nil
	}
	var found []string
	for i, t := range trends {
		if t.Flag {
			change := strings.Replace(fmt.Sprintf("%+.1f", 100*math.Expm1(t.Mean)), "-", "−", 1)
			found = append(found, fmt.Sprintf("%s %s %%", names[i], change))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []filewise.Warning{{
		Code:    "trend",
		Message: fmt.Sprintf("Throughput changed within the measured window (last third against first): %s.", strings.Join(found, ", ")),
		Remedy:  "Set a longer --warm-up; if it still changes, a longer --window.",
	}}
}

// growth returns ln(last third / first third of the window) for each trial of a layout in blocks.
func (h history) growth(layout string) []float64 {
	var out []float64
	for b := 1; b <= h.last; b++ {
		t := h.tries[cellKey{b, layout}].done
		if t == nil || len(t.Measures) == 0 {
			continue
		}
		if g, ok := growthOf(t.Measures[0]); ok {
			out = append(out, g)
		}
	}
	return out
}

// growthOf returns ln(last third / first third of the window). It returns false unless the window has three slices and
// both thirds have work.
func growthOf(m filewise.Measure) (float64, bool) {
	if m.SliceLength <= 0 {
		return 0, false
	}
	from := int((m.Window[0] + m.SliceLength - 1) / m.SliceLength)
	to := min(int(m.Window[1]/m.SliceLength), len(m.Slices))
	third := (to - from) / 3
	if third < 1 {
		return 0, false
	}
	var first, last float64
	for i := range third {
		first += float64(m.Slices[from+i])
		last += float64(m.Slices[to-1-i])
	}
	if first <= 0 || last <= 0 {
		return 0, false
	}
	return math.Log(last / first), true
}
