package report

import (
	"fmt"

	"filewise/verdict"
)

// dot is one trial.
type dot struct {
	Layout string  `json:"layout"`
	N      int     `json:"n"`
	Y      float64 `json:"y"`     // deviation from the layout's typical trial, percent
	Label  string  `json:"label"` // beside a dot that is drawn at the edge
	Kind   kind    `json:"kind"`
	Tip    string  `json:"tip"`
}

// stripe is a block on the axis of trials.
type stripe struct {
	Label string  `json:"label"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Odd   bool    `json:"odd"`
}

// trials draws every trial. The scale is that of the ordinary ones, or a single
// outlier would hide a drift: what lies beyond it is drawn at the edge, with its
// number beside it.
func (c *charts) trials(v view) {
	lo, hi := -2.0, 2.0 // never zoomed in so far that nothing looks like something
	for _, t := range v.Trials {
		if t.Kind == kindDone && known(t.Deviation) {
			y := verdict.Percent(t.Deviation)
			lo, hi = min(lo, y), max(hi, y)
		}
	}
	room := 0.3 * (hi - lo)
	c.Deviation = [2]float64{round4(lo - room), round4(hi + room)}
	lo, hi = round4(lo-0.6*room), round4(hi+0.6*room)
	for _, t := range v.Trials {
		d := dot{Layout: t.Cell.Layout, N: t.Number, Kind: t.Kind}
		switch {
		case known(t.Deviation):
			y := round4(verdict.Percent(t.Deviation))
			if d.Y = min(max(y, lo), hi); d.Y != y {
				d.Label = t.DeviationText()
			}
			d.Tip = fmt.Sprintf("trial %d, block %s, %s: %s %s (%s)", t.Number, t.BlockText(), t.Cell.Layout, t.ThroughputText(), v.UnitRate(), t.DeviationText())
		case t.Kind == kindFailed: // has no throughput
			d.Y, d.Label = lo, "failed"
			d.Tip = fmt.Sprintf("trial %d, block %s, %s", t.Number, t.BlockText(), t.Cell.Layout)
		default:
			continue
		}
		if note := t.NoteText(); note != "" {
			d.Tip += "; " + note
		}
		c.Trials = append(c.Trials, d)
	}
}

// stripes are the blocks on the axis of trials, the pilots first.
func (v view) stripes() []stripe {
	out := []stripe{}
	last := -1
	for i, t := range v.Trials {
		if i == 0 || t.Cell.Block != last {
			s := stripe{Label: fmt.Sprint(t.Cell.Block), From: float64(i) + 0.5, Odd: len(out)%2 == 1}
			if t.Cell.Pilot {
				s.Label = "pilots"
			}
			out = append(out, s)
		}
		out[len(out)-1].To = float64(i) + 1.5
		last = t.Cell.Block
	}
	return out
}
