package report

import (
	"fmt"
	"html/template"
	"slices"
	"time"

	"filewise/verdict"
)

// bins are the parts of a long run for which quantiles are shown.
const bins = 48

// timed are the trials whose start is known.
func (v view) timed() []trial {
	return slices.DeleteFunc(slices.Clone(v.Trials), func(t trial) bool { return t.Started.IsZero() })
}

// history is where trials stand in the timeline.
type history struct {
	trials []trial
	places []float64 // percent of the width
	lo, hi float64   // of the deviations, in percent
}

// at is the place of the i-th trial.
func (h history) at(i int) float64 { return h.places[i] }

// historyOf places trials over time; the rest of a pause is left out, or a night
// between two parts of a run would press all trials to the edges.
func historyOf(trials []trial) history {
	h := history{trials: trials}
	now, longest := 0.0, 0.0
	starts := make([]float64, len(trials))
	for i, t := range trials {
		if i > 0 {
			before := trials[i-1]
			gap := t.Started.Sub(before.Started).Seconds()
			now += max(min(gap, before.Elapsed.Seconds()+pause.Seconds()), 0)
		}
		starts[i] = now
		longest = now + t.Elapsed.Seconds()
	}
	x := scale{lo: 0, hi: max(longest, 1e-3), from: 2, to: 89}
	for _, s := range starts {
		h.places = append(h.places, x.at(s))
	}
	h.lo, h.hi = ordinary(trials)
	return h
}

const (
	laneHead = 24
	laneTall = 60
)

// Timeline are all trials in the order in which they ran, a lane for each layout:
// drift is what moves them together. Empty: fewer than two trials with a
// throughput.
func (v view) Timeline() template.HTML {
	trials := v.timed()
	if len(trials) < 2 || !slices.ContainsFunc(trials, func(t trial) bool { return known(t.Deviation) }) {
		return ""
	}
	h := historyOf(trials)
	names := slices.DeleteFunc(v.rowNames(), func(name string) bool {
		return !slices.ContainsFunc(trials, func(t trial) bool { return t.Cell.Layout == name })
	})
	happened := v.Events()
	bottom := float64(len(names) * (laneHead + laneTall))
	d := drawing{height: bottom + 32 + float64(eventTall*len(happened))}
	d.blocks(h, bottom)
	for i, name := range names {
		top := float64(i*(laneHead+laneTall)) + laneHead
		d.lane(v, h, name, scale{lo: h.lo, hi: h.hi, from: top + laneTall, to: top})
	}
	d.clock(h, bottom+18)
	for i, e := range happened {
		d.events(e, h, bottom+28+float64(eventTall*i))
	}
	return d.html("Deviation of the trials from the typical trial of their layout, in the order in which they ran, with events; the table below has the numbers.")
}

func (v view) rowNames() []string {
	var out []string
	for _, r := range v.Rows {
		out = append(out, r.Name)
	}
	return out
}

// blocks shades every other one; of very many none.
func (d *drawing) blocks(h history, bottom float64) {
	const most = 60
	from := 0
	for i := 1; i <= len(h.trials); i++ {
		if i < len(h.trials) && h.trials[i].Cell.Block == h.trials[from].Cell.Block {
			continue
		}
		to := 91.0
		if i < len(h.trials) {
			to = h.at(i)
		}
		if b := h.trials[from].Cell.Block; b%2 == 1 && h.trials[len(h.trials)-1].Cell.Block <= most {
			d.rect("stripe", h.at(from)-0.4, laneHead-4, to-h.at(from), bottom-laneHead+8, fmt.Sprintf("block %d", b))
		}
		from = i
	}
}

// lane draws the trials of one layout, with what all layouts have in common as a
// line.
func (d *drawing) lane(v view, h history, name string, y scale) {
	d.textAt("name", "start", 0, y.to-8, name)
	for _, p := range roundTicks(y.lo, y.hi, 4) {
		class := "grid"
		if p == 0 {
			class = "base"
		}
		d.line(class, 0, y.at(p), 100, y.at(p), "")
		d.textAt("axis", "end", 100, y.at(p)-3, signedShort(p)+" %")
	}
	if v.Bulky() {
		d.bands(h, name, y)
		return
	}
	d.path("drift", h.drift(v, y), false)
	for i, t := range h.trials {
		if t.Cell.Layout == name {
			d.trial(t, h.at(i), y)
		}
	}
}

