package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"filewise"
)

// tooShort is the measured time below which a phase decides nothing: the clock,
// the scheduler and one context switch are then part of the figure.
const tooShort = time.Millisecond

// shortWarning lists the phases that are too short to decide anything, by the
// median over all trials in blocks.
func (h history) shortWarning() []filewise.Warning {
	var short []string
	for _, family := range h.plan.Phases {
		if d, ok := h.typicalTime(family); ok && d < tooShort {
			short = append(short, fmt.Sprintf("%s (%d µs)", family, d.Microseconds()))
		}
	}
	if len(short) == 0 {
		return nil
	}
	remedy := "Give more --rows, so that each takes at least some milliseconds."
	switch {
	case h.plan.AsPublished != nil:
		remedy = "Give a larger --scale, so that each takes at least some milliseconds."
	case h.plan.Params.Repeat > 0:
		remedy = "Give a larger --repeat (or more --rows), so that each takes at least some milliseconds."
	}
	return []filewise.Warning{{
		Code: "too-short", Remedy: remedy,
		Message: fmt.Sprintf("Too short to decide anything, at less than %d ms in a trial: %s.", tooShort.Milliseconds(), strings.Join(short, ", ")),
	}}
}

// typicalTime is the median measured time of a family in the trials in blocks.
func (h history) typicalTime(family string) (time.Duration, bool) {
	var took []time.Duration
	for _, t := range h.trials {
		if t.State != filewise.Done || t.Cell.Pilot {
			continue
		}
		for _, m := range t.Measures {
			if m.Family == family {
				took = append(took, m.Window[1]-m.Window[0])
			}
		}
	}
	if len(took) == 0 {
		return 0, false
	}
	slices.Sort(took)
	return took[len(took)/2], true
}
