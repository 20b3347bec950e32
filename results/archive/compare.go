package archive

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/results/gate"
	"filewise/results/store"
)

// ComparisonSchema is the version of a comparison's JSON document.
const ComparisonSchema = "filewise-comparison/1"

// UsualConfidence is the confidence of a comparison's intervals, unless set otherwise.
const UsualConfidence = 0.95

// Comparison holds the changes between two runs that share layouts.
type Comparison struct {
	Schema      string             `json:"schema"`
	Before      int64              `json:"before"` // run
	After       int64              `json:"after"`
	BeforeName  string             `json:"before_name,omitempty"` // what the user calls the run
	AfterName   string             `json:"after_name,omitempty"`
	Confidence  float64            `json:"confidence"`
	Differences []Difference       `json:"differences"`
	Operations  []OperationChanges `json:"families"`
	Left        []string           `json:"layouts_not_in_both"`
	// Few reports that runs have too few blocks to claim a change, so that only estimates are shown. It is empty if they
	// have enough blocks.
	Few  string         `json:"estimates_only,omitempty"`
	Gate []gate.Outcome `json:"gate,omitempty"` // outcomes of the conditions of --fail-if

	runs [2]store.Run
}

type OperationChanges struct {
	Operation string   `json:"family,omitempty"`
	Unit      string   `json:"unit,omitempty"` // of the work: "rows"
	Layouts   []Change `json:"layouts"`
}

// Change holds a layout's change in percent. Null means not known.
type Change struct {
	Layout       string   `json:"layout"`
	TrialsBefore int      `json:"trials_before"`
	TrialsAfter  int      `json:"trials_after"`
	Before       *float64 `json:"throughput_before"` // typical
	After        *float64 `json:"throughput_after"`
	Percent      *float64 `json:"change_percent"`
	Low          *float64 `json:"change_low"`
	High         *float64 `json:"change_high"`
	Resolved     bool     `json:"resolved"`          // the interval excludes no change
	Relative     *float64 `json:"difference_change"` // of the difference from the baseline
	RelativeLow  *float64 `json:"difference_low"`
	RelativeHigh *float64 `json:"difference_high"`
	P50Before    *int64   `json:"p50_before_ns,omitempty"` // median of latency
	P50After     *int64   `json:"p50_after_ns,omitempty"`
	P99Before    *int64   `json:"p99_before_ns,omitempty"` // 99th percentile of latency
	P99After     *int64   `json:"p99_after_ns,omitempty"`
	P999Before   *int64   `json:"p999_before_ns,omitempty"`
	P999After    *int64   `json:"p999_after_ns,omitempty"`
	P99Percent   *float64 `json:"p99_change_percent,omitempty"`
	P99Low       *float64 `json:"p99_change_low,omitempty"`
	P99High      *float64 `json:"p99_change_high,omitempty"`
	Text         string   `json:"text"` // the same as it is shown

	change, relative, p99 gate.Interval // the same on the log scale
}

// Compare compares two runs. confidence is the intervals' confidence (0.95), over all layouts together. Runs that
// differ in what must be equal are refused with code usage, unless meant names the difference (see MeantNames).
func Compare(before, after Run, confidence float64, meant []string) (Comparison, error) {
	out := Comparison{Schema: ComparisonSchema, Before: before.ID, After: after.ID, BeforeName: before.Plan.Name, AfterName: after.Plan.Name,
		Confidence:  confidence,
		Differences: append([]Difference{}, differences(before.judgedBy(), after.judgedBy(), meant)...), Left: []string{},
		runs: [2]store.Run{before.Run, after.Run}}
	if before.ID == after.ID {
		return out, filewise.Errorf(filewise.CodeUsage, "name two runs", "run %d cannot be compared with itself", before.ID)
	}
	if why, remedy := refusal(out.Differences); len(why) > 0 {
		if slices.ContainsFunc(out.Differences, func(d Difference) bool { return d.Kind == Refused && d.What == rulesWord }) {
			remedy = fmt.Sprintf("judge both by the same, such as --rules %d", max(before.Plan.JudgedBy(), after.Plan.JudgedBy()))
		}
		return out, filewise.Errorf(filewise.CodeUsage, remedy, "runs %d and %d cannot be compared: they differ in %s", before.ID, after.ID,
			strings.Join(why, ", "))
	}
	a, err := before.samples()
	if err != nil {
		return out, err
	}
	b, err := after.samples()
	if err != nil {
		return out, err
	}
	common := inBoth(a, b)
	for _, of := range common {
		level := confidence
		if of[0].Config.Rules >= experiment.JointFrom { // all intervals hold together
			level = 1 - (1-confidence)/float64(len(common))
		}
		if err := out.operation(of[0], of[1], before.Plan.Baseline, level); err != nil {
			return out, err
		}
		out.Operations[len(out.Operations)-1].Unit = unitOf(after.Trials, of[1].Operation)
	}
	if len(out.Operations) == 0 {
		return out, filewise.Errorf(filewise.CodeUsage, "compare runs of the same workload",
			"runs %d and %d have no operation in common", before.ID, after.ID)
	}
	out.Left = notInBoth(before.Plan, after.Plan)
	return out, nil
}

// inBoth pairs the operations that two runs have in common.
func inBoth(before, after []experiment.OperationSample) [][2]experiment.OperationSample {
	var out [][2]experiment.OperationSample
	for _, x := range before {
		for _, y := range after {
			if x.Operation == y.Operation {
				out = append(out, [2]experiment.OperationSample{x, y})
			}
		}
	}
	return out
}

