package experiment

import (
	"fmt"
	"math"
	"slices"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// JointFrom is the first version of the rules by which each operation has an equal share of the error.
const JointFrom = 3

// shares returns the indexes of the operations that have a share of the error, and of the operations that are only
// estimated.
func (p Plan) shares() (shared, estimated []int) {
	for f, name := range p.operations() {
		if slices.Contains(p.Estimated, name) {
			estimated = append(estimated, f)
		} else {
			shared = append(shared, f)
		}
	}
	return shared, estimated
}

// judged returns the results of the operations that have a share of the error.
func (p Plan) judged(results []verdict.Result) []verdict.Result {
	if len(p.Estimated) == 0 || len(results) == 0 {
		return results
	}
	var out []verdict.Result
	shared, _ := p.shares()
	for _, f := range shared {
		out = append(out, results[f])
	}
	return out
}

// tooShort returns the plan with the operations excluded from judging whose operations are too short in the pilots
// (median over all layouts). It returns false if there is none, or if a block was measured. It also returns false if
// all are too short: then all are judged, and the broken condition reports it. Rules 1 and 2 exclude none.
func (s standing) tooShort() (Plan, bool) {
	p := s.plan
	if _, open := s.nextPilot(); open || s.last > 0 || p.JudgedBy() < JointFrom || len(p.Estimated) > 0 || p.AsPublished != nil {
		return p, false
	}
	a := s.asked(nil)
	for _, operation := range p.Operations() {
		took, unit, ok := a.typicalTime(operation)
		if ok && took < workload.LeastOf(unit) {
			p.Estimated = append(p.Estimated, operation)
		}
	}
	return p, len(p.Estimated) > 0 && len(p.Estimated) < len(p.Operations())
}

// estimates returns the report's lines on an operation that is too short to judge.
func (s standing) estimates(f int, name string) []string {
	took, unit, _ := s.asked(nil).typicalTime(name)
	out := []string{fmt.Sprintf("Not judged: %s takes %s, too short to distinguish layouts (at least %s). Estimates only.", name,
		say.Seconds(took), say.Seconds(workload.LeastOf(unit)))}
	if analysis, ok := s.results[f].Last(); ok {
		for j, e := range analysis.Estimates {
			if arm := s.results[f].Arms[j].Name; arm != s.plan.Baseline && !math.IsNaN(e.Effect) {
				out = append(out, fmt.Sprintf("%s: about %s against %s (%s).", arm, say.Difference(e.Effect), s.plan.Baseline,
					filewise.Counted(e.N, "trial")))
			}
		}
	}
	return out
}

// JudgeOperations judges the operations of one experiment so that all claims together have the error alpha. From rules 3 on
// each operation has an equal share of the error (Bonferroni), so that intervals and bounds hold together too. By rules 1
// and 2 Holm's procedure sets the shares, and only claims hold together. With 11 of 12 operations decided, up to 9 % of
// experiments then had an interval that missed the truth.
func JudgeOperations(rules int, alpha float64, operations int, judge func(f int, confidence float64) (verdict.Result, error),
) ([]verdict.Result, error) {
	if rules < JointFrom {
		return Holm(alpha, operations, judge)
	}
	results := make([]verdict.Result, operations)
	for f := range results {
		var err error
		if results[f], err = judge(f, 1-alpha/float64(operations)); err != nil {
			return results, err
		}
	}
	return results, nil
}

// Holm judges the operations of one experiment so that all claims together have the error alpha (Holm 1979). Each of m
// operations is first judged with α/m. When k of them are decided, the others are judged with α/(m−k), and so on. A
// operation's earlier analyses also count at its new level, because the sequential test at that level is a separate test
// (Maurer and Bretz 2013, for group sequential designs).
func Holm(alpha float64, operations int, judge func(f int, confidence float64) (verdict.Result, error)) ([]verdict.Result, error) {
	results := make([]verdict.Result, operations)
	decided := make([]bool, operations)
	for left := operations; left > 0; {
		level := alpha / float64(left)
		for f := range results {
			if decided[f] {
				continue
			}
			var err error
			if results[f], err = judge(f, 1-level); err != nil {
				return results, err
			}
		}
		before := left
		for f := range results {
			if !decided[f] && claims(results[f]) {
				decided[f] = true
				left--
			}
		}
		if left == before {
			break
		}
	}
	return results, nil
}

// claims reports whether an operation's verdict is a claim: the baseline kept, a layout recommended, or every layout
// resolved.
func claims(r verdict.Result) bool {
	analysis, ok := r.Last()
	if !ok {
		return false
	}
	switch analysis.Stop {
	case verdict.ReasonKeepBaseline, verdict.ReasonRecommend, verdict.ReasonAllResolved:
		return true
	}
	return false
}

// OperationDecision is the decision on one operation.
type OperationDecision struct {
	Operation string `json:"family,omitempty"` // empty if it is the only operation
	verdict.DecisionDoc
}

// Decisions returns the judgement's decisions, one for each operation.
func (j Judgement) Decisions() []OperationDecision {
	var out []OperationDecision
	for _, f := range j.Operations {
		one := OperationDecision{f.Name, f.Result.Document()}
		if len(j.Operations) == 1 {
			one.Operation = ""
		}
		out = append(out, one)
	}
	return out
}
