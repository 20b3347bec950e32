package report

import (
	"math"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// maxPoints is the most points in time of a chart of the course within trials. More points than pixels would show
// nothing new; so the file stays small.
const maxPoints = 160

// maxLines is the most trials that are drawn one by one. More trials are drawn as quantile bands.
const maxLines = 8

// course holds the throughput within the trials of one layout over time.
type course struct {
	Layout string
	chart.Course
}

// courses returns the courses of the layouts that have slices.
func (v view) courses() []course {
	var out []course
	for _, r := range v.Rows {
		var ms []filewise.Measure
		for _, t := range v.Trials {
			if t.Cell.Layout == r.Name && (t.Kind == kindDone || t.Kind == kindDownWeighted) && t.Measure.SliceLength > 0 &&
				len(t.Measure.Slices) > 0 {
				ms = append(ms, t.Measure)
			}
		}
		if len(ms) > 0 {
			out = append(out, courseOf(r.Name, v.unitRate(), ms))
		}
	}
	return out
}

// courseOf overlays trials that have the same slice length. The slice length and the window are the first trial's.
func courseOf(layout, unit string, ms []filewise.Measure) course {
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
	c := course{layout, chart.Course{Unit: unit, Step: step.Seconds(),
		Window: [2]float64{ms[0].Window[0].Seconds(), ms[0].Window[1].Seconds()}}}
	lines := filewise.Each(same, func(m filewise.Measure) []float64 { return Rates(m.Slices, every, step) })
	if len(same) <= maxLines {
		c.Lines = lines
	}
	for at := range longest / every {
		xs := pile(lines, at)
		if 2*len(xs) < len(lines) { // only a few long trials last this long
			break
		}
		c.Median = append(c.Median, median(xs))
		if c.Lines == nil {
			c.Bands = append(c.Bands, [4]float64{quantile(xs, 0.1), quantile(xs, 0.25), quantile(xs, 0.75), quantile(xs, 0.9)})
		}
	}
	return c
}

// Rates sums slices in groups of `every`, and converts the sums to work per second. An incomplete last group is left
// out.
func Rates(slices []int64, every int, step time.Duration) []float64 {
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

// within returns the charts of the courses, and their numbers: the median throughput in the warm-up and in each third
// of the window.
func (v view) within() []document.Block {
	all := v.courses()
	if len(all) == 0 {
		return nil
	}
	charts := document.Figure{ID: "chart-within", Grid: true, Caption: v.unitRate() +
		" over time, from the start of the warm-up to the last commit, without the pilots. " +
		"The strong line is the median of the trials; thin lines are single trials, or with more than eight trials the bands hold the middle " +
		"50 % and 80 %. " +
		"Only what lies in the clear window between the two shaded parts (warm-up, drain) was measured."}
	for _, c := range all {
		charts.Drawings = append(charts.Drawings, document.Drawing{Name: c.Layout,
			SVG: c.SVG(c.Layout + ": throughput within the trials over time; the table below has the numbers.")})
	}
	part := func(head string, from, to float64) document.Of[course] { // from and to are in thirds of the window
		return document.Num(head, func(c course) string { return say.Sig3(c.between(from, to)) })
	}
	table := document.Tabulate(document.Table{Caption: "Median " + v.unitRate() + " in the parts of a trial"}, all,
		document.Name("layout", func(c course) string { return c.Layout }),
		part("warm-up", math.Inf(-1), 0), part("first third", 0, 1), part("second third", 1, 2), part("last third", 2, 3))
	return []document.Block{document.OnPages(
		document.Heading("Within the trials"), charts, document.Fold{Summary: "The course in numbers", Blocks: []document.Block{table}},
	)}
}

// between returns the median throughput between two times. The times are in thirds of the window.
func (c course) between(from, to float64) float64 {
	var xs []float64
	third := (c.Window[1] - c.Window[0]) / 3
	for i, x := range c.Median {
		if at := ((float64(i)+0.5)*c.Step - c.Window[0]) / third; at >= from && at < to {
			xs = append(xs, x)
		}
	}
	return median(xs)
}
