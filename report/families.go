package report

import (
	"strings"

	"filewise"
	"filewise/experiment"
)

// unitTimes is the unit of measures that are a time each, such as a recovery:
// their throughput is the inverse of that time.
const unitTimes = "times"

// Families are the views of all families of operations, where there are several.
// The verdict of a report's head is that of the first.
func (v view) Families() []view {
	var out []view
	for _, f := range v.Judgement.Families {
		d := v.Data
		d.Judgement.Result, d.Judgement.Sentences, d.Judgement.Families = f.Result, f.Sentences, nil
		d.Plan.Confidence = f.Result.Config.Confidence
		d.Trials = nil
		for _, t := range v.Data.Trials {
			if m, ok := v.Plan.OverallMeasure(t); ok && f.Name == experiment.FamilyOverall {
				t.Measures = []filewise.Measure{m}
			} else {
				t.Measures = only(t.Measures, f.Name)
			}
			d.Trials = append(d.Trials, t)
		}
		out = append(out, newView(d))
	}
	return out
}

func only(measures []filewise.Measure, family string) []filewise.Measure {
	for _, m := range measures {
		if m.Family == family {
			return []filewise.Measure{m}
		}
	}
	return nil
}

// Timed reports whether what is measured is a time.
func (v view) Timed() bool { return v.Unit == unitTimes }

// summary is the outcome of every family in a few words.
func summary(d Data) string {
	var parts []string
	for _, f := range d.Judgement.Families {
		what := "undecided"
		if look, ok := f.Result.Last(); ok && look.Recommended >= 0 && look.Recommended < len(f.Result.Arms) {
			what = f.Result.Arms[look.Recommended].Name
		}
		parts = append(parts, f.Name+": "+what)
	}
	var failed []string
	for _, f := range d.Judgement.Families {
		if _, _, bad := f.Result.AAFailed(); bad {
			failed = append(failed, f.Name)
		}
	}
	said := "Fastest with the fewest files: " + strings.Join(parts, "; ") + "."
	if len(failed) > 0 {
		return "Do not rely on this: the A/A check failed (" + strings.Join(failed, ", ") + "). " + said
	}
	return said
}
