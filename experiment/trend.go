package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/verdict/stats"
	"filewise/workload"
)

// trendError is the error of the trend test, over all layouts.
const trendError = 0.05

// trendWarning tests for each layout, over all its trials in blocks, whether the
// last third of the window was faster or slower than the first: the warm-up was
// then too short, or the machine slows down under load.
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
	if err != nil { // too few trials to tell
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
		Message: fmt.Sprintf("Throughput was not steady within the window; the last third against the first: %s.", strings.Join(found, ", ")),
		Remedy:  "Set a longer --warm-up, and a longer --window if it falls all the same: the verdict is about the window as it was.",
	}}
}

// growth is ln(last third / first third of the window) of each of a layout's
// trials in blocks.
func (h history) growth(layout string) []float64 {
	var out []float64
	for b := 1; b <= h.lastBlock(); b++ {
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

// growthOf needs three slices within the window, and work in the outer thirds.
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

// Measured times below which a phase decides nothing: of any phase, for the clock, the
// scheduler and one context switch are then part of the figure; of a cold query, for
// so is one stall of a storage's queue; and of a whole backup or restore, of which files that
// are created, opened and synced are then the most, so that it says nothing of one of minutes.
const (
	tooShort     = time.Millisecond
	shortCold    = 20 * time.Millisecond
	shortOfFiles = time.Second
)

// leastTime is the measured time that a family needs.
func (h history) leastTime(unit string) time.Duration {
	switch {
	case unit == "backups" || unit == "restores" || unit == "dumps":
		return shortOfFiles
	case h.plan.Params.Cache != "" && h.plan.Params.Cache != workload.CacheWarm:
		return shortCold
	}
	return tooShort
}

// shortWarning lists the phases that are too short to decide anything, by the
// median over all trials in blocks.
func (h history) shortWarning() []filewise.Warning {
	if h.plan.Work > 0 {
		return nil
	}
	var found []string
	more := 1.0
	for _, family := range h.plan.Phases {
		d, unit, ok := h.typicalTime(family)
		if least := h.leastTime(unit); ok && d < least {
			found = append(found, fmt.Sprintf("%s (%s; it takes %s)", family, short(d), short(least)))
			more = max(more, least.Seconds()/max(d.Seconds(), 1e-9))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []filewise.Warning{{
		Code: "too-short", Remedy: h.lengthen(more),
		Message: fmt.Sprintf("Too short to decide anything in the typical trial, whatever the interval says: %s.", strings.Join(found, ", ")),
	}}
}

// lengthen says how phases come to last so many times as long.
func (h history) lengthen(more float64) string {
	p := h.plan
	switch {
	case p.AsPublished != nil:
		return fmt.Sprintf("Give --scale %.2g or more.", min(more*p.AsPublished.Scale, 1))
	case p.Target.Database != "":
		return "What is over so soon has little to gain: tune a larger database."
	case p.Params.Repeat > 0 && p.Params.Cache == workload.CacheWarm || p.Params.Repeat > 0 && p.Params.Cache == "":
		return "Give a larger --repeat (or more --rows), so that each takes at least some milliseconds."
	}
	rows := more * float64(max(p.Params.Rows, 1))
	step := math.Pow(10, max(math.Floor(math.Log10(rows))-1, 0)) // two figures are enough
	return fmt.Sprintf("Give --rows %.0f or more, or a --size as many times as large.", math.Ceil(rows/step)*step)
}

// typicalTime is the median measured time of a family in the trials in blocks, and the unit
// of its work.
func (h history) typicalTime(family string) (typical time.Duration, unit string, ok bool) {
	var took []time.Duration
	for _, t := range h.trials {
		if t.State != filewise.Done || t.Cell.Pilot {
			continue
		}
		for _, m := range t.Measures {
			if m.Family == family {
				took, unit = append(took, m.Window[1]-m.Window[0]), m.Unit
			}
		}
	}
	if len(took) == 0 {
		return 0, "", false
	}
	slices.Sort(took)
	return took[len(took)/2], unit, true
}
