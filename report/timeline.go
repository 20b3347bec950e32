package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"filewise"
	"filewise/verdict"
)

const (
	mostDots  = 600 // up to so many trials are drawn and listed one by one
	mostNoted = 100 // of more trials, so many peculiar ones
	bins      = 48  // of more trials, the parts of the run for which quantiles are shown
	mostLanes = 6   // kinds of events that have a line of their own
)

// Bulky tells whether there are too many trials to show each.
func (v view) Bulky() bool { return len(v.Trials) > mostDots }

// timed are the trials whose start is known.
func (v view) timed() []trial {
	return slices.DeleteFunc(slices.Clone(v.Trials), func(t trial) bool { return t.Started.IsZero() })
}

// lane is one kind of event, at the times when it happened.
type lane struct {
	Name  string
	Marks []laneMark
}

type laneMark struct {
	at  time.Time
	tip string
}

// Lanes are the warnings of trials by kind, the most frequent first, and pauses.
func (v view) Lanes() []lane {
	var out []lane
	add := func(name string, m laneMark) {
		i := slices.IndexFunc(out, func(l lane) bool { return l.Name == name })
		if i < 0 {
			out, i = append(out, lane{Name: name}), len(out)
		}
		out[i].Marks = append(out[i].Marks, m)
	}
	trials := v.timed()
	for i, t := range trials {
		for _, w := range t.Warnings {
			add(w.Code, laneMark{t.Started, fmt.Sprintf("trial %d: %s", t.Number, sentence(w.Message))})
		}
		if slices.ContainsFunc(t.Measure.Deltas, func(d filewise.Delta) bool { return d.Unit == "checkpoints" && d.Value > 0 }) {
			add("checkpoint within", laneMark{t.Started, fmt.Sprintf("trial %d: a checkpoint in the measured window", t.Number)})
		}
		if i == 0 {
			continue
		}
		before := trials[i-1]
		if gap := t.Started.Sub(before.Started.Add(before.Elapsed)); gap > pause && gap > before.Elapsed {
			add("pause", laneMark{t.Started, fmt.Sprintf("%s between trials %d and %d", human(gap), before.Number, t.Number)})
		}
	}
	slices.SortStableFunc(out, func(a, b lane) int { return cmp.Compare(len(b.Marks), len(a.Marks)) })
	return out[:min(mostLanes, len(out))]
}

// pause is from when a gap between trials is worth a mark.
const pause = 10 * time.Second

// LaneText is a lane in words.
func (l lane) LaneText() string { return count(len(l.Marks), "time") }

