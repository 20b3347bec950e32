package chart

import (
	"math"

	"filewise/lab/verdict"
)

// Effects is the scale for differences between layouts. It is in percent, or, if one difference is too large for that,
// in ratios on a logarithmic scale.
type Effects struct {
	factor bool
	margin [2]float64 // limits within which differences do not matter
	domain [2]float64
	name   string
}

// NewEffects returns a scale that spans the margin, which is on the log scale like all effects. name is the scale's
// name.
func NewEffects(factor bool, margin float64, name string) Effects {
	e := Effects{factor: factor, name: name}
	e.margin = [2]float64{e.of(-margin), e.of(margin)}
	e.domain = e.margin
	return e
}

// of converts an effect from the log scale to the value that the axis shows.
func (e Effects) of(effect float64) float64 {
	if e.factor {
		return Round4(math.Exp(effect))
	}
	return Round4(verdict.Percent(effect))
}

// Include widens the scale to the given effects. Unknown effects are ignored.
func (e *Effects) Include(these ...float64) {
	for _, x := range these {
		if known(x) {
			e.domain = [2]float64{min(e.domain[0], e.of(x)), max(e.domain[1], e.of(x))}
		}
	}
}

// scale maps the axis values to positions, with space at both ends.
func (e Effects) scale(from, to float64) Scale {
	lo, hi := e.domain[0], e.domain[1]
	if e.factor {
		padding := math.Pow(hi/lo, 0.06)
		return Scale{Lo: lo / padding, Hi: hi * padding, From: from, To: to, Log: true}
	}
	padding := 0.06 * (hi - lo)
	return Scale{Lo: lo - padding, Hi: hi + padding, From: from, To: to}
}

// ticks returns at most n round values.
func (e Effects) ticks(s Scale, n int) []float64 {
	if e.factor {
		return logTicks(s.Lo, s.Hi, n)
	}
	return RoundTicks(s.Lo, s.Hi, n)
}

// titleOf writes the scale's name at an edge of the drawing.
func (d *Drawing) titleOf(e Effects, anchor string, y float64) {
	const scale = ", log scale"
	if e.factor {
		d.title(anchor, y, e.name+scale, "difference"+scale)
		return
	}
	d.title(anchor, y, e.name, "difference")
}

// logTicks returns round values of a logarithmic scale: 1, 2, 5 and their multiples by powers of ten. If fewer than
// three of them remain, it returns evenly spaced round values.
func logTicks(lo, hi float64, n int) []float64 {
	if out := thinned(factorTicks(lo, hi), n); len(out) >= 3 {
		return out
	}
	return RoundTicks(lo, hi, n)
}

// label writes a value of the axis: "+5 %", "20×".
func (e Effects) label(x float64) string {
	if e.factor {
		return sig(x) + "×"
	}
	return Signed(x) + " %"
}

// factorTicks returns 1, 2, 5 and their multiples by powers of ten, from lo to hi.
func factorTicks(lo, hi float64) []float64 {
	var out []float64
	for e := -7; e <= 7; e++ {
		for _, m := range []float64{1, 2, 5} {
			if x := m * math.Pow(10, float64(e)); x >= lo && x <= hi {
				out = append(out, Round4(x))
			}
		}
	}
	return out
}

// thinned keeps every k-th value, such that at most about n remain and 1 (no difference) is one of them.
func thinned(ticks []float64, n int) []float64 {
	every, one := (len(ticks)+n-1)/max(n, 1), 0
	for i, x := range ticks {
		if x == 1 {
			one = i
		}
	}
	var out []float64
	for i, x := range ticks {
		if every > 0 && (i-one)%every == 0 {
			out = append(out, x)
		}
	}
	return out
}

// ground draws the background of a horizontal scale of effects: the margin, the grid, and the line of no difference.
func (d *Drawing) ground(e Effects, x Scale, ticks []float64, top, bottom float64) {
	d.Rect("band", x.At(e.margin[0]), top, x.At(e.margin[1])-x.At(e.margin[0]), bottom-top, "")
	for _, t := range ticks {
		d.Line("grid", x.At(t), top, x.At(t), bottom, "")
	}
	d.Line("base", x.At(e.of(0)), top, x.At(e.of(0)), bottom, "")
}

// upright draws the background of a vertical scale of effects, with the numbers at the left edge.
func (d *Drawing) upright(e Effects, y Scale, n int) {
	d.Rect("band", 0, y.At(e.margin[1]), 100, y.At(e.margin[0])-y.At(e.margin[1]), "")
	d.Levels(y, e.ticks(y, n), e.label)
	d.Line("base", 0, y.At(e.of(0)), 100, y.At(e.of(0)), "")
}
