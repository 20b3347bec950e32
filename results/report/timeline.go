package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/verdict"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// timeline draws all trials in the order in which they ran, with a lane for each layout. Drift moves all lanes
// together. It is empty if fewer than two trials have a throughput.
func (v view) timeline() template.HTML {
	trials := slices.DeleteFunc(slices.Clone(v.Trials), func(t trial) bool { return t.Started.IsZero() })
	if len(trials) < 2 || !slices.ContainsFunc(trials, func(t trial) bool { return say.Known(t.Deviation) }) {
		return ""
	}
	first, last := trials[0], trials[len(trials)-1]
	clock := "15:04:05"
	if last.Started.Sub(first.Started) > 20*time.Hour {
		clock = "Jan 2 15:04"
	}
	line := chart.Timeline{Events: eventsOf(trials), End: last.Started.Add(last.Elapsed).Format(clock), Drift: map[int]float64{}}
	for _, r := range v.Rows {
		if slices.ContainsFunc(trials, func(t trial) bool { return t.Cell.Layout == r.Name }) {
			line.Lanes = append(line.Lanes, r.Name)
		}
	}
	places := placesOf(trials)
	for i, t := range trials {
		m := chart.Mark{Lane: t.Cell.Layout, At: places[i], Y: nan, Kind: string(t.Kind), Block: t.Cell.Block, Pilot: t.Cell.Pilot,
			Clock: t.Started.Format(clock), Tip: fmt.Sprintf("trial %d, block %s, %s, %s: %s", t.Number, t.blockText(), t.Cell.Layout,
				t.startedText(), say.Joined("; ", t.deviationText(), t.noteText()))}
		if say.Known(t.Deviation) {
			m.Y = verdict.Percent(t.Deviation)
		}
		line.Marks = append(line.Marks, m)
	}
	line.Lo, line.Hi = ordinary(trials)
	for block, common := range v.blockMedians() {
		line.Drift[block] = verdict.Percent(common)
	}
	if v.bulky() {
		line.Band = func(xs []float64) string {
			return fmt.Sprintf("%s: median %s %%, 80 %% within %s … %s %%", say.Count(len(xs), "trial"), say.Signed(median(xs)),
				say.Signed(quantile(xs, 0.1)), say.Signed(quantile(xs, 0.9)))
		}
	}
	return line.SVG("Deviation of the trials from the typical trial of their layout, in the order in which they ran, with events; " +
		"the table below has the numbers.")
}

// placesOf returns the positions of trials over time, in percent of the width. Longer gaps than pause are shortened to
// it: a night between two parts of a run would press all trials to the edges.
func placesOf(trials []trial) []float64 {
	now, longest := 0.0, 0.0
	out := make([]float64, len(trials))
	for i, t := range trials {
		if i > 0 {
			before := trials[i-1]
			gap := t.Started.Sub(before.Started).Seconds()
			now += max(min(gap, before.Elapsed.Seconds()+pause.Seconds()), 0)
		}
		out[i] = now
		longest = now + t.Elapsed.Seconds()
	}
	x := chart.Scale{Lo: 0, Hi: max(longest, 1e-3), From: 2, To: 89}
	for i := range out {
		out[i] = x.At(out[i])
	}
	return out
}

// ordinary returns the range of the ordinary trials, in percent. Other trials are drawn at its edges.
func ordinary(trials []trial) (lo, hi float64) {
	var xs []float64
	for _, t := range trials {
		if t.Kind == kindDone && say.Known(t.Deviation) {
			xs = append(xs, verdict.Percent(t.Deviation))
		}
	}
	lo, hi = -2, 2
	if len(xs) > 0 {
		lo, hi = min(lo, quantile(xs, 0.005)), max(hi, quantile(xs, 0.995))
	}
	padding := 0.15 * (hi - lo)
	return lo - padding, hi + padding
}

const (
	pause     = 10 * time.Second // shortest gap between trials that gets a mark
	mostLanes = 6                // most kinds of events that get a line
)

// eventsOf returns warnings of trials, checkpoints and pauses, by kind, the most frequent first.
func eventsOf(trials []trial) []chart.Event {
	var out []chart.Event
	add := func(name string, i int, tip string) {
		at := slices.IndexFunc(out, func(e chart.Event) bool { return e.Name == name })
		if at < 0 {
			out, at = append(out, chart.Event{Name: name}), len(out)
		}
		out[at].Ticks = append(out[at].Ticks, chart.Tick{Mark: i, Tip: tip})
	}
	for i, t := range trials {
		for _, w := range t.Warnings {
			add(w.Code, i, fmt.Sprintf("trial %d: %s", t.Number, say.Sentence(w.Message)))
		}
		if slices.ContainsFunc(t.Measure.Deltas, checkpointed) {
			add("checkpoint within", i, fmt.Sprintf("trial %d: a checkpoint in the measured window", t.Number))
		}
		if i == 0 {
			continue
		}
		before := trials[i-1]
		if gap := t.Started.Sub(before.Started.Add(before.Elapsed)); gap > pause && gap > before.Elapsed {
			add("pause", i, fmt.Sprintf("%s between trials %d and %d", say.Human(gap), before.Number, t.Number))
		}
	}
	slices.SortStableFunc(out, func(a, b chart.Event) int { return cmp.Compare(len(b.Ticks), len(a.Ticks)) })
	out = out[:min(mostLanes, len(out))]
	for i, e := range out {
		out[i].Name += ", " + say.Count(len(e.Ticks), "time")
	}
	return out
}

// checkpointed reports whether a delta shows a checkpoint.
func checkpointed(d filewise.Delta) bool {
	return d.Unit == "checkpoints" && d.Value > 0 || d.Probe == filewise.ProbeCheckpoints && d.Value >= 1
}

