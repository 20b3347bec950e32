package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"filewise"
)

// mostLanes is how many kinds of events have a line of their own.
const mostLanes = 6

// events are one kind of event, at the trials in which it was noticed.
type events struct {
	Name  string
	Marks []eventMark
}

type eventMark struct {
	trial int // its place among those whose start is known
	tip   string
}

// Events are the warnings of trials by kind, the most frequent first, and pauses.
func (v view) Events() []events {
	var out []events
	add := func(name string, m eventMark) {
		i := slices.IndexFunc(out, func(l events) bool { return l.Name == name })
		if i < 0 {
			out, i = append(out, events{Name: name}), len(out)
		}
		out[i].Marks = append(out[i].Marks, m)
	}
	trials := v.timed()
	for i, t := range trials {
		for _, w := range t.Warnings {
			add(w.Code, eventMark{i, fmt.Sprintf("trial %d: %s", t.Number, sentence(w.Message))})
		}
		if slices.ContainsFunc(t.Measure.Deltas, checkpointed) {
			add("checkpoint within", eventMark{i, fmt.Sprintf("trial %d: a checkpoint in the measured window", t.Number)})
		}
		if i == 0 {
			continue
		}
		before := trials[i-1]
		if gap := t.Started.Sub(before.Started.Add(before.Elapsed)); gap > pause && gap > before.Elapsed {
			add("pause", eventMark{i, fmt.Sprintf("%s between trials %d and %d", human(gap), before.Number, t.Number)})
		}
	}
	slices.SortStableFunc(out, func(a, b events) int { return cmp.Compare(len(b.Marks), len(a.Marks)) })
	return out[:min(mostLanes, len(out))]
}

// pause is from when a gap between trials is worth a mark.
const pause = 10 * time.Second

// eventTall is the height of a kind of events in the timeline.
const eventTall = 28

// events draws one kind as ticks on a line.
func (d *drawing) events(e events, h history, y float64) {
	d.textAt("axis", "start", 0, y+10, e.Name+", "+count(len(e.Marks), "time"))
	d.line("grid", 0, y+22, 100, y+22, "")
	for i, m := range e.Marks {
		if i < mostDots {
			d.line("event", h.at(m.trial), y+14, h.at(m.trial), y+22, m.tip)
		}
	}
}

// checkpointed tells of a delta that says that there was a checkpoint.
func checkpointed(d filewise.Delta) bool {
	return d.Unit == "checkpoints" && d.Value > 0 || d.Probe == filewise.ProbeCheckpoints && d.Value >= 1
}