// claimFrom returns the number of blocks that each run needs to claim a change. 0 means no more than Compare needs.
func claimFrom(x, y experiment.OperationSample) int {
	if x.Config.Rules < experiment.JointFrom || y.Config.Rules < experiment.JointFrom {
		return 0
	}
	return max(x.Config.FirstClaim(len(x.Arms)), y.Config.FirstClaim(len(y.Arms)))
}

// estimatesOnly removes the limits of changes that rest on too few blocks to claim a change.
func (c *Comparison) estimatesOnly(changes []verdict.Change, from int) {
	nan := math.NaN()
	for i := range changes {
		k := &changes[i]
		if min(k.Before, k.After) >= from {
			continue
		}
		k.Lo, k.Hi, k.RelativeLo, k.RelativeHi = nan, nan, nan, nan
		c.Few = fmt.Sprintf("Estimates only if a run has fewer than %d blocks of a layout: so many it takes to claim a change.", from)
	}
}

func (c *Comparison) operation(x, y experiment.OperationSample, baseline string, confidence float64) error {
	changes, err := verdict.Compare(x.Sample, y.Sample, baseline, confidence)
	if errors.Is(err, verdict.ErrTable) {
		return filewise.Errorf(filewise.CodeUsage, "compare runs that share layouts, with complete blocks", "runs %d and %d: %w", c.Before,
			c.After, err)
	}
	if err != nil {
		return err
	}
	f := OperationChanges{Operation: x.Operation}
	slower, err := latencies(x, y, confidence)
	if err != nil {
		return err
	}
	from := claimFrom(x, y)
	c.estimatesOnly(changes, from)
	c.estimatesOnly(slower, from)
	for _, k := range changes {
		doc := Change{
			Layout: k.Arm, TrialsBefore: k.Before, TrialsAfter: k.After, Resolved: k.Resolved(),
			Before: positive(k.Levels[0]), After: positive(k.Levels[1]), Percent: percentOf(k.Effect), Low: percentOf(k.Lo), High: percentOf(k.Hi),
			Relative: percentOf(k.Relative), RelativeLow: percentOf(k.RelativeLo), RelativeHigh: percentOf(k.RelativeHi),
			change:   gate.Interval{Effect: k.Effect, Lo: k.Lo, Hi: k.Hi},
			relative: gate.Interval{Effect: k.Relative, Lo: k.RelativeLo, Hi: k.RelativeHi}, p99: notKnown,
		}
		doc.P50Before, doc.P99Before, doc.P999Before = latencyOf(x, k.Arm)
		doc.P50After, doc.P99After, doc.P999After = latencyOf(y, k.Arm)
		for _, l := range slower {
			if l.Arm == k.Arm { // of the inverse of p99
				doc.p99 = gate.Interval{Effect: -l.Effect, Lo: -l.Hi, Hi: -l.Lo}
				doc.P99Percent, doc.P99Low, doc.P99High = percentOf(-l.Effect), percentOf(-l.Hi), percentOf(-l.Lo)
			}
		}
		doc.Text = changeWords(doc)
		f.Layouts = append(f.Layouts, doc)
	}
	c.Operations = append(c.Operations, f)
	return nil
}

// latencies returns the changes of the inverse of p99, or none if p99 is not known.
func latencies(x, y experiment.OperationSample, confidence float64) ([]verdict.Change, error) {
	x.Table, y.Table = x.P99, y.P99
	changes, err := verdict.Compare(x.Sample, y.Sample, "", confidence)
	if errors.Is(err, verdict.ErrTable) {
		return nil, nil
	}
	return changes, err
}

// latencyOf returns p50, p99 and p99.9 of a layout over all trials. Nil means not known.
func latencyOf(s experiment.OperationSample, layout string) (p50, p99, p999 *int64) {
	for _, l := range s.Latency {
		if l.Layout == layout {
			median, tail, last := l.P50.Nanoseconds(), l.P99.Nanoseconds(), l.P999.Nanoseconds()
			return &median, &tail, &last
		}
	}
	return nil, nil, nil
}

// unitOf returns the unit of an operation's work.
func unitOf(trials []filewise.Trial, operation string) string {
	for _, t := range trials {
		for _, m := range t.Measures {
			if m.Operation == operation {
				return m.Unit
			}
		}
	}
	return ""
}

func positive(x float64) *float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func percentOf(effect float64) *float64 {
	p := verdict.Percent(effect)
	if math.IsNaN(p) || math.IsInf(p, 0) {
		return nil
	}
	return &p
}

// notInBoth returns the layouts that only one of the runs has.
func notInBoth(p, q experiment.Plan) []string {
	a, b := filewise.LayoutNames(p.Layouts), filewise.LayoutNames(q.Layouts)
	return slices.DeleteFunc(slices.Concat(a, b), func(name string) bool { return slices.Contains(a, name) && slices.Contains(b, name) })
}

// changeWords returns a layout's change in words.
func changeWords(l Change) string {
	switch {
	case l.Percent == nil || l.Low == nil && l.TrialsBefore == 0:
		return "too few trials"
	case l.Low == nil:
		return fmt.Sprintf("%s, an estimate of %d and %d trials: no change is proven", intervalText(l.change), l.TrialsBefore, l.TrialsAfter)
	}
	s := fmt.Sprintf("%s, of %d and %d trials", intervalText(l.change), l.TrialsBefore, l.TrialsAfter)
	if !l.Resolved {
		s += ": no change is proven"
	}
	if l.Relative != nil && l.RelativeLow != nil && !say.Unresolvable(l.relative.Lo, l.relative.Hi) {
		s += "; its ratio to the baseline " + intervalText(l.relative)
	}
	return s
}