// timelineNote explains the timeline.
func (v view) timelineNote() string {
	const drift = "If it moves, the machine drifted; the verdict takes that out. Ticks below are events, on the trial in which they were " +
		"noticed. Of pauses between trials only the beginning is drawn."
	if v.bulky() {
		return fmt.Sprintf("All %s in the order in which they ran, as deviations from the typical trial of their layout: "+
			"the bands hold the middle 50 %% and 80 %% of each part of the run, the line is their median. Crosses are failed trials. ",
			say.Count(len(v.Trials), "trial")) + drift
	}
	return "The trials in the order in which they ran, as deviations from the typical trial of their layout; stripes are blocks, and the " +
		"line, the same for all layouts, joins the medians of the blocks. " + drift
}

// spent is one part of the run's wall time.
type spent struct {
	Name  string
	Took  time.Duration
	Whole time.Duration
}

// share returns the part in percent of the whole: "62 %".
func (s spent) share() string { return say.Share(float64(s.Took), float64(s.Whole)) }

// stageWords explains the purpose of stages whose names do not.
var stageWords = map[string]string{
	"measure":            "measuring",
	filewise.StageCreate: "making first builds", filewise.StageBuild: "building layouts", filewise.StageObserve: "observing the files",
	filewise.StageLoad: "loading data", filewise.StageExtend: "adding files to loaded databases",
	filewise.StageSettle: "settling", filewise.StageCool: "emptying caches", filewise.StageWarmUp: "warming up",
	filewise.StageDrain: "draining until durable", filewise.StageCheck: "checking the data",
	filewise.StageDrop: "dropping layouts", "pilot": "pilots",
}

// where splits the wall time of the trials: measuring first, then the other parts, the largest first. It is empty if
// nothing was timed.
func (v view) where() []spent {
	whole := v.Judgement.Elapsed
	sum := time.Duration(0)
	for _, s := range v.Judgement.Stages {
		sum += s.Took
	}
	whole = max(whole, sum)
	if whole <= 0 {
		return nil
	}
	out := []spent{{stageWords["measure"], v.Judgement.Measuring, whole}}
	for _, s := range v.Judgement.Stages {
		if s.Name == filewise.StageMeasure {
			// The time of this stage outside the measured windows is shown separately.
			s.Name, s.Took = "around the measured windows", s.Took-v.Judgement.Measuring
			if float64(s.Took) < 0.001*float64(whole) {
				continue
			}
		}
		if s.Took > 0 {
			out = append(out, spent{stageName(s.Name), s.Took, whole})
		}
	}
	if rest := whole - sum; float64(rest) >= 0.001*float64(whole) {
		out = append(out, spent{"between stages", rest, whole})
	}
	slices.SortStableFunc(out[1:], func(a, b spent) int { return cmp.Compare(b.Took, a.Took) })
	return out
}

func stageName(name string) string {
	if w, ok := stageWords[name]; ok {
		return w
	}
	return name
}

// elapsed returns the wall time of the trials.
func (v view) elapsed() string {
	if v.Judgement.Elapsed <= 0 {
		return say.Absent
	}
	return say.Human(v.Judgement.Elapsed)
}

// time returns the split of the time, on a terminal as a sentence.
func (v view) time() []document.Block {
	all := v.where()
	if len(all) == 0 {
		return []document.Block{document.OnPages(document.Text("Nothing was timed yet."))}
	}
	text := fmt.Sprintf("Time: %s of trials, %s of it measuring", say.Human(all[0].Whole), all[0].share())
	for i, s := range all[1:] {
		text += map[bool]string{true: "; ", false: ", "}[i == 0] + s.Name + " " + s.share()
	}
	table := document.Tabulate(document.Table{Caption: "Wall time of all trials: " + v.elapsed(), Class: "where"}, all,
		document.Name("stage", func(s spent) string { return s.Name }),
		document.Num("time", func(s spent) string { return say.Human(s.Took) }).Raw("s", func(s spent) float64 { return s.Took.Seconds() }),
		document.Num("share", spent.share),
		document.Cells("", func(s spent) document.Cell {
			class := map[bool]string{true: "best", false: "rest"}[s.Name == stageWords["measure"]]
			return document.Cell{Class: class, Bar: 100 * float64(s.Took) / float64(s.Whole)}
		}).As("bar").Only(document.HTML))
	return []document.Block{table, document.OnTerminal(document.Text(say.Joined(" ", text+".", v.writtenInAll())))}
}

// writtenInAll returns a sentence on the bytes that all trials wrote, or "" if that is not known.
func (v view) writtenInAll() string {
	if v.Judgement.Written <= 0 {
		return ""
	}
	return "Measured work wrote " + say.Size(int64(v.Judgement.Written)) + "."
}

// WritesAhead returns a sentence on the bytes that a run's pilots wrote, and on those that its blocks will write. It is
// empty if they were not counted, or if the run is not about writes.
func WritesAhead(d Data) string {
	j := d.Judgement
	about := slices.ContainsFunc(j.Conditions, func(c filewise.Condition) bool { return c.Name == filewise.CondWrites })
	if j.WrittenAhead <= 0 || !about {
		return ""
	}
	return fmt.Sprintf("Pilots wrote %s; %s like them write %s.", say.Size(int64(j.Written)), say.Count(j.Schedule.MaxBlocks, "block"),
		say.Size(int64(j.WrittenAhead)))
}

// stamp formats a moment in the stored time zone.
func stamp(t time.Time) string {
	if t.IsZero() {
		return say.Absent
	}
	return t.Format("2006-01-02 15:04:05 -07:00")
}
