package report

import (
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

// curve is the throughput within the trials of one layout over time.
type curve struct {
	Layout string      `json:"layout"`
	Step   float64     `json:"step"`   // seconds between points
	Window [2]float64  `json:"window"` // the measured part, in seconds from the start of the warm-up
	Trials int         `json:"trials"`
	Lines  [][]float64 `json:"lines,omitempty"` // work per second of each trial; null where there was no slice
	Bands  []band      `json:"bands,omitempty"` // instead of lines
	Median []*float64  `json:"median"`
}

// band are the quantiles over the trials at one point in time.
type band struct {
	P10 float64 `json:"p10"`
	P25 float64 `json:"p25"`
	P75 float64 `json:"p75"`
	P90 float64 `json:"p90"`
}

// Within are the curves of the layouts that have slices.
func (v view) Within() []curve {
	out := []curve{}
	for _, r := range v.Rows {
		var ms []filewise.Measure
		for _, t := range v.Trials {
			if t.Cell.Layout == r.Name && (t.Kind == kindDone || t.Kind == kindDownWeighted) && t.Measure.SliceLength > 0 && len(t.Measure.Slices) > 0 {
				ms = append(ms, t.Measure)
			}
		}
		if len(ms) > 0 {
			out = append(out, curveOf(r.Name, ms))
		}
	}
	return out
}

// curveOf puts trials of one slice length over each other; the length and the
// window are those of the first.
func curveOf(layout string, ms []filewise.Measure) curve {
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
	c := curve{
		Layout: layout, Step: step.Seconds(), Trials: len(same),
		Window: [2]float64{ms[0].Window[0].Seconds(), ms[0].Window[1].Seconds()},
	}
	lines := make([][]float64, len(same))
	for i, m := range same {
		lines[i] = rates(m.Slices, every, step)
	}
	if len(same) <= maxLines {
		c.Lines = lines
	}
	for at := range longest / every {
		xs := pile(lines, at)
		if 2*len(xs) < len(lines) { // the tail of a few long trials
			break
		}
		c.Median = append(c.Median, ptr(round4(median(xs))))
		if c.Lines == nil {
			c.Bands = append(c.Bands, band{round4(quantile(xs, 0.1)), round4(quantile(xs, 0.25)), round4(quantile(xs, 0.75)), round4(quantile(xs, 0.9))})
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
		out = append(out, round4(float64(sum)/step.Seconds()))
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

func ptr(x float64) *float64 { return &x }

// round4 keeps four significant digits, which is more than a chart shows.
func round4(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// third is one row of a curve's table: medians of parts of the trials.
type third struct{ Layout, WarmUp, First, Middle, Last string }

// Thirds are the medians of throughput in the warm-up and in each third of the
// window: the numbers of the charts, by layout.
func (v view) Thirds() []third {
	var out []third
	for _, c := range v.Within() {
		part := func(from, to float64) string {
			var xs []float64
			for i, x := range c.Median {
				if mid := (float64(i) + 0.5) * c.Step; x != nil && mid >= from && mid < to {
					xs = append(xs, *x)
				}
			}
			return sig3(median(xs))
		}
		a, w := c.Window[0], (c.Window[1]-c.Window[0])/3
		out = append(out, third{c.Layout, part(0, a), part(a, a+w), part(a+w, a+2*w), part(a+2*w, c.Window[1])})
	}
	return out
}
