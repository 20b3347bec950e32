package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/experiment"
	"filewise/verdict"
)

// view is what every format shows, worked out once from the data.
type view struct {
	Data
	Family string // of the measure that is judged; empty: nothing measured
	Unit   string // of its work: "rows"
	Look   verdict.Look
	Judged bool // there is a look, and Look is the last
	Base   int  // index of the baseline in Rows
	Rows   []row
	Trials []trial
	Rate   rate   // in which the table gives bytes per second
	Name   string // of the family, where the run has several
	whole  *Data  // the run with all its families, where it has several
}

// newView is of the run; where it has several families, of the leading one, with
// all of them as Families.
func newView(d Data) view {
	if len(d.Judgement.Families) == 0 {
		return viewOf(d)
	}
	of := leading(d)
	v := viewOf(ofFamily(d, of))
	v.Name, v.whole, v.Judgement.Families = of.Name, &d, d.Judgement.Families
	v.Plan.Confidence = d.Plan.Confidence
	return v
}

func viewOf(d Data) view {
	v := view{Data: d}
	v.Look, v.Judged = d.Judgement.Result.Last()
	v.Family, v.Unit = judged(d.Trials)
	v.Base = slices.IndexFunc(d.Plan.Layouts, func(l filewise.Layout) bool { return l.Name == d.Plan.Baseline })
	v.Trials = v.trials()
	for _, l := range d.Plan.Layouts {
		v.Rows = append(v.Rows, v.row(l))
	}
	v.flagDownWeighted()
	fastest := 0.0
	for _, r := range v.Rows {
		if known(r.Bytes) {
			fastest = max(fastest, r.Bytes)
		}
	}
	v.Rate = rateFor(fastest)
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

// Headline is the verdict in one sentence, or why there is none.
func (v view) Headline() string {
	if v.whole != nil {
		return summary(*v.whole)
	}
	if s := v.Judgement.Sentences; len(s) > 0 {
		return s[0]
	}
	if why := v.Judgement.Decision.Why; why != "" {
		return "No verdict: " + why + "."
	}
	return fmt.Sprintf("No verdict yet: %d of the %d blocks that a verdict needs are complete.", v.Judgement.Result.Blocks, verdict.FirstLook)
}

// Further are the sentences after the headline.
func (v view) Further() []string {
	if v.whole != nil {
		var out []string
		for _, f := range v.Families() {
			out = append(out, f.Name+": "+f.Headline())
		}
		return out
	}
	if s := v.Judgement.Sentences; len(s) > 1 {
		return s[1:]
	}
	return nil
}

// Gain is the sentence about the recommended layout; empty when there is none
// or it is the baseline.
func (v view) Gain() string {
	if v.whole != nil {
		return ""
	}
	r := v.recommended()
	if r == nil {
		return ""
	}
	for _, s := range v.Further() {
		if strings.HasPrefix(s, r.Name+": ") {
			return s
		}
	}
	return ""
}

// Stopped says why measuring stopped when it did; empty when the headline does,
// or when other rules decide than those that stopped it.
func (v view) Stopped() string {
	if v.Rejudged {
		return ""
	}
	d := v.Judgement.Decision
	if d.Ending == experiment.GoesOn {
		s := "The run is not finished"
		if v.State != "" {
			s += " (" + v.State + ")"
		}
		return s + fmt.Sprintf("; filewise resume %d goes on with the next trial.", v.RunID)
	}
	why := d.Why
	if why == "" {
		why = string(d.Ending)
	}
	if strings.Contains(v.Headline(), why) {
		return ""
	}
	if strings.HasPrefix(why, "stopped ") {
		return sentence(why) + "."
	}
	return "Measuring stopped: " + why + "."
}

// Outside are the finished trials that the verdict does not use yet, because
// their block is not complete or no look was taken. Of trials in complete blocks
// that come after the decision the verdict itself warns.
func (v view) Outside() int {
	n := 0
	for _, t := range v.Trials {
		if t.Kind != kindPilot && t.Kind != kindFailed && (!v.Judged || t.Cell.Block > max(v.Look.Block, v.Judgement.Result.Blocks)) {
			n++
		}
	}
	return n
}

// Confidence is that of the intervals: "95 %".
func (v view) Confidence() string {
	if v.Plan.Confidence <= 0 {
		return absent
	}
	return confidence(v.Plan.Confidence)
}

// OneInstance is the verdict's limit where layouts ran on a single build; empty:
// there is none.
func (v view) OneInstance() string {
	for _, w := range v.Judgement.Result.Warnings {
		if w.Code == verdict.WarnOneInstance {
			return w.Message
		}
	}
	return ""
}

// Margin is the difference that does not matter: "2 %".
func (v view) Margin() string {
	if v.Plan.Margin <= 0 {
		return absent
	}
	return strconv.FormatFloat(v.Plan.Margin, 'f', -1, 64) + " %"
}

// Seed is the seed as it is typed.
func (v view) Seed() string { return strconv.FormatUint(v.Plan.Seed, 10) }

// Command repeats the experiment.
func (v view) Command() string { return shellLine(v.Plan.Command) }

// ShowCommand shows this report again.
func (v view) ShowCommand() string { return fmt.Sprintf("filewise report %d", v.RunID) }

// Rules says by which rules a run was judged anew, and what that means; empty for
// a run that is judged by its own.
func (v view) Rules() string {
	if !v.Rejudged {
		return ""
	}
	return fmt.Sprintf("Judged anew with baseline %s, margin ±%s, confidence %s, goal %s. Rules chosen after looking at the trials weaken the confidence stated.",
		v.Plan.Baseline, v.Margin(), v.Confidence(), v.Plan.Goal)
}

// Shows names the command that shows a run judged anew as it was stored.
func (v view) Shows() string { return fmt.Sprintf("filewise show %d", v.RunID) }

// UnitRate is the unit of throughput: "rows/s".
func (v view) UnitRate() string {
	switch v.Unit {
	case "":
		return "throughput"
	case filewise.UnitTimes:
		return "time"
	}
	return v.Unit + "/s"
}

// Footnotes say what the table's numbers are, where that is not plain.
func (v view) Footnotes() []string {
	var out []string
	if s := v.retriedText(); v.whole != nil && s != "" { // the rest is the families' own
		return []string{s}
	} else if v.whole != nil {
		return nil
	}
	medians := false
	for _, r := range v.Rows {
		medians = medians || r.Median && known(r.Typical)
	}
	if medians {
		out = append(out, "Throughput is the median of the trials, for want of a verdict.")
	}
	if s := v.dropped(); s != "" {
		out = append(out, s)
	}
	if s := v.retriedText(); s != "" {
		out = append(out, s)
	}
	if n := v.Outside(); n > 0 && v.Judged {
		out = append(out, count(n, "trial")+" of a block that is not complete "+isAre(n)+" not in the verdict.")
	}
	return out
}

// dropped lists the layouts that are no longer measured; empty: none.
func (v view) dropped() string {
	var parts []string
	for _, r := range v.Rows {
		if at := r.Estimate.DroppedAt; at > 0 {
			parts = append(parts, fmt.Sprintf("%s after block %d", r.Name, at))
		}
	}
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return "Dropped, since not the best: " + parts[0] + "; its difference is as of then."
	}
	return "Dropped, since not the best: " + strings.Join(parts, ", ") + "; their differences are as of then."
}

// OfWhich ends a heading with the family that it is about, where the run has
// several: " (overall)".
func (v view) OfWhich() string {
	if v.whole == nil {
		return ""
	}
	return " (" + v.Name + ")"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Notices are the warnings, each as a sentence.
func (v view) Notices() []filewise.Warning { return Notices(v.Judgement.Warnings) }
