package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"
)

// stripePanel is the speed of one direction over the number of backup files.
type stripePanel struct {
	Family string
	Chart  template.HTML
	Rows   []stripePoint
}

// stripePoint is a layout in one direction.
type stripePoint struct {
	Layout, Speed, Limit string
	files                int
	speed, lo, hi        float64 // per second; of intervals NaN where there is none
	discard              bool
}

// Stripes are backup and restore over the number of files, each beside what reading
// and throwing the backup away reaches. None for other scenarios.
func (v view) Stripes() []stripePanel {
	if !v.Scenario.Stripes {
		return nil
	}
	var out []stripePanel
	families := v.Families()
	if len(families) == 0 && v.Family != "" {
		v.Name = v.Family
		families = []view{v}
	}
	for _, f := range families {
		points := f.stripePoints()
		if len(points) > 1 {
			points = besideLimits(append(points, f.limitPoints()...))
			out = append(out, stripePanel{f.Name, f.stripeChart(points), points})
		}
	}
	return out
}

// stripePoints are the layouts that have a speed; intervals are those of the
// differences to the baseline, about the baseline's typical trial.
func (v view) stripePoints() []stripePoint {
	var out []stripePoint
	base := math.NaN()
	if v.Base >= 0 {
		base = v.speedOf(v.Rows[v.Base])
	}
	for _, r := range v.Rows {
		p := stripePoint{Layout: r.Name, files: v.Scenario.NumberOf(r.Layout), speed: v.speedOf(r), lo: math.NaN(), hi: math.NaN(), discard: r.Discard, Limit: absent}
		if !known(p.speed) || p.files < 1 {
			continue
		}
		if e := r.Estimate; r.Judged && !r.Baseline && known(e.Lo) && known(e.Hi) && !unresolvable(e.Lo, e.Hi) {
			p.lo, p.hi = base*math.Exp(e.Lo), base*math.Exp(e.Hi)
		}
		p.Speed = v.speedWords(r)
		out = append(out, p)
	}
	return out
}

// limitPoints are those of the run whose backups were thrown away, in this run's unit.
func (v view) limitPoints() []stripePoint {
	if v.Limit == nil {
		return nil
	}
	limit := newView(*v.Limit)
	if limit.Family != v.Name || limit.inBytes() != v.inBytes() {
		return nil
	}
	limit.Rate = v.Rate
	points := limit.stripePoints()
	for i := range points {
		points[i].Layout += fmt.Sprintf(", thrown away (run %d)", limit.RunID)
	}
	return points
}

// besideLimits gives every backup its share of what reading alone reached with as
// many files.
func besideLimits(points []stripePoint) []stripePoint {
	limits := map[int]float64{}
	for _, p := range points {
		if p.discard {
			limits[p.files] = max(limits[p.files], p.speed)
		}
	}
	for i, p := range points {
		if limit := limits[p.files]; limit > 0 && !p.discard {
			points[i].Limit = share(p.speed, limit)
		}
	}
	return points
}

// speedOf is in bytes per second, or where they are not known in times a second.
func (v view) speedOf(r row) float64 {
	if v.inBytes() {
		return r.Bytes
	}
	return r.Typical
}

// inBytes tells whether the payload of every layout is known.
func (v view) inBytes() bool {
	return !slices.ContainsFunc(v.Rows, func(r row) bool { return known(r.Typical) && !known(r.Bytes) })
}

func (v view) speedWords(r row) string {
	s := v.speedText(r)
	if v.inBytes() {
		s += ", " + v.Rate.Of(r.Bytes) + " " + v.Rate.Name
	}
	return s
}

// stripeChart draws the panel of one direction.
func (v view) stripeChart(points []stripePoint) template.HTML {
	lo, hi, most := points[0].files, points[0].files, 0.0
	var counts []int
	for _, p := range points {
		lo, hi, most = min(lo, p.files), max(hi, p.files), max(most, p.speed)
		if known(p.hi) {
			most = max(most, min(p.hi, 1.6*p.speed))
		}
		if !slices.Contains(counts, p.files) {
			counts = append(counts, p.files)
		}
	}
	d := drawing{height: 250}
	x := scale{lo: float64(lo), hi: float64(hi), from: 16, to: 92, log: true}
	y := scale{lo: 0, hi: 1.06 * most, from: 216, to: 20}
	number := brief
	if v.inBytes() {
		number = func(b float64) string { return v.Rate.Of(b) }
	}
	d.levels(y, roundTicks(0, y.hi, 4), number)
	slices.Sort(counts)
	d.counts(counts, x, 236)
	for _, discard := range []bool{true, false} {
		d.stripeLine(points, discard, x, y)
	}
	return d.html(v.Name + ": speed over the number of backup files, with what reading alone reaches; the table below has the numbers.")
}

// stripeLine joins the points on one volume; other placements are dots by themselves.
func (d *drawing) stripeLine(points []stripePoint, discard bool, x, y scale) {
	i, class := 0, "l0"
	if discard {
		i, class = 7, "l7 discard"
	}
	var last *stripePoint
	for k := range points {
		p := &points[k]
		if p.discard != discard {
			continue
		}
		at := x.at(float64(p.files))
		if last != nil && last.files < p.files {
			d.line(class+" curve", x.at(float64(last.files)), y.at(last.speed), at, y.at(p.speed), "")
		}
		if known(p.lo) {
			d.line(class+" whisker", at, y.at(max(p.lo, 0)), at, y.at(min(p.hi, y.hi)), "")
		}
		d.marker(i, "dot", at, y.at(p.speed), fmt.Sprintf("%s: %s", p.Layout, p.Speed))
		if last == nil || last.files < p.files {
			last = p
		}
	}
}

// HasDiscard tells whether it is known what reading alone reaches: by some layouts of
// the run, or by another run.
func (v view) HasDiscard() bool {
	discards := func(r row) bool { return r.Discard }
	return v.Limit != nil || slices.ContainsFunc(v.Rows, discards) && slices.ContainsFunc(v.Rows, func(r row) bool { return !r.Discard })
}

// LimitText is where another run's limit comes from.
func (v view) LimitText() string {
	if v.Limit == nil {
		return ""
	}
	return fmt.Sprintf("They were measured in run %d of %s, not between these trials.", v.Limit.RunID, v.Limit.Started.UTC().Format(time.DateOnly))
}
