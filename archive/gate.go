package archive

import (
	"math"
	"slices"
	"time"

	"filewise/experiment"
	"filewise/gate"
	"filewise/verdict"
)

// Subjects are a judgement's layouts against the baseline, as conditions take them.
func Subjects(j experiment.Judgement) []gate.Subject {
	var out []gate.Subject
	for _, f := range j.Families {
		name := f.Name
		if len(j.Families) == 1 {
			name = ""
		}
		out = append(out, SubjectsOf(name, f.Result, f.Latency)...)
	}
	return out
}

// SubjectsOf are those of one family: every layout, the baseline against itself.
func SubjectsOf(family string, r verdict.Result, latency []experiment.LayoutLatency) []gate.Subject {
	var out []gate.Subject
	look, judged := r.Last()
	for j, arm := range r.Arms {
		if arm.Twin != "" {
			continue
		}
		s := gate.Subject{Family: family, Layout: arm.Name, Reference: r.Arms[r.Config.Baseline].Name, Throughput: notKnown, P99: notKnown}
		if judged {
			e := r.Shown(look, j)
			s.Throughput = gate.Interval{Effect: e.Effect, Lo: e.Lo, Hi: e.Hi}
		}
		if i := slices.IndexFunc(latency, func(l experiment.LayoutLatency) bool { return l.Layout == arm.Name }); i >= 0 {
			s.Took = latency[i].P99
			s.P99.Effect, s.P99.Lo, s.P99.Hi = latency[i].Change.Interval()
		}
		out = append(out, s)
	}
	return out
}

var notKnown = gate.Interval{Effect: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}

// Subjects are the comparison's layouts, each against itself in the run before.
func (c Comparison) Subjects() []gate.Subject {
	var out []gate.Subject
	for _, f := range c.Families {
		for _, l := range f.Layouts {
			name := f.Family
			if len(c.Families) == 1 {
				name = ""
			}
			s := gate.Subject{Family: name, Layout: l.Layout, Reference: "before", Throughput: l.change, P99: l.p99}
			if l.P99After != nil {
				s.Took = time.Duration(*l.P99After)
			}
			out = append(out, s)
		}
	}
	return out
}

// Layouts are those that both runs have.
func (c Comparison) Layouts() []string {
	out := []string{}
	for _, f := range c.Families {
		for _, l := range f.Layouts {
			if !slices.Contains(out, l.Layout) {
				out = append(out, l.Layout)
			}
		}
	}
	return out
}

// Sentences are the changes in words.
func (c Comparison) Sentences() []string {
	var out []string
	for _, f := range c.Families {
		for _, l := range f.Layouts {
			out = append(out, l.Layout+": "+l.Text)
		}
	}
	return out
}
