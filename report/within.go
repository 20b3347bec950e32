package report

import (
	"html/template"
	"slices"
	"strconv"
	"time"

	"filewise"
)

// maxPoints is how many points in time a chart within the trials gets: more
// than its pixels show nothing, and the file stays small.
const maxPoints = 160

// maxLines is up to how many trials are drawn one by one; more are drawn as
// quantile bands.
const maxLines = 8

// course is the throughput within the trials of one layout over time.
type course struct {
	Layout string
	step   float64    // seconds between points
	window [2]float64 // the measured part, in seconds from the start of the warm-up
	lines  [][]float64
	bands  [][4]float64 // instead of lines: the quantiles 10, 25, 75 and 90 % at each point in time
	median []float64
}

// Within are the courses of the layouts that have slices.
func (v view) Within() []course {
	var out []course
	for _, r := range v.Rows {
		var ms []filewise.Measure
		for _, t := range v.Trials {
			if t.Cell.Layout == r.Name && (t.Kind == kindDone || t.Kind == kindDownWeighted) && t.Measure.SliceLength > 0 && len(t.Measure.Slices) > 0 {
				ms = append(ms, t.Measure)
			}
		}
		if len(ms) > 0 {
			out = append(out, courseOf(r.Name, ms))
		}
	}
	return out
}

// courseOf puts trials of one slice length over each other; the length and the
// window are those of the first.
func courseOf(layout string, ms []filewise.Measure) course {
	length, longest := ms[0].SliceLength, 0
	var same []filewise.Measure
	for _, m := range ms {
		if m.SliceLength == length {
			same = append(same, m)
			longest = max(longest, len(m.Slices))
		}
	}
	every := (longest + maxPoints - 1) / maxPoints
	step := time.Duration(every) * length
	c := course{
		Layout: layout, step: step.Seconds(),
		window: [2]float64{ms[0].Window[0].Seconds(), ms[0].Window[1].Seconds()},
	}
	lines := make([][]float64, len(same))
	for i, m := range same {
		lines[i] = rates(m.Slices, every, step)
	}
	if len(same) <= maxLines {
		c.lines = lines
	}
	for at := range longest / every {
		xs := pile(lines, at)
		if 2*len(xs) < len(lines) { // the tail of a few long trials
			break
		}
		c.median = append(c.median, median(xs))
		if c.lines == nil {
			c.bands = append(c.bands, [4]float64{quantile(xs, 0.1), quantile(xs, 0.25), quantile(xs, 0.75), quantile(xs, 0.9)})
		}
	}
	return c
}

// rates sums slices by groups of `every` and turns them into work per second. A
// last group that is not full is left out.
func rates(slices []int64, every int, step time.Duration) []float64 {
	out := make([]float64, 0, len(slices)/every)
	for i := 0; i+every <= len(slices); i += every {
		sum := int64(0)
		for _, n := range slices[i : i+every] {
			sum += n
		}
		out = append(out, float64(sum)/step.Seconds())
	}
	return out
}

func pile(lines [][]float64, at int) []float64 {
	var xs []float64
	for _, l := range lines {
		if at < len(l) {
			xs = append(xs, l[at])
		}
	}
	return xs
}

// round4 keeps four significant digits, which is more than a chart shows.
func round4(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// Drawing is the course over time: single trials or bands, and their median. Only
// what lies between the shaded parts was measured.
func (c course) Drawing() template.HTML {
	const top, bottom = 18, 118
	d := drawing{height: bottom + 24}
	end, most := max(c.window[1], float64(len(c.median))*c.step), 0.0
	for _, xs := range slices.Concat(c.lines, [][]float64{c.median}) {
		for _, x := range xs[:min(len(xs), len(c.median))] {
			most = max(most, x)
		}
	}
	for _, b := range c.bands {
		most = max(most, b[3])
	}
	x, y := scale{lo: 0, hi: end, from: 13, to: 99}, scale{lo: 0, hi: 1.04 * max(most, 1e-9), from: bottom, to: top}
	d.rect("band", x.at(0), top, x.at(c.window[0])-x.at(0), bottom-top, "")
	if end > c.window[1] {
		d.rect("band", x.at(c.window[1]), top, 99-x.at(c.window[1]), bottom-top, "")
	}
	place := func(i int, v float64) [2]float64 { return [2]float64{x.at((float64(i) + 0.5) * c.step), y.at(v)} }
	c.draw(&d, place)
	d.levels(y, roundTicks(0, y.hi, 3), brief)
	for _, t := range roundTicks(0, end, 4) {
		d.text("axis", x.at(t), bottom+16, sig(t)+" s")
	}
	return d.html(c.Layout + ": throughput within the trials over time; the table below has the numbers.")
}

func (c course) draw(d *drawing, place func(int, float64) [2]float64) {
	along := func(xs []float64) (out [][2]float64) {
		for i, v := range xs[:min(len(xs), len(c.median))] {
			out = append(out, place(i, v))
		}
		return out
	}
	for _, l := range c.lines {
		d.path("thin", along(l), false)
	}
	for k, class := range []string{"outer", "inner"} {
		var edge, back [][2]float64
		for i, b := range c.bands {
			edge, back = append(edge, place(i, b[k])), append(back, place(i, b[3-k]))
		}
		slices.Reverse(back)
		d.path(class, append(edge, back...), true)
	}
	d.path("strong", along(c.median), false)
}

// third is one row of a course's table: medians of parts of the trials.
type third struct{ Layout, WarmUp, First, Middle, Last string }

// Thirds are the medians of throughput in the warm-up and in each third of the
// window: the numbers of the charts, by layout.
func (v view) Thirds() []third {
	var out []third
	for _, c := range v.Within() {
		part := func(from, to float64) string {
			var xs []float64
			for i, x := range c.median {
				if mid := (float64(i) + 0.5) * c.step; mid >= from && mid < to {
					xs = append(xs, x)
				}
			}
			return sig3(median(xs))
		}
		a, w := c.window[0], (c.window[1]-c.window[0])/3
		out = append(out, third{c.Layout, part(0, a), part(a, a+w), part(a+w, a+2*w), part(a+2*w, c.window[1])})
	}
	return out
}
