package report

import (
	"fmt"
	"math"
	"slices"

	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// loads returns the curves over load levels: a chart, the table of its numbers, and the fitted law. It returns nothing
// if there is one level, or no trial yet.
func (v view) loads() []document.Block {
	s := v.Judgement.Sweep
	if s == nil {
		return nil
	}
	var users []int
	for _, c := range s.Curves {
		for _, p := range c.Points {
			users = append(users, p.Users)
		}
	}
	slices.Sort(users)
	users = slices.Compact(users)
	if len(users) == 0 {
		return nil
	}
	columns := []document.Of[int]{document.Name("load", func(n int) string { return say.Count(n, "user") })}
	var fits []experiment.Curve
	for _, c := range s.Curves {
		columns = append(columns, document.Num(c.Layout, func(n int) string { return pointText(c, n) }))
		if c.Fit != nil {
			fits = append(fits, c)
		}
	}
	figure := document.Figure{Legend: v.layoutLegend(), LegendOf: "Layouts"}
	if all := v.loadSeries(s); len(users) > 1 && len(all) > 0 {
		label := "Throughput (" + v.unitRate() + ") of each layout over the number of users; the table below has the numbers."
		axes := chart.Axes{Up: "throughput, " + v.unitRate(), Over: "users", Number: chart.Brief}
		figure.Drawings = []document.Drawing{{SVG: chart.Lines(all, 320, axes, label)}}
		figure.Caption = fmt.Sprintf("Throughput (%s) of each layout over the number of users, with intervals.", v.unitRate())
		if len(fits) > 0 {
			figure.Caption += " Dashed: the universal scalability law, fitted to all trials; it describes the curve and proves nothing."
		}
	}
	note := fmt.Sprintf("Throughput (%s) with Student's interval (%s) for each figure by itself; "+
		"differences are judged by operation, and these verdicts hold together.", v.unitRate(), v.confidence())
	return []document.Block{
		figure, document.Everywhere(document.Tabulate(document.Table{Caption: "Throughput with its interval, by load"}, users, columns...)),
		document.Note(note), fitTable(fits),
	}
}

// fitTable returns the parameters of the universal scalability law, or nothing for fewer than four levels.
func fitTable(fits []experiment.Curve) document.Table {
	of := func(parameter func(experiment.Scalability) float64) func(experiment.Curve) string {
		return func(c experiment.Curve) string { return say.Sig3(parameter(*c.Fit)) }
	}
	t := document.Table{Caption: "The universal scalability law, X(N) = λN / (1 + σ(N−1) + κN(N−1)), fitted to all trials"}
	return document.Tabulate(t, fits,
		document.Name("layout", func(c experiment.Curve) string { return c.Layout }),
		document.Num("λ, one user", of(func(f experiment.Scalability) float64 { return f.Lambda })),
		document.Num("σ, contention", of(func(f experiment.Scalability) float64 { return f.Sigma })),
		document.Num("κ, coherence", of(func(f experiment.Scalability) float64 { return f.Kappa })),
		document.Num("highest at", func(c experiment.Curve) string {
			if c.Fit.Peak == nil {
				return "still growing"
			}
			return say.Count(int(math.Round(*c.Fit.Peak)), "user")
		}),
		document.Num("trials about the fit", func(c experiment.Curve) string { return "±" + say.Share(math.Expm1(c.Fit.Error), 1) }))
}

func pointText(c experiment.Curve, users int) string {
	i := slices.IndexFunc(c.Points, func(p experiment.Point) bool { return p.Users == users })
	if i < 0 {
		return say.Absent
	}
	p := c.Points[i]
	if p.Lo == nil || p.Hi == nil {
		return say.Sig3(p.Throughput)
	}
	return say.Sig3(p.Throughput) + " (" + say.Sig3(*p.Lo) + " … " + say.Sig3(*p.Hi) + ")"
}

// loadSeries returns the layouts' curves over load levels. They have points with intervals and, dashed, the fit of the
// universal scalability law.
func (v view) loadSeries(s *experiment.Sweep) []chart.Series {
	var out []chart.Series
	for _, c := range s.Curves {
		of := chart.Series{Look: max(slices.IndexFunc(v.Rows, func(r row) bool { return r.Name == c.Layout }), 0)}
		for _, p := range c.Points {
			at := chart.Point{N: p.Users, X: p.Throughput, Lo: nan, Hi: nan,
				Tip: fmt.Sprintf("%s, %s: %s", c.Layout, say.Count(p.Users, "user"), pointText(c, p.Users))}
			if p.Lo != nil && p.Hi != nil {
				at.Lo, at.Hi = *p.Lo, *p.Hi
			}
			of.Points = append(of.Points, at)
		}
		slices.SortFunc(of.Points, func(a, b chart.Point) int { return a.N - b.N })
		if f := c.Fit; f != nil {
			of.Fit = func(n float64) float64 { return f.Lambda * n / (1 + f.Sigma*(n-1) + f.Kappa*n*(n-1)) }
		}
		if len(of.Points) > 0 {
			out = append(out, of)
		}
	}
	return out
}

// layoutLegend returns the shape and colour of each layout.
func (v view) layoutLegend() []document.Swatch {
	var out []document.Swatch
	for i, r := range v.Rows {
		colour, shape := chart.Look(i)
		out = append(out, document.Swatch{Name: r.Name, Icon: chart.Swatch(fmt.Sprintf("l%d", colour), fmt.Sprintf("mk%d", shape))})
	}
	return out
}
