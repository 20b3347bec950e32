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

// stripePoint holds a layout's speed in one direction, backup or restore.
type stripePoint struct {
	Layout, Speed, Limit string
	files                int
	speed, lo, hi        float64 // per second. lo and hi are NaN if there is no interval
	discard              bool
}

// stripes returns the speeds of backup and restore over the number of files. Each is compared with reading the data and
// throwing the backup away. It returns nothing for other scenarios.
func (v view) stripes() []document.Block {
	if !v.Scenario.Stripes || v.Operation == "" {
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
		of.Name = of.Operation
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

// stripePoints returns the layouts that have a speed. Their intervals are the intervals of the differences from the
// baseline, applied to the baseline's typical trial.
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

// limitPoints returns the points of the run that threw the same backups away, in this run's unit.
func (v view) limitPoints() []stripePoint {
	if v.Limit == nil {
		return nil
	}
	limit := newView(*v.Limit)
	if limit.Operation != v.Name || limit.inBytes() != v.inBytes() {
		return nil
	}
	limit.Rate = v.Rate
	points := limit.stripePoints()
	for i := range points {
		points[i].Layout += fmt.Sprintf(", thrown away (run %d)", limit.RunID)
	}
	return points
}

// besideLimits adds to every backup its share of the speed that reading alone reached with the same number of files.
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

// speedOf returns the speed in bytes per second, or in operations per second if bytes are not known.
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

// stripeChart draws one direction. Layouts on several volumes are dots; a line joins the layouts on one volume.
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

// hasDiscard reports whether the speed of reading alone is known, from layouts of this run or from another run.
func (v view) hasDiscard() bool {
	discards := func(r row) bool { return r.Discard }
	return v.Limit != nil || slices.ContainsFunc(v.Rows, discards) && slices.ContainsFunc(v.Rows, func(r row) bool { return !r.Discard })
}
