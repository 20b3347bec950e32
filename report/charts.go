package report

import (
	"math"

	"filewise/verdict"
)

// charts are the numbers that assets/charts.js draws.
type charts struct {
	Unit      string     `json:"unit"`
	Baseline  string     `json:"baseline"`
	Order     []string   `json:"order"`  // of the layouts
	Factor    bool       `json:"factor"` // effects are ratios on a log scale, not percentages
	Margin    [2]float64 `json:"margin"` // limits within which differences do not matter
	Domain    [2]float64 `json:"domain"` // of effects
	Ticks     []float64  `json:"ticks,omitempty"`
	Estimates []mark     `json:"estimates"`
	Looks     []lookMark `json:"looks"`
	Trials    []dot      `json:"trials"`
	Deviation [2]float64 `json:"deviation"` // domain of the trials' deviations, percent
	Blocks    []stripe   `json:"blocks"`
	Within    []curve    `json:"within"`
	// Families are the layouts in all families, where there are several.
	Families *familyCharts `json:"families,omitempty"`
}

// mark is one layout of the chart of estimates.
type mark struct {
	Layout string   `json:"layout"`
	Class  string   `json:"class"`
	X      float64  `json:"x"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	Raw    *float64 `json:"raw"`
	Label  string   `json:"label"`
	Short  string   `json:"short"` // the label where there is little room
	Tip    string   `json:"tip"`
}

// lookMark is one layout's estimate after one block.
type lookMark struct {
	Layout string   `json:"layout"`
	Block  int      `json:"block"`
	X      float64  `json:"x"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	Frozen bool     `json:"frozen"` // dropped before this block
}

func (v view) Charts() charts {
	c := charts{
		Unit: v.UnitRate(), Baseline: v.Plan.Baseline, Order: []string{}, Factor: v.factors(),
		Estimates: []mark{}, Looks: []lookMark{}, Trials: []dot{}, Within: v.Within(), Blocks: v.stripes(),
	}
	margin := v.Judgement.Result.Config.Margin
	c.Margin = [2]float64{c.scale(-margin), c.scale(margin)}
	for _, r := range v.Rows {
		c.Order = append(c.Order, r.Name)
		if r.Judged && known(r.Estimate.Effect) {
			c.Estimates = append(c.Estimates, c.mark(r))
		}
	}
	for _, l := range v.someLooks() {
		c.looks(v, l)
	}
	c.Domain = c.domain()
	if c.Factor {
		c.Ticks = factorTicks(c.Domain)
	}
	if !v.Bulky() { // those are drawn as bands
		c.trials(v)
	}
	c.Families = v.familyCharts()
	return c
}

// factors tells whether some effect is too large for percentages.
func (v view) factors() bool {
	for _, r := range v.Rows {
		if r.Judged && known(r.Estimate.Effect) && math.Abs(r.Estimate.Effect) >= factorFrom {
			return true
		}
	}
	return false
}

// scale turns an effect on the log scale into what the axis shows.
func (c *charts) scale(effect float64) float64 {
	if c.Factor {
		return round4(math.Exp(effect))
	}
	return round4(verdict.Percent(effect))
}

func (c *charts) scaled(effect float64) *float64 {
	if !known(effect) {
		return nil
	}
	return ptr(c.scale(effect))
}

func (c *charts) mark(r row) mark {
	e := r.Estimate
	m := mark{Layout: r.Name, Class: r.MarkClass(), X: c.scale(e.Effect), Raw: c.scaled(e.RawEffect)}
	m.Label = difference(e.Effect) + " · " + joined(", ", r.MarkText(), r.DroppedText())
	m.Short = difference(e.Effect) + " · " + r.MarkText()
	m.Tip = r.Name + ": " + r.DifferenceText()
	if r.Baseline {
		m.Label, m.Raw = joined(" · ", "baseline", notBaseline(r.MarkText())), nil
		m.Short = m.Label
		return m
	}
	if m.Lo, m.Hi = c.scaled(e.Lo), c.scaled(e.Hi); unresolvable(e.Lo, e.Hi) {
		m.Lo, m.Hi, m.Raw = nil, nil, nil
		m.Label, m.Short = notResolvable, "not resolvable"
	}
	return m
}

func notBaseline(mark string) string {
	if mark == "baseline" {
		return ""
	}
	return mark
}

func (c *charts) looks(v view, l verdict.Look) {
	for j := range l.Estimates {
		e := v.Judgement.Result.Shown(l, j)
		if j >= len(v.Judgement.Result.Arms) || j == v.Judgement.Result.Config.Baseline || !known(e.Effect) {
			continue
		}
		if unresolvable(e.Lo, e.Hi) {
			continue
		}
		c.Looks = append(c.Looks, lookMark{
			Layout: v.Judgement.Result.Arms[j].Name, Block: l.Block, X: c.scale(e.Effect),
			Lo: c.scaled(e.Lo), Hi: c.scaled(e.Hi), Frozen: e.DroppedAt > 0 && e.DroppedAt < l.Block,
		})
	}
}

// domain spans all intervals of the last look, with room for the labels.
func (c *charts) domain() [2]float64 {
	lo, hi := c.Margin[0], c.Margin[1]
	for _, m := range c.Estimates {
		for _, x := range []*float64{&m.X, m.Lo, m.Hi, m.Raw} {
			if x != nil {
				lo, hi = min(lo, *x), max(hi, *x)
			}
		}
	}
	if c.Factor {
		room := math.Pow(hi/lo, 0.12)
		return [2]float64{round4(lo / room), round4(hi * room)}
	}
	room := 0.12 * (hi - lo)
	return [2]float64{round4(lo - room), round4(hi + room)}
}

// factorTicks are 1, 2, 5 and their powers of ten within a domain.
func factorTicks(d [2]float64) []float64 {
	var out []float64
	for e := -3; e <= 4; e++ {
		for _, m := range []float64{1, 2, 5} {
			if x := m * math.Pow(10, float64(e)); x >= d[0] && x <= d[1] {
				out = append(out, round4(x))
			}
		}
	}
	return out
}