// trial draws one: its shape tells its kind. What is beyond the scale stands at
// its edge.
func (d *drawing) trial(t trial, x float64, y scale) {
	tip := fmt.Sprintf("trial %d, block %s, %s, %s: %s", t.Number, t.BlockText(), t.Cell.Layout, t.StartedText(), joined("; ", t.DeviationText(), t.NoteText()))
	switch {
	case t.Kind == kindFailed:
		d.symbol("failed", x, y.from-7, tip)
	case known(t.Deviation):
		d.symbol(string(t.Kind), x, y.at(clamp(verdict.Percent(t.Deviation), y.lo, y.hi)), tip)
	}
}

// ordinary is the range of the ordinary trials, in percent: others stand at its edge.
func ordinary(trials []trial) (lo, hi float64) {
	var xs []float64
	for _, t := range trials {
		if t.Kind == kindDone && known(t.Deviation) {
			xs = append(xs, verdict.Percent(t.Deviation))
		}
	}
	lo, hi = -2, 2
	if len(xs) > 0 {
		lo, hi = min(lo, quantile(xs, 0.005)), max(hi, quantile(xs, 0.995))
	}
	room := 0.15 * (hi - lo)
	return lo - room, hi + room
}

func clamp(x, lo, hi float64) float64 { return min(max(x, lo), hi) }

// drift joins the medians of the blocks: what all layouts have in common.
func (h history) drift(v view, y scale) [][2]float64 {
	medians := v.blockMedians()
	places := map[int][]float64{}
	for i, t := range h.trials {
		if !t.Cell.Pilot {
			places[t.Cell.Block] = append(places[t.Cell.Block], h.at(i))
		}
	}
	var out [][2]float64
	for b := 1; b <= len(h.trials); b++ {
		if m, ok := medians[b]; ok {
			out = append(out, [2]float64{mean(places[b]), y.at(clamp(verdict.Percent(m), y.lo, y.hi))})
		}
	}
	return out
}

// bands are the quantiles of many trials of a layout, by parts of the run.
func (d *drawing) bands(h history, name string, y scale) {
	piles := make([][]float64, bins)
	failed := 0
	for i, t := range h.trials {
		if t.Cell.Layout != name {
			continue
		}
		if t.Kind == kindFailed && failed < mostNoted {
			failed++
			d.symbol("failed", h.at(i), y.from-7, fmt.Sprintf("trial %d failed", t.Number))
		}
		if (t.Kind == kindDone || t.Kind == kindDownWeighted) && known(t.Deviation) {
			b := min(int(h.at(i)/100*bins), bins-1)
			piles[b] = append(piles[b], verdict.Percent(t.Deviation))
		}
	}
	const wide = 100.0 / bins
	var middle [][2]float64
	for b, xs := range piles {
		if len(xs) == 0 {
			continue
		}
		q := func(p float64) float64 { return y.at(clamp(quantile(xs, p), y.lo, y.hi)) }
		tip := fmt.Sprintf("%s: median %s %%, 80 %% within %s … %s %%", count(len(xs), "trial"), signed(median(xs)), signed(quantile(xs, 0.1)), signed(quantile(xs, 0.9)))
		d.rect("outer", float64(b)*wide, q(0.9), wide, q(0.1)-q(0.9), tip)
		d.rect("inner", float64(b)*wide, q(0.75), wide, q(0.25)-q(0.75), tip)
		middle = append(middle, [2]float64{(float64(b) + 0.5) * wide, q(0.5)})
	}
	d.path("drift", middle, false)
}

// clock writes the time of day at both ends and in the middle.
func (d *drawing) clock(h history, y float64) {
	first, last := h.trials[0], h.trials[len(h.trials)-1]
	form := "15:04:05"
	if last.Started.Sub(first.Started) > 20*time.Hour {
		form = "Jan 2 15:04"
	}
	middle := 0
	for h.at(middle) < 50 && middle < len(h.trials)-1 {
		middle++
	}
	d.textAt("axis", "start", 0, y, first.Started.Format(form))
	if at := h.at(middle); at > 35 && at < 65 {
		d.textAt("axis", "middle", at, y, h.trials[middle].Started.Format(form))
	}
	d.textAt("axis", "end", 100, y, last.Started.Add(last.Elapsed).Format(form))
}

// TimelineNote says what the timeline shows.
func (v view) TimelineNote() string {
	const drift = "If it moves, the machine drifted; the verdict takes that out. Ticks below are events, on the trial in which they were noticed. Of pauses between trials only the beginning is drawn."
	if v.Bulky() {
		return fmt.Sprintf("All %s in the order in which they ran, as deviations from the typical trial of their layout: the bands hold the middle 50 %% and 80 %% of each part of the run, the line is their median. Crosses are failed trials. ", count(len(v.Trials), "trial")) + drift
	}
	return "The trials in the order in which they ran, as deviations from the typical trial of their layout; stripes are blocks, and the line, the same for all layouts, joins the medians of the blocks. " + drift
}
