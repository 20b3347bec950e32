package report

import (
	"math"

	"filewise/verdict"
)

// effects is the scale on which differences between layouts are drawn: percent,
// or where one is too large for them ratios, on a logarithmic scale.
type effects struct {
	factor bool
	margin [2]float64 // limits within which differences do not matter
	domain [2]float64
}

// newEffects spans the margin, which is on the log scale as all effects are.
func newEffects(factor bool, margin float64) effects {
	e := effects{factor: factor}
	e.margin = [2]float64{e.of(-margin), e.of(margin)}
	e.domain = e.margin
	return e
}

// of turns an effect into what the axis shows.
func (e effects) of(effect float64) float64 {
	if e.factor {
		return round4(math.Exp(effect))
	}
	return round4(verdict.Percent(effect))
}

// include widens the scale to effects; those not known are left out.
func (e *effects) include(these ...float64) {
	for _, x := range these {
		if known(x) {
			e.domain = [2]float64{min(e.domain[0], e.of(x)), max(e.domain[1], e.of(x))}
		}
	}
}

// scale maps what the axis shows to places, with room at both ends.
func (e effects) scale(from, to float64) scale {
	lo, hi := e.domain[0], e.domain[1]
	if e.factor {
		room := math.Pow(hi/lo, 0.06)
		return scale{lo: lo / room, hi: hi * room, from: from, to: to, log: true}
	}
	room := 0.06 * (hi - lo)
	return scale{lo: lo - room, hi: hi + room, from: from, to: to}
}

// ticks are at most n round values.
func (e effects) ticks(s scale, n int) []float64 {
	if e.factor {
		return thinned(factorTicks(s.lo, s.hi), n)
	}
	return roundTicks(s.lo, s.hi, n)
}

// label writes a value of the axis: "+5 %", "20×".
func (e effects) label(x float64) string {
	if e.factor {
		return sig(x) + "×"
	}
	return signedShort(x) + " %"
}

// factorTicks are 1, 2, 5 and their powers of ten from lo to hi.
func factorTicks(lo, hi float64) []float64 {
	var out []float64
	for e := -4; e <= 5; e++ {
		for _, m := range []float64{1, 2, 5} {
			if x := m * math.Pow(10, float64(e)); x >= lo && x <= hi {
				out = append(out, round4(x))
			}
		}
	}
	return out
}

// thinned leaves every k-th value, the one that is no difference among them.
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

// ground draws what stands on a horizontal scale of effects: the margin, the
// grid, and no difference.
func (d *drawing) ground(e effects, x scale, ticks []float64, top, bottom float64) {
	d.rect("band", x.at(e.margin[0]), top, x.at(e.margin[1])-x.at(e.margin[0]), bottom-top, "")
	for _, t := range ticks {
		d.line("grid", x.at(t), top, x.at(t), bottom, "")
	}
	d.line("base", x.at(e.of(0)), top, x.at(e.of(0)), bottom, "")
}

// upright is ground for a vertical scale, its numbers at the left edge.
func (d *drawing) upright(e effects, y scale, n int) {
	d.rect("band", 0, y.at(e.margin[1]), 100, y.at(e.margin[0])-y.at(e.margin[1]), "")
	d.levels(y, e.ticks(y, n), e.label)
	d.line("base", 0, y.at(e.of(0)), 100, y.at(e.of(0)), "")
}
