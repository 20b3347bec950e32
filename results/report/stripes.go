package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"filewise/internal/say"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// stripePoint is a layout in one direction.
type stripePoint struct {
	Layout, Speed, Limit string
	files                int
	speed, lo, hi        float64 // per second; of intervals NaN if there is none
	discard              bool
}

// stripes are backup and restore over the number of files, each compared with reading and throwing the backup away.
// None for other scenarios.
func (v view) stripes() []document.Block {
	if !v.Scenario.Stripes || v.Family == "" {
		return nil
	}
	f := document.Figure{Grid: true, Caption: "Upright lines are the intervals of the differences to " + v.Plan.Baseline + "."}
	limited := v.hasDiscard()
	title := "Speed by number of backup files"
	if limited {
		title = "Against the limit of reading"
		f.Caption += " Stars, with a dashed line, are backups that are read and thrown away: the limit that writing can only approach."
	}
	if v.Limit != nil {
		f.Caption += fmt.Sprintf(" They were measured in run %d of %s, not between these trials.", v.Limit.RunID,
			v.Limit.Started.UTC().Format(time.DateOnly))
	}
	for _, of := range v.parts {
		of.Name = of.Family
		points := of.stripePoints()
		if len(points) < 2 {
			continue
		}
		points = besideLimits(append(points, of.limitPoints()...))
		columns := []document.Of[stripePoint]{
			document.Name("layout", func(p stripePoint) string { return p.Layout }),
			document.Words("speed", func(p stripePoint) string { return p.Speed }).Raw("", func(p stripePoint) float64 { return p.speed }),
		}
		if limited {
			columns = append(columns, document.Num("of the limit", func(p stripePoint) string { return p.Limit }))
		}
		table := document.Tabulate(document.Table{Caption: "Speed of " + of.Name}, points, columns...)
		f.Drawings = append(f.Drawings, document.Drawing{Name: of.Name, SVG: of.stripeChart(points), Table: &table})
	}
	if len(f.Drawings) == 0 {
		return nil
	}
	return []document.Block{document.Heading(title), f}
}

// stripePoints returns the layouts that have a speed; intervals belong to the differences to the baseline, about the
// baseline's typical trial.
func (v view) stripePoints() []stripePoint {
	var out []stripePoint
	base := math.NaN()
	if v.Base >= 0 {
		base = v.speedOf(v.Rows[v.Base])
	}
	for _, r := range v.Rows {
		p := stripePoint{Layout: r.Name, files: v.Scenario.NumberOf(r.Layout), speed: v.speedOf(r), lo: math.NaN(), hi: math.NaN(),
			discard: r.Discard, Limit: say.Absent}
		if !say.Known(p.speed) || p.files < 1 {
			continue
		}
		if e := r.Estimate; r.Judged && !r.Baseline && say.Known(e.Lo) && say.Known(e.Hi) && !say.Unresolvable(e.Lo, e.Hi) {
			p.lo, p.hi = base*math.Exp(e.Lo), base*math.Exp(e.Hi)
		}
		p.Speed = v.speedWords(r)
		out = append(out, p)
	}
	return out
}

// limitPoints returns the points of the run whose backups were thrown away, in this run's unit.
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
			points[i].Limit = say.Share(p.speed, limit)
		}
	}
	return points
}

// speedOf is in bytes per second, or, if they are not known, in times a second.
func (v view) speedOf(r row) float64 {
	if v.inBytes() {
		return r.Bytes
	}
	return r.Typical
}

// inBytes reports whether the payload of every layout is known.
func (v view) inBytes() bool {
	return !slices.ContainsFunc(v.Rows, func(r row) bool { return say.Known(r.Typical) && !say.Known(r.Bytes) })
}

func (v view) speedWords(r row) string {
	s := v.speedText(r)
	if v.inBytes() {
		s += ", " + v.Rate.Of(r.Bytes) + " " + v.Rate.Name
	}
	return s
}

// stripeChart draws one direction. Placements on several volumes are dots apart from the line of placements on one.
func (v view) stripeChart(points []stripePoint) template.HTML {
	axes := chart.Axes{Up: "speed, " + v.unitRate(), Over: "number of " + over(v.Scenario), Number: chart.Brief}
	if v.inBytes() {
		axes.Up, axes.Number = "speed, "+v.Rate.Name, v.Rate.Of
	}
	thrown, kept := chart.Series{Look: 7, Class: "discard"}, chart.Series{}
	for _, p := range points {
		of := &kept
		if p.discard {
			of = &thrown
		}
		of.Points = append(of.Points, chart.Point{N: p.files, X: p.speed, Lo: p.lo, Hi: p.hi, Tip: p.Layout + ": " + p.Speed})
	}
	all := slices.DeleteFunc([]chart.Series{thrown, kept}, func(s chart.Series) bool { return len(s.Points) == 0 })
	label := v.Name + ": speed over the number of backup files, with what reading alone reaches; the table below has the numbers."
	return chart.Lines(all, 250, axes, label)
}

// hasDiscard reports whether it is known what reading alone reaches: by some layouts of the run, or by another run.
func (v view) hasDiscard() bool {
	discards := func(r row) bool { return r.Discard }
	return v.Limit != nil || slices.ContainsFunc(v.Rows, discards) && slices.ContainsFunc(v.Rows, func(r row) bool { return !r.Discard })
}
