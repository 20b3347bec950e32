package archive

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/gate"
	"filewise/results/store"
)

// Subjects returns the differences of a judgement's layouts from the baseline, as conditions take them.
func Subjects(j experiment.Judgement) []gate.Subject {
	var out []gate.Subject
	for _, f := range j.Operations {
		name := f.Name
		if len(j.Operations) == 1 {
			name = ""
		}
		out = append(out, subjectsOf(name, f.Result, f.Latency)...)
	}
	return out
}

// Properties returns a judgement as data, by operation if there are several.
func Properties(j experiment.Judgement) (out [][2]string) {
	for _, d := range j.Decisions() {
		out = append(out, d.Properties(d.Operation)...)
	}
	return out
}

// Properties returns the numbers' judgement as data, by operation if there are several.
func (out Elsewhere) Properties() (all [][2]string) {
	for _, n := range append([]Numbers{out.Numbers}, out.Operations...) {
		name := n.Operation
		if len(out.Operations) == 0 {
			name = ""
		}
		if n.Decision != nil {
			all = append(all, n.Decision.Properties(name)...)
		}
	}
	return all
}

// Subjects returns the layouts with their differences from the baseline.
func (out Elsewhere) Subjects() (all []gate.Subject) {
	if len(out.Operations) == 0 {
		return out.subjects("")
	}
	for _, f := range out.Operations {
		all = append(all, f.subjects(f.Operation)...)
	}
	return all
}

// subjects returns one operation's subjects. Their p99 is the worst trial's: the p99 of all operations cannot be computed
// from the trials' p99, but is never above the worst.
func (out Numbers) subjects(operation string) []gate.Subject {
	latency := filewise.Each(out.P99, func(l TrialsP99) experiment.LayoutLatency {
		return experiment.LayoutLatency{Layout: l.Layout, P99: l.Worst, Change: l.Change}
	})
	all := subjectsOf(operation, out.Verdict, latency)
	for i, s := range all {
		for _, l := range out.P99 {
			if l.Layout == s.Layout {
				all[i].In = fmt.Sprintf("the worst of %s (%s in the best)", filewise.Counted(l.Trials, "trial"), say.Human(l.Best))
			}
		}
	}
	return all
}

// subjectsOf returns one operation's subjects: every layout with its difference from the baseline. The baseline is
// compared with itself.
func subjectsOf(operation string, r verdict.Result, latency []experiment.LayoutLatency) []gate.Subject {
	var out []gate.Subject
	analysis, judged := r.Last()
	for j, arm := range r.Arms {
		if arm.Twin != "" {
			continue
		}
		s := gate.Subject{Operation: operation, Layout: arm.Name, Reference: r.Arms[r.Config.Baseline].Name, Throughput: notKnown, P99: notKnown}
		if judged {
			e := r.Shown(analysis, j)
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

// Subjects returns the comparison's layouts, each compared with itself in the earlier run.
func (c Comparison) Subjects() []gate.Subject {
	var out []gate.Subject
	for _, f := range c.Operations {
		for _, l := range f.Layouts {
			name := f.Operation
			if len(c.Operations) == 1 {
				name = ""
			}
			s := gate.Subject{Operation: name, Layout: l.Layout, Reference: "before", Throughput: l.change, P99: l.p99}
			if l.P99After != nil {
				s.Took = time.Duration(*l.P99After)
			}
			out = append(out, s)
		}
	}
	return out
}

// Layouts returns the layouts that both runs have.
func (c Comparison) Layouts() []string {
	out := []string{}
	for _, f := range c.Operations {
		for _, l := range f.Layouts {
			if !slices.Contains(out, l.Layout) {
				out = append(out, l.Layout)
			}
		}
	}
	return out
}

// Sentences returns the changes in words, including p99.
func (c Comparison) Sentences() []string {
	var out []string
	for _, f := range c.Operations {
		for _, l := range f.Layouts {
			text := l.Layout + ": " + l.Text
			if l.P99Percent != nil {
				text += "; p99 " + intervalText(l.p99)
			}
			out = append(out, text)
		}
	}
	return out
}

// discarded returns the newest run that threw the same backups away, on the same server and volumes. Its speed is the
// limit that this run's backups can only approach. Nil means there is none.
func discarded(ctx context.Context, st *store.Store, run store.Run) (*Run, error) {
	sc, err := workload.Lookup(run.Plan.Scenario)
	if err != nil || !sc.Stripes || run.Plan.Params.Discard {
		return nil, nil //nolint:nilerr // an unknown scenario has no limit either
	}
	runs, err := st.Runs(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b store.RunInfo) int { return b.Started.Compare(a.Started) })
	for _, info := range runs {
		if info.State != store.Done || info.Scenario != run.Plan.Scenario || info.Engine != run.Plan.Target.Engine {
			continue
		}
		other := &Run{}
		if other.Run, err = st.Run(ctx, info.ID); err != nil {
			return nil, err
		}
		if !throwsAway(other.Plan, run.Plan) {
			continue
		}
		other.Trials, err = st.Trials(ctx, info.ID)
		return other, err
	}
	return nil, nil
}

// throwsAway reports whether a plan makes the same backups as another, and keeps none.
func throwsAway(p, kept experiment.Plan) bool {
	same := p.Params
	same.Discard = false
	return p.Params.Discard && reflect.DeepEqual(same, kept.Params) && reflect.DeepEqual(p.Target, kept.Target) &&
		slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool {
			return slices.ContainsFunc(kept.Layouts, func(k filewise.Layout) bool { return l.Backup.Files == k.Backup.Files })
		})
}
