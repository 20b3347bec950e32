package report

import (
	"cmp"
	"html/template"
	"slices"

	"filewise/workload"
)

// point is a layout on a curve over the number of files.
type point struct {
	files     int
	class     string
	x, lo, hi float64 // effects; NaN: none
	tip       string
}

// pointsOf are the layouts of a family by their number of files; those that are
// not resolvable are no points.
func (v view) pointsOf() []point {
	var out []point
	for _, r := range v.Rows {
		m, ok := estimateOf(r, joined(", ", v.Name, r.Name))
		if r.Baseline && r.Judged {
			m.x, ok = 0, true
		}
		if ok && known(m.x) {
			out = append(out, point{v.Scenario.NumberOf(r.Layout), m.Class, m.x, m.lo, m.hi, m.Tip})
		}
	}
	slices.SortFunc(out, func(a, b point) int { return cmp.Compare(a.files, b.files) })
	return out
}

// fileCurve draws differences over the number of files, which doubles in equal steps.
func fileCurve(points []point, e effects, label string) template.HTML {
	const top, bottom = 20, 176
	d := drawing{height: bottom + 26}
	y := e.scale(bottom, top)
	x := scale{lo: float64(points[0].files), hi: float64(points[len(points)-1].files), from: 18, to: 95, log: true}
	d.upright(e, y, 5)
	for i, p := range points {
		if i > 0 {
			q := points[i-1]
			d.line("curve l0", x.at(float64(q.files)), y.at(e.of(q.x)), x.at(float64(p.files)), y.at(e.of(p.x)), "")
		}
	}
	var counts []int
	for _, p := range points {
		at := x.at(float64(p.files))
		if known(p.lo) && known(p.hi) {
			d.line("interval c-"+p.class, at, y.at(e.of(p.lo)), at, y.at(e.of(p.hi)), p.tip)
		}
		d.circle("estimate c-"+p.class, at, y.at(e.of(p.x)), 4.5, p.tip)
		counts = append(counts, p.files)
	}
	d.counts(counts, x, bottom+18)
	return d.html(label)
}

// CurveFigure is the curve of a run with one family over at least three numbers of
// files; empty: there is none.
func (v view) CurveFigure() template.HTML {
	points := v.pointsOf()
	if v.whole != nil || !v.numbered() || len(points) < 3 {
		return ""
	}
	e := newEffects(v.factors(), v.Judgement.Result.Config.Margin)
	for _, p := range points {
		e.include(p.x, p.lo, p.hi)
	}
	return fileCurve(points, e, "Throughput against "+v.Plan.Baseline+" over the number of "+over(v.Scenario)+", with intervals; the table below has the numbers.")
}

// Over names what the curve goes over.
func (v view) Over() string { return over(v.Scenario) }

// over names what a scenario varies the number of.
func over(sc workload.Scenario) string {
	switch {
	case sc.Jobs:
		return "jobs"
	case sc.Stripes:
		return "backup files"
	case sc.Temp:
		return "temporary files"
	}
	return "files"
}

// numbered tells whether the layouts differ in their number of files alone, as far
// as the scenario counts them.
func (v view) numbered() bool {
	seen := map[int]bool{}
	for _, l := range v.Plan.Layouts {
		n := v.Scenario.NumberOf(l)
		if n < 1 || seen[n] || l.Discard {
			return false
		}
		seen[n] = true
	}
	return len(seen) > 1
}
