package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/results/report/chart"
	"filewise/results/report/document"
)

// operationsOf returns the judgements of all operations, the overall operation first. A run that was not judged has one operation
// without a verdict.
func operationsOf(d Data) []experiment.Operation {
	if len(d.Judgement.Operations) == 0 {
		return []experiment.Operation{{}}
	}
	out := slices.Clone(d.Judgement.Operations)
	slices.SortStableFunc(out, func(a, b experiment.Operation) int {
		return boolCompare(a.Name == experiment.OperationOverall, b.Name == experiment.OperationOverall)
	})
	return out
}

// ofOperation returns the run's data as if only one operation had been measured.
func ofOperation(d Data, f experiment.Operation) Data {
	d.Plan.Confidence = f.Result.Config.Confidence
	trials := d.Trials
	d.Trials = nil
	for _, t := range trials {
		if m, ok := d.Plan.OverallMeasure(t); ok && f.Name == experiment.OperationOverall {
			t.Measures = []filewise.Measure{m}
		} else {
			t.Measures = slices.DeleteFunc(slices.Clone(t.Measures), func(m filewise.Measure) bool { return m.Operation != f.Name })
		}
		d.Trials = append(d.Trials, t)
	}
	d.Scenario.Published = figuresOf(d, f.Name)
	d.Scenario.Best = workload.BestOf(d.Scenario.Published, d.Plan.Target.Engine)
	return d
}

// figuresOf returns the published figures about an operation under the conditions of the run's layouts.
func figuresOf(d Data, operation string) []workload.Figure {
	levels := len(d.Plan.Params.Users) > 0 // levels of one operation: the article speaks of the operation as a whole
	return slices.DeleteFunc(d.Scenario.Figures(operation, variantsOf(d)...), func(f workload.Figure) bool {
		return f.Operation == "" && !levels || !f.AtUsers(d.Plan.Params.UsersOf(operation))
	})
}

// ofItsConditions returns the run with only the published figures about conditions that its layouts meet.
func ofItsConditions(d Data) Data {
	variants := variantsOf(d)
	d.Scenario.Published = slices.DeleteFunc(slices.Clone(d.Scenario.Published), func(f workload.Figure) bool {
		return f.Variant != "" && !slices.Contains(variants, f.Variant)
	})
	return d
}

// variantsOf returns the published conditions that the run's layouts meet.
func variantsOf(d Data) []string {
	var variants []string
	for _, l := range d.Plan.Layouts {
		if v := d.Scenario.Variant(d.Plan.Params, l, d.Plan.Target.Volumes); !slices.Contains(variants, v) {
			variants = append(variants, v)
		}
	}
	return variants
}

// Timed reports whether the measured quantity is a time.
func (v view) Timed() bool { return v.Unit == filewise.UnitTimes }

// each reports whether one operation is so large that its time reads better than operations per second.
func (v view) each() bool { return v.Unit == "backups" || v.Unit == "dumps" || v.Unit == "restores" }

// speedText returns the speed of a layout's typical trial: "2,790 rows/s", "1.2 s".
func (v view) speedText(r row) string {
	switch {
	case v.Timed():
		return r.typicalText()
	case v.each() && r.Typical > 0:
		return say.Seconds(1 / r.Typical)
	case !say.Known(r.Typical):
		return say.Absent
	}
	return r.typicalText() + " " + v.unitRate()
}

// operationNames joins the names of operations: "insert and select", "queries 1–3 and 5".
func operationNames(names []string) string {
	const query = "query "
	if len(names) < 2 {
		return say.Enumerate(names)
	}
	var numbers []int
	for _, n := range names {
		k, err := strconv.Atoi(strings.TrimPrefix(n, query))
		if err != nil || !strings.HasPrefix(n, query) {
			return say.Enumerate(names)
		}
		numbers = append(numbers, k)
	}
	return "queries " + say.Enumerate(ranges(numbers))
}

// ranges writes ascending numbers, with consecutive ones joined: 1–3, 5.
func ranges(numbers []int) []string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		s := strconv.Itoa(numbers[i])
		switch {
		case j == i+1:
			j = i
		case j > i:
			s += "–" + strconv.Itoa(numbers[j])
		}
		out, i = append(out, s), j+1
	}
	return out
}

// operationFigure returns the differences of all operations. It has curves over the number of files, one per operation, or dots
// for the operations, layout by layout. It is empty if there is no verdict yet.
func (v view) operationFigure() document.Figure {
	large := slices.ContainsFunc(v.parts, func(f view) bool { return f.factors() || f.wide() })
	e := v.effects(large)
	drawn := false
	for _, f := range v.parts {
		for _, r := range f.Rows {
			if m, ok := estimateOf(r, ""); ok && !r.Baseline {
				drawn = drawn || say.Known(m.X)
				e.Include(m.X, m.Lo, m.Hi)
			}
		}
	}
	f := document.Figure{ID: "chart-operations", Grid: true}
	note := fmt.Sprintf(" Bars are intervals that hold together over all operations, layouts and interim "+
		"analyses; in the shaded band, within ±%s, "+
		"differences do not matter.",
		v.margin())
	switch {
	case !drawn:
	case (v.Scenario.Stripes || v.Scenario.Temp) && v.numbered():
		f.Drawings = v.operationCurves(e)
		f.Caption = fmt.Sprintf("Throughput against %s over the number of %s, for each operation.", v.Plan.Baseline, over(v.Scenario)) + note
	default:
		f.Drawings = v.operationDots(e)
		f.Caption = fmt.Sprintf("Throughput against %s in each operation, layout by layout.", v.Plan.Baseline) + note
	}
	return f
}

func (v view) operationCurves(e chart.Effects) (out []document.Drawing) {
	for _, f := range v.parts {
		if points := f.pointsOf(); len(points) > 1 {
			label := f.Name + ": throughput against " + v.Plan.Baseline + " over the number of " + over(v.Scenario) +
				"; the table below has the numbers."
			out = append(out, document.Drawing{Name: f.Name, SVG: chart.Curve(points, e, curveHeight, true, "number of "+over(v.Scenario), label)})
		}
	}
	return out
}

func (v view) operationDots(e chart.Effects) (out []document.Drawing) {
	for i, l := range v.Rows {
		if l.Baseline {
			continue
		}
		var rows []chart.Estimate
		for _, f := range v.parts {
			if m, ok := estimateOf(f.Rows[i], f.Name); ok {
				m.Raw = nan
				rows = append(rows, m)
			}
		}
		if len(rows) > 0 {
			label := l.Name + " against " + v.Plan.Baseline + " in each operation, with intervals; the table below has the numbers."
			out = append(out, document.Drawing{Name: l.Name, SVG: chart.Dots(rows, e, label)})
		}
	}
	return out
}

// factors reports whether any effect is too large for percentages.
func (v view) factors() bool {
	return slices.ContainsFunc(v.Rows, func(r row) bool {
		return r.Judged && say.Known(r.Estimate.Effect) && math.Abs(r.Estimate.Effect) >= say.FactorFrom
	})
}

// wide reports whether a drawn interval exceeds a factor of three. On a scale of percentages, its lower half would be a
// dot.
func (v view) wide() bool {
	return slices.ContainsFunc(v.Rows, func(r row) bool {
		e := r.Estimate
		return r.Judged && !r.Baseline && say.Known(e.Lo) && say.Known(e.Hi) && !say.Unresolvable(e.Lo, e.Hi) && max(-e.Lo, e.Hi) > math.Log(3)
	})
}