// Timeline are all trials over the time of day: drift is what moves all layouts
// together. Empty: fewer than two trials with a throughput.
func (v view) Timeline() template.HTML {
	trials := v.timed()
	if len(trials) < 2 || !slices.ContainsFunc(trials, func(t trial) bool { return known(t.Deviation) }) {
		return ""
	}
	last := trials[len(trials)-1]
	lanes := v.Lanes()
	const top, bottom, laneHigh = 14, 220, 20
	d := drawing{height: bottom + 28 + float64(len(lanes)*laneHigh)}
	x := scale{lo: 0, hi: max(last.Started.Add(last.Elapsed).Sub(trials[0].Started).Seconds(), 1e-3), from: 1.5, to: 98.5}
	lo, hi := ordinary(v.Trials)
	y := scale{lo: lo, hi: hi, from: bottom, to: top}
	d.levels(y, roundTicks(lo, hi, 5), func(p float64) string { return signedShort(p) + " %" })
	d.line("zero", 0, y.at(0), 100, y.at(0), "")
	at := func(t time.Time) float64 { return x.at(t.Sub(trials[0].Started).Seconds()) }
	if v.Bulky() {
		d.bands(trials, at, y)
	} else {
		d.dots(v, trials, at, y)
	}
	d.clock(trials[0].Started, last.Started.Add(last.Elapsed), at, bottom+18)
	for i, l := range lanes {
		d.lane(l, at, bottom+28+float64(i*laneHigh))
	}
	return d.html("Deviation of the trials from the typical trial of their layout over the time of the run, with events; the table below has the numbers.")
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

// dots draws every trial, and the median of each block as a line.
func (d *drawing) dots(v view, trials []trial, at func(time.Time) float64, y scale) {
	d.drift(v, trials, at, y)
	for _, t := range trials {
		i := slices.IndexFunc(v.Rows, func(r row) bool { return r.Name == t.Cell.Layout })
		tip := fmt.Sprintf("trial %d, block %s, %s, %s: %s", t.Number, t.BlockText(), t.Cell.Layout, t.StartedText(), joined("; ", t.DeviationText(), t.NoteText()))
		x := at(t.Started)
		if t.Kind == kindFailed {
			d.symbol("failed", x, y.from-6, tip)
			continue
		}
		if !known(t.Deviation) {
			continue
		}
		place := y.at(clamp(verdict.Percent(t.Deviation), y.lo, y.hi))
		class := "dot"
		if t.Kind == kindPilot {
			class = "dot faint"
		}
		d.marker(max(i, 0), class, x, place, tip)
		if t.Kind == kindDownWeighted {
			d.symbol("ring", x, place, tip)
		}
	}
}

// drift joins the medians of the blocks: what all layouts have in common.
func (d *drawing) drift(v view, trials []trial, at func(time.Time) float64, y scale) {
	medians := v.blockMedians()
	times := map[int][]float64{}
	for _, t := range trials {
		if !t.Cell.Pilot {
			times[t.Cell.Block] = append(times[t.Cell.Block], at(t.Started))
		}
	}
	lastX, lastY := math.NaN(), 0.0
	for b := 1; b <= len(trials); b++ {
		m, ok := medians[b]
		if !ok {
			continue
		}
		x, h := mean(times[b]), y.at(clamp(verdict.Percent(m), y.lo, y.hi))
		if known(lastX) {
			d.line("drift", lastX, lastY, x, h, "")
		}
		lastX, lastY = x, h
	}
}

// bands are the quantiles of many trials, by parts of the run.
func (d *drawing) bands(trials []trial, at func(time.Time) float64, y scale) {
	piles := make([][]float64, bins)
	failed := 0
	for _, t := range trials {
		x := at(t.Started)
		if t.Kind == kindFailed && failed < mostNoted {
			failed++
			d.symbol("failed", x, y.from-6, fmt.Sprintf("trial %d failed", t.Number))
		}
		if t.Kind == kindDone || t.Kind == kindDownWeighted {
			if known(t.Deviation) {
				b := min(int(x/100*bins), bins-1)
				piles[b] = append(piles[b], verdict.Percent(t.Deviation))
			}
		}
	}
	const wide = 100.0 / bins
	lastX, lastY := math.NaN(), 0.0
	for b, xs := range piles {
		if len(xs) == 0 {
			continue
		}
		q := func(p float64) float64 { return y.at(clamp(quantile(xs, p), y.lo, y.hi)) }
		tip := fmt.Sprintf("%s: median %s %%, 80 %% within %s … %s %%", count(len(xs), "trial"), signed(median(xs)), signed(quantile(xs, 0.1)), signed(quantile(xs, 0.9)))
		d.rect("outer", float64(b)*wide, q(0.9), wide, q(0.1)-q(0.9), tip)
		d.rect("inner", float64(b)*wide, q(0.75), wide, q(0.25)-q(0.75), tip)
		x, h := (float64(b)+0.5)*wide, q(0.5)
		if known(lastX) {
			d.line("drift", lastX, lastY, x, h, "")
		}
		lastX, lastY = x, h
	}
}

// clock writes the time of day at both ends and in the middle.
func (d *drawing) clock(from, to time.Time, at func(time.Time) float64, y float64) {
	form := "15:04:05"
	if to.Sub(from) > 20*time.Hour {
		form = "Jan 2 15:04"
	}
	for _, t := range []time.Time{from, from.Add(to.Sub(from) / 2), to} {
		d.text("axis", at(t), y, t.Format(form))
	}
}

// lane draws one kind of events as ticks on a line.
func (d *drawing) lane(l lane, at func(time.Time) float64, y float64) {
	d.line("grid", 0, y+16, 100, y+16, "")
	for i, m := range l.Marks {
		if i < mostDots {
			d.line("event", at(m.at), y+9, at(m.at), y+16, m.tip)
		}
	}
	d.textAt("axis halo", "start", 0, y+12, l.Name)
}

// TimelineNote says what the timeline shows.
func (v view) TimelineNote() string {
	if v.Bulky() {
		return fmt.Sprintf("All %s over the time of day, as deviations from the typical trial of their layout: the bands hold the middle 50 %% and 80 %% of each part of the run, the line is their median. If it moves, the machine drifted; the verdict takes that out. Crosses are failed trials; ticks below are events.", count(len(v.Trials), "trial"))
	}
	return "Trials over the time of day, as deviations from the typical trial of their layout; the line joins the medians of the blocks: if it moves, the machine drifted, and the verdict takes that out. Ringed: down-weighted; pale: pilots; crosses: failed. Ticks below are events, on the trial in which they were noticed."
}

// Noted are the trials that are listed: all, or of many the peculiar ones.
func (v view) Noted() []trial {
	if !v.Bulky() {
		return v.Trials
	}
	var out []trial
	for _, t := range v.Trials {
		if t.Kind == kindFailed || t.Kind == kindDownWeighted || len(t.Warnings) > 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b trial) int { return cmp.Compare(rankOf(a.Kind), rankOf(b.Kind)) })
	out = out[:min(mostNoted, len(out))]
	slices.SortFunc(out, func(a, b trial) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

// rankOf puts first what a reader must see.
func rankOf(k kind) int {
	switch k {
	case kindFailed:
		return 0
	case kindDownWeighted:
		return 1
	}
	return 2
}

// NotedNote says what the list leaves out; empty: nothing.
func (v view) NotedNote() string {
	if !v.Bulky() {
		return ""
	}
	return fmt.Sprintf("Of %s, the list has the failed, the down-weighted and those with warnings, %d at most; filewise export %d has them all.", count(len(v.Trials), "trial"), mostNoted, v.RunID)
}

// part is what the trials of one layout gave in one part of a long run.
type part struct{ Blocks, Layout, Trials, Low, Median, High, Slowest string }

// Parts are a long run's tenths; none of a short one.
func (v view) Parts() []part {
	if !v.Bulky() {
		return nil
	}
	last := 0
	for _, t := range v.Trials {
		last = max(last, t.Cell.Block)
	}
	step := (last + 9) / 10
	var out []part
	for from := 1; from <= last; from += step {
		for _, r := range v.Rows {
			var xs []float64
			for _, t := range v.Trials {
				if t.Cell.Layout == r.Name && t.Cell.Block >= from && t.Cell.Block < from+step && known(t.Throughput) {
					xs = append(xs, t.Throughput)
				}
			}
			if len(xs) > 0 {
				out = append(out, part{
					fmt.Sprintf("%d–%d", from, min(from+step-1, last)), r.Name, fmt.Sprint(len(xs)),
					sig3(quantile(xs, 0.1)), sig3(median(xs)), sig3(quantile(xs, 0.9)), sig3(slices.Min(xs)),
				})
			}
		}
	}
	return out
}
