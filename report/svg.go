package report

import (
	"math"
	"strconv"
)

// still is the chart of estimates as a static drawing, for readers without
// JavaScript. Lengths are in pixels of a drawing 720 wide.
type still struct {
	Height int
	Axis   int // y of the axis
	Zero   string
	BandX  string
	BandW  string
	Ticks  []stillTick
	Rows   []stillRow
}

type stillTick struct{ X, Label string }

type stillRow struct {
	Layout, Label, Class   string
	Y, LabelY              int
	X, Lo, Hi              string
	HasInterval, IsDropped bool
}

const (
	stillLeft  = 150.0
	stillWidth = 540.0
	stillPitch = 48
)

// Still draws the estimates; nil when there are none.
func (v view) Still() *still {
	c := v.Charts()
	if len(c.Estimates) == 0 {
		return nil
	}
	at := func(x float64) float64 {
		a, b := c.Domain[0], c.Domain[1]
		if c.Factor {
			x, a, b = math.Log(x), math.Log(a), math.Log(b)
		}
		return stillLeft + stillWidth*(x-a)/(b-a)
	}
	px := func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
	s := &still{
		Height: stillPitch*len(c.Estimates) + 50, Axis: stillPitch*len(c.Estimates) + 12,
		Zero: px(at(c.scale(0))), BandX: px(at(c.Margin[0])), BandW: px(at(c.Margin[1]) - at(c.Margin[0])),
	}
	for _, x := range c.Ticks {
		s.Ticks = append(s.Ticks, stillTick{px(at(x)), sig(x) + "×"})
	}
	if !c.Factor {
		for _, x := range percentTicks(c.Domain) {
			s.Ticks = append(s.Ticks, stillTick{px(at(x)), signedShort(x) + " %"})
		}
	}
	for i, m := range c.Estimates {
		y := stillPitch*i + 34
		r := stillRow{Layout: m.Layout, Label: m.Label, Class: m.Class, Y: y, LabelY: y - 14, X: px(at(m.X))}
		if m.Lo != nil && m.Hi != nil {
			r.HasInterval, r.Lo, r.Hi = true, px(at(*m.Lo)), px(at(*m.Hi))
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}

func sig(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func signedShort(x float64) string {
	s := minus(sig(round4(x)))
	if x > 0 {
		return "+" + s
	}
	return s
}

// percentTicks are round percentages within a domain, at most eight.
func percentTicks(d [2]float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(d[1]-d[0]))-1)
	for _, m := range []float64{1, 2, 5, 10, 20, 50, 100} {
		if (d[1]-d[0])/(m*step) <= 8 {
			step *= m
			break
		}
	}
	var out []float64
	for i := math.Ceil(d[0] / step); i*step <= d[1]; i++ {
		out = append(out, round4(i*step))
	}
	return out
}
