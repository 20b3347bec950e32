package report

import (
	"slices"
	"strconv"

	"filewise"
	"filewise/experiment"
	"filewise/internal/say"
	"filewise/verdict"
)

// view is what every format shows of a family of operations, worked out once from
// the data. That of a run is of its leading family: the one over all, or the first.
type view struct {
	Data   // with the measures and published figures of the family alone
	of     experiment.Family
	Name   string // of the family, where the run has several
	Family string // of the measure that is judged; empty: nothing measured
	Unit   string // of its work: "rows"
	Look   verdict.Look
	Judged bool // there is a look, and Look is the last
	Base   int  // index of the baseline in Rows
	Rows   []row
	Trials []trial
	Rate   say.Rate // in which the table gives bytes per second
	parts  []view   // of all families, that over all first: at least one
	whole  Data     // the run with all its families
}

// newView is of a run.
func newView(d Data) view {
	families := familiesOf(d)
	parts := make([]view, len(families))
	for i, f := range families {
		if len(families) == 1 {
			parts[i] = viewOf(d, f)
		} else {
			parts[i] = viewOf(ofFamily(d, f), f)
			parts[i].Name = f.Name
		}
		parts[i].whole, parts[i].parts = d, parts[i:i+1]
	}
	v := parts[0]
	v.parts = parts
	v.Plan.Confidence = d.Plan.Confidence
	return v
}

// several tells whether it is of a run with several families, not of one of them.
func (v view) several() bool { return len(v.parts) > 1 }

func viewOf(d Data, of experiment.Family) view {
	v := view{Data: d, of: of}
	v.Look, v.Judged = of.Result.Last()
	v.Family, v.Unit = judged(d.Trials)
	v.Base = slices.IndexFunc(d.Plan.Layouts, func(l filewise.Layout) bool { return l.Name == d.Plan.Baseline })
	v.Trials = v.trials()
	fastest := 0.0
	for _, l := range d.Plan.Layouts {
		r := v.row(l)
		v.Rows = append(v.Rows, r)
		if say.Known(r.Bytes) {
			fastest = max(fastest, r.Bytes)
		}
	}
	v.flagDownWeighted()
	v.Rate = say.RateFor(fastest)
	return v
}

// judged is the family and unit of the measure that verdicts are about: the
// first of a trial.
func judged(trials []filewise.Trial) (family, unit string) {
	for _, t := range trials {
		if t.State == filewise.Done && len(t.Measures) > 0 {
			return t.Measures[0].Family, t.Measures[0].Unit
		}
	}
	return "", ""
}

// confidence is that of the intervals: "95 %".
func (v view) confidence() string {
	if v.Plan.Confidence <= 0 {
		return say.Absent
	}
	return say.Confidence(v.Plan.Confidence)
}

// margin is the difference that does not matter: "2 %".
func (v view) margin() string {
	if v.Plan.Margin <= 0 {
		return say.Absent
	}
	return strconv.FormatFloat(v.Plan.Margin, 'f', -1, 64) + " %"
}

// unitRate is the unit of throughput: "rows/s".
func (v view) unitRate() string {
	switch v.Unit {
	case "":
		return "throughput"
	case filewise.UnitTimes:
		return "time"
	}
	return v.Unit + "/s"
}
