package verdict

import (
	"math"
	"strconv"
)

// Decision is the next step that a result advises a DBA to take.
type Decision string

// Values of Decision.
const (
	DecisionUse  Decision = "use"  // Answer.Arm is proven faster, and none is faster than it by more than the tolerance
	DecisionKeep Decision = "keep" // keep the baseline: at most Answer.Bound can be gained, which is within Answer.Margin
	DecisionMore Decision = "more" // several arms may be best; of those proven faster, Answer.Arm has the fewest files
	DecisionOpen Decision = "open" // keep the baseline for now: more than Answer.Margin can still be gained
	DecisionNone Decision = "none" // too few trials, or no verdict is possible on them
)

// widestKeep is the largest possible gain at which the decision may still be to keep the baseline, log scale.
var widestKeep = math.Log(1.05)

// Answer is the decision that a result allows.
type Answer struct {
	Decision Decision
	Arm      int // to use or to keep; −1 if there is no decision
	// Bound is the most that any tested arm can gain over the baseline, log scale. It is a one-sided bound over all analyses
	// that holds together with the intervals. It is NaN if not known.
	Bound float64
	// Margin is the value that Bound is compared with, log scale: the plan's margin, or 5 % if that is more and Bound is
	// within it.
	Margin float64
	// Gain is the smallest gain proven for any of the arms that are faster, log scale. It is 0 unless the decision is
	// DecisionMore.
	Gain float64
}

// Decided reports whether the answer is a final decision.
func (a Answer) Decided() bool {
	return a.Decision == DecisionUse || a.Decision == DecisionKeep || a.Decision == DecisionMore
}

// Answer returns the decision after the last analysis.
func (r Result) Answer() Answer {
	a := Answer{Decision: DecisionNone, Arm: -1, Bound: math.NaN(), Margin: r.Config.Margin}
	analysis, ok := r.Last()
	_, _, failed := r.AAFailed()
	if !ok || failed || analysis.CarryOver || analysis.Changed || analysis.Block < r.FirstClaim() {
		return a
	}
	base := r.Config.Baseline
	a.Bound = analysis.Estimates[base].WorstLoss
	switch {
	case analysis.Recommended >= 0 && analysis.Recommended != base:
		a.Decision, a.Arm = DecisionUse, analysis.Recommended
	case r.anyBetter(analysis):
		a.Decision, a.Arm = DecisionMore, r.fewestBetter(analysis)
		_, a.Gain = r.better(analysis)
	case !finite(a.Bound):
	case a.Bound <= a.Margin:
		a.Decision, a.Arm = DecisionKeep, base
	case a.Bound <= widestKeep:
		a.Decision, a.Arm, a.Margin = DecisionKeep, base, widestKeep
	default:
		a.Decision, a.Arm = DecisionOpen, base
	}
	return a
}

// anyBetter reports whether an arm is proven faster than the baseline. It need not be the leader, whose trials may be
// too noisy to prove anything.
func (r Result) anyBetter(analysis Analysis) bool { return r.fewestBetter(analysis) >= 0 }

// fewestBetter returns the arm with the fewest files among the candidates for best that are proven faster. It returns
// −1 if there is none.
func (r Result) fewestBetter(analysis Analysis) int {
	best := -1
	for j, e := range analysis.Estimates {
		if j != r.Config.Baseline && e.Candidate && e.Lo > 0 && (best < 0 || r.Arms[j].Rank < r.Arms[best].Rank) {
			best = j
		}
	}
	return best
}

// DecisionDoc is an Answer in JSON documents. Unknown numbers are null.
type DecisionDoc struct {
	Decision Decision `json:"decision"`
	Layout   string   `json:"layout,omitempty"` // to use or to keep
	// BoundPercent is the most that any tested layout can gain over the baseline. BoundPercent is compared with
	// MarginPercent.
	BoundPercent  *float64 `json:"bound_percent"`
	MarginPercent float64  `json:"margin_percent"`
}

// Document returns the decision after the last analysis, in the form of JSON documents.
func (r Result) Document() DecisionDoc {
	a := r.Answer()
	out := DecisionDoc{Decision: a.Decision, MarginPercent: Percent(a.Margin)}
	if a.Arm >= 0 {
		out.Layout = r.Arms[a.Arm].Name
	}
	if most := Percent(a.Bound); finite(most) {
		out.BoundPercent = &most
	}
	return out
}

// Properties returns the decision as names and values. Unknown values are omitted.
func (d DecisionDoc) Properties(operation string) [][2]string {
	name := func(of string) string {
		if operation == "" {
			return "filewise." + of
		}
		return "filewise." + of + "." + operation
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	out := [][2]string{{name("decision"), string(d.Decision)}}
	if d.Layout != "" {
		out = append(out, [2]string{name("layout"), d.Layout})
	}
	if d.BoundPercent != nil {
		out = append(out, [2]string{name("bound_percent"), number(*d.BoundPercent)})
	}
	return append(out, [2]string{name("margin_percent"), number(d.MarginPercent)})
}
