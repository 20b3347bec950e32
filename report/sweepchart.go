package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"filewise/experiment"
)

// SweepChart are the layouts' curves over load levels: points with their intervals
// and, dashed, the fit of the universal scalability law. Empty: one level.
func (v view) SweepChart() template.HTML {
	s := v.Judgement.Sweep
	if s == nil {
		return ""
	}
	users, most := loads(s)
	if len(users) < 2 || most <= 0 {
		return ""
	}
	d := drawing{height: 320}
	x := scale{lo: float64(users[0]), hi: float64(users[len(users)-1]), from: 14, to: 94, log: true}
	y := scale{lo: 0, hi: most * 1.06, from: 286, to: 20}
	d.levels(y, roundTicks(0, y.hi, 5), brief)
	d.counts(users, x, 306)
	for i, c := range s.Curves {
		at := slices.IndexFunc(v.Rows, func(r row) bool { return r.Name == c.Layout })
		d.curve(max(at, 0), c, x, y, float64(i)-float64(len(s.Curves)-1)/2)
	}
	return d.html("Throughput (" + v.UnitRate() + ") of each layout over the number of users; the table below has the numbers.")
}

// counts writes numbers below an axis, as far as there is room.
func (d *drawing) counts(ns []int, x scale, y float64) {
	last := math.Inf(-1)
	for _, n := range ns {
		if at := x.at(float64(n)); at-last >= 9 {
			d.textAt("axis", "middle", at, y, grouped(strconv.Itoa(n)))
			last = at
		}
	}
}

// loads are the levels, ascending, and the highest number to be drawn.
func loads(s *experiment.Sweep) (users []int, most float64) {
	for _, c := range s.Curves {
		for _, p := range c.Points {
			if !slices.Contains(users, p.Users) {
				users = append(users, p.Users)
			}
			most = max(most, p.Throughput)
		}
	}
	for _, c := range s.Curves { // an interval of two trials may reach to the sky
		for _, p := range c.Points {
			if p.Hi != nil {
				most = max(most, min(*p.Hi, 1.6*p.Throughput))
			}
		}
	}
	slices.Sort(users)
	return users, most
}

// curve is one layout's; side keeps the intervals of one load beside each other.
func (d *drawing) curve(i int, c experiment.Curve, x, y scale, side float64) {
	colour, _ := look(i)
	class := fmt.Sprintf("l%d", colour)
	points := slices.Clone(c.Points)
	slices.SortFunc(points, func(a, b experiment.Point) int { return a.Users - b.Users })
	at := func(p experiment.Point) float64 { return x.at(float64(p.Users)) + side*1.2 }
	for k, p := range points {
		if p.Lo != nil && p.Hi != nil {
			lo, hi := max(*p.Lo, y.lo), min(*p.Hi, y.hi)
			d.line(class+" whisker", at(p), y.at(lo), at(p), y.at(hi), "")
		}
		if k > 0 {
			q := points[k-1]
			d.line(class+" curve", at(q), y.at(q.Throughput), at(p), y.at(p.Throughput), "")
		}
	}
	if c.Fit != nil {
		d.fit(class+" fit", *c.Fit, points[0].Users, points[len(points)-1].Users, x, y)
	}
	for _, p := range points {
		d.marker(i, "dot", at(p), y.at(p.Throughput), fmt.Sprintf("%s, %s: %s", c.Layout, count(p.Users, "user"), pointText(c, p.Users)))
	}
}

// fit draws X(N) = λN / (1 + σ(N−1) + κN(N−1)).
func (d *drawing) fit(class string, f experiment.Scalability, from, to int, x, y scale) {
	const steps = 32
	value := func(n float64) float64 {
		return f.Lambda * n / (1 + f.Sigma*(n-1) + f.Kappa*n*(n-1))
	}
	for i := range steps {
		a := float64(from) * math.Pow(float64(to)/float64(from), float64(i)/steps)
		b := float64(from) * math.Pow(float64(to)/float64(from), float64(i+1)/steps)
		if i%2 == 0 && min(value(a), value(b)) >= y.lo && max(value(a), value(b)) <= y.hi {
			d.line(class, x.at(a), y.at(value(a)), x.at(b), y.at(value(b)), "")
		}
	}
}

// fitRow is the law fitted to one layout.
type fitRow struct{ Layout, Lambda, Sigma, Kappa, Peak, Error string }

// Fits are the parameters of the universal scalability law; none below four levels.
func (v view) Fits() []fitRow {
	var out []fitRow
	if v.Judgement.Sweep == nil {
		return nil
	}
	for _, c := range v.Judgement.Sweep.Curves {
		if c.Fit == nil {
			continue
		}
		peak := "still growing"
		if c.Fit.Peak != nil {
			peak = count(int(math.Round(*c.Fit.Peak)), "user")
		}
		out = append(out, fitRow{c.Layout, sig3(c.Fit.Lambda), sig3(c.Fit.Sigma), sig3(c.Fit.Kappa), peak, share(math.Expm1(c.Fit.Error), 1)})
	}
	return out
}
