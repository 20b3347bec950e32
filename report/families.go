package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/experiment"
	"filewise/internal/say"
	"filewise/workload"
)

// familiesOf are the judgements of all families, that over all of them first. A run
// that was not judged has one, without a verdict.
func familiesOf(d Data) []experiment.Family {
	if len(d.Judgement.Families) == 0 {
		return []experiment.Family{{}}
	}
	out := slices.Clone(d.Judgement.Families)
	slices.SortStableFunc(out, func(a, b experiment.Family) int {
		return boolCompare(a.Name == experiment.FamilyOverall, b.Name == experiment.FamilyOverall)
	})
	return out
}

// ofFamily is the run as if it had measured one family only.
func ofFamily(d Data, f experiment.Family) Data {
	d.Plan.Confidence = f.Result.Config.Confidence
	trials := d.Trials
	d.Trials = nil
	for _, t := range trials {
		if m, ok := d.Plan.OverallMeasure(t); ok && f.Name == experiment.FamilyOverall {
			t.Measures = []filewise.Measure{m}
		} else {
			t.Measures = slices.DeleteFunc(slices.Clone(t.Measures), func(m filewise.Measure) bool { return m.Family != f.Name })
		}
		d.Trials = append(d.Trials, t)
	}
	d.Scenario.Published = figuresOf(d, f.Name)
	d.Scenario.Best = workload.BestOf(d.Scenario.Published, d.Plan.Target.Engine)
	return d
}

// figuresOf are the published figures about a family, under the conditions of the
// run's layouts.
func figuresOf(d Data, family string) []workload.Figure {
	var variants []string
	for _, l := range d.Plan.Layouts {
		if v := d.Scenario.Variant(d.Plan.Params, l, d.Plan.Target.Volumes); !slices.Contains(variants, v) {
			variants = append(variants, v)
		}
	}
	levels := len(d.Plan.Params.Users) > 0 // of one family, of which the article speaks as a whole
	return slices.DeleteFunc(d.Scenario.Figures(family, variants...), func(f workload.Figure) bool {
		return f.Family == "" && !levels || !f.AtUsers(d.Plan.Params.UsersOf(family))
	})
}

// Timed reports whether what is measured is a time.
func (v view) Timed() bool { return v.Unit == filewise.UnitTimes }

// each tells whether one operation is so large that its time reads better than how
// many of them fit into a second.
func (v view) each() bool { return v.Unit == "backups" || v.Unit == "dumps" || v.Unit == "restores" }

// speedText is a layout's typical trial in words: "2,790 rows/s", "1.2 s".
func (v view) speedText(r row) string {
	switch {
	case v.Timed():
		return r.typicalText()
	case v.each() && r.Typical > 0:
		return say.Human(time.Duration(float64(time.Second) / r.Typical))
	case !say.Known(r.Typical):
		return say.Absent
	}
	return r.typicalText() + " " + v.unitRate()
}

// familyNames joins the names of families: "insert and select", "queries 1–3 and 5".
func familyNames(names []string) string {
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

// ranges writes ascending numbers with those that follow each other joined: 1–3, 5.
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
