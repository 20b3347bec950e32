package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/results/report/document"
)

// Summary returns the verdict over several operations in plain words.
func Summary(baseline string, operations []experiment.Operation) string {
	text := advice(baseline, operations)
	var failed []string
	for _, f := range operations {
		if _, _, bad := f.Result.AAFailed(); bad {
			failed = append(failed, f.Name)
		}
	}
	if len(failed) > 0 {
		return "Do not rely on this: the A/A check failed (" + strings.Join(failed, ", ") + "). " + text
	}
	return text
}

func advice(baseline string, operations []experiment.Operation) string {
	if !slices.ContainsFunc(operations, judgedAtAll) {
		if s := operations[0].Sentences; len(s) > 0 {
			return s[0]
		}
		return noVerdictYet(operations[0].Result)
	}
	overall, singly := outcomesOf(operations)
	hasOverall := slices.ContainsFunc(operations, func(f experiment.Operation) bool { return f.Name == experiment.OperationOverall })
	var parts []string
	single := len(operations)
	if hasOverall {
		single--
	}
	for _, o := range singly {
		parts = append(parts, o.words(baseline, single))
	}
	switch text := strings.Join(parts, "; "); {
	case len(singly) == 1 && singly[0].decision == "" && singly[0].layout == "" && (overall == nil || overall.layout == ""):
		return fmt.Sprintf("Undecided: no layout is proven to be the best for any of the %d operations. More blocks (--budget) "+
			"or a wider --margin would resolve it.", single)
	case !hasOverall:
		return say.Sentence(text) + "."
	case overall.layout == "" && overall.decision == "":
		return "Undecided over all operations together. Singly: " + text + "."
	case overall.layout == "":
		return "No layout is settled over all operations together. Singly: " + text + "."
	default:
		return fmt.Sprintf("Over all operations together: %s. Singly: %s.", adviceOn(overall.layout, baseline), text)
	}
}

func judgedAtAll(f experiment.Operation) bool {
	_, judged := f.Result.Last()
	return judged
}

// outcome holds one decision about some operations. Its layout is the one to use or to keep, and is empty if the decision
// is open.
type outcome struct {
	decision   verdict.Decision
	layout     string
	operations []string
	bound      float64 // largest difference that is still open in any of the operations, log scale
	gain       float64 // smallest gain proven for any of the operations if more files help, log scale
}

// estimated is the decision on operations that have too few blocks to judge.
const estimated verdict.Decision = "estimated"

// words returns the outcome in words. all is the number of operations.
func (o outcome) words(baseline string, all int) string {
	names := operationNames(o.operations)
	if n := len(o.operations); n == all && len(names) > 40 {
		names = fmt.Sprintf("all %d operations", n)
	}
	switch {
	case o.layout != "":
		return adviceOn(o.layout, baseline) + " for " + names
	case o.decision == estimated:
		return "only estimates for " + names + ", too short to judge"
	case o.decision == "":
		return "undecided for " + names
	case o.decision == verdict.DecisionMore:
		return fmt.Sprintf("more files help for %s (at least %s), the best number is open", names, gained(o.gain, baseline))
	case o.decision == verdict.DecisionOpen && say.Unresolvable(0, o.bound):
		return fmt.Sprintf("keep %s for now for %s, whose trials differ too much to exclude anything", baseline, names)
	case o.decision == verdict.DecisionOpen && say.Known(o.bound):
		return fmt.Sprintf("keep %s for now for %s: up to %s is open", baseline, names, say.Bound(o.bound))
	}
	return "no verdict for " + names
}

// gained describes a gain over the baseline.
func gained(gain float64, baseline string) string {
	text := say.Difference(gain)
	if strings.HasSuffix(text, "times") {
		return text + " the throughput of " + baseline
	}
	return text + " over " + baseline
}

// outcomesOf returns the outcome of the overall operation, or nil if there is none, and the outcomes of single operations,
// decided ones first.
func outcomesOf(operations []experiment.Operation) (overall *outcome, singly []outcome) {
	for _, f := range operations {
		a := f.Result.Answer()
		o := outcome{decision: a.Decision, operations: []string{f.Name}, bound: a.Bound, gain: a.Gain}
		switch {
		case f.Estimated:
			o.decision = estimated
		case f.Result.Config.Rules <= 2: // such verdicts read as they did before
			o.decision, o.layout = "", f.Result.RecommendedName()
		case a.Decision == verdict.DecisionUse || a.Decision == verdict.DecisionKeep:
			o.layout = f.Result.Arms[a.Arm].Name
		}
		same := func(x outcome) bool {
			return x.layout == o.layout && (o.layout != "" || x.decision == o.decision)
		}
		switch i := slices.IndexFunc(singly, same); {
		case f.Name == experiment.OperationOverall:
			overall = &o
		case i < 0:
			singly = append(singly, o)
		default:
			singly[i].operations = append(singly[i].operations, f.Name)
			singly[i].bound, singly[i].gain = max(singly[i].bound, o.bound), min(singly[i].gain, o.gain)
		}
	}
	slices.SortStableFunc(singly, func(x, y outcome) int { return cmp.Compare(x.order(), y.order()) })
	return overall, singly
}

// order returns 0 for a decided outcome, otherwise 1.
func (o outcome) order() int {
	if o.layout == "" {
		return 1
	}
	return 0
}

func adviceOn(layout, baseline string) string {
	if layout == baseline {
		return "keep " + layout
	}
	return "use " + layout
}

// mostWarnings is the most warnings on a screen. The report has all.
const mostWarnings = 3

// answer returns the screen's part before the table: the headline, the latency loss, stalls, and the rules if they are
// not the run's own.
func (v view) answer() document.Block {
	out := v.headlined()
	for _, s := range []string{v.latencyLoss(), v.Judgement.Stalls(), v.rules()} {
		if s != "" {
			out = append(out, document.Line{Text: s})
		}
	}
	return document.OnScreen(out...)
}

// answerTable returns the table of the layouts, or of all operations.
func (v view) answerTable() document.Block {
	table := document.Tabulate(document.Table{Caption: "The answer"}, v.Rows, v.layoutColumns()...)
	out := []document.Block{table}
	if v.several() {
		out = []document.Block{v.overviewLines()}
	}
	for _, s := range v.footnotes() {
		if s != "" {
			out = append(out, document.Note(s))
		}
	}
	return document.OnScreen(out...)
}

// answerRest returns the main reason, the first warnings, and the command for the report.
func (v view) answerRest() document.Block {
	var out []document.Block
	if s := v.causeInShort(); s != "" {
		out = append(out, document.Brief(s))
	}
	all, scope := v.ranked()
	for _, w := range all[:min(len(all), mostWarnings)] {
		out = append(out, document.Notice{Message: w.Message})
	}
	if s := ScopeText(scope, false); s != "" {
		out = append(out, document.Brief(s))
	}
	more := "Report: "
	if n := len(all) - mostWarnings; n > 0 {
		more = fmt.Sprintf("%d more in the report: ", n)
	}
	rest := say.Joined(" ", v.stopped(), more+v.showCommand()+", or on the terminal: filewise show "+strconv.FormatInt(v.RunID, 10)+".")
	if v.Rejudged {
		rest = v.storedVerdict()
	}
	return document.OnScreen(append(out, document.Note(rest))...)
}

// causeInShort returns the first quantity that changed with the difference, without its interval. It takes the first
// operation in which another layout than the baseline wins. If nothing changed, it returns the split of the time.
func (v view) causeInShort() string {
	f := v
	if i := slices.IndexFunc(v.parts, func(f view) bool { r := f.recommended(); return r != nil && !r.Baseline }); v.several() && i >= 0 {
		f = v.parts[i]
	}
	c := f.of.Cause
	if c == nil || len(c.Sentences) == 0 {
		return v.relevance()
	}
	text := c.Sentences[0]
	if i := strings.LastIndex(text, " ("); i > 0 && strings.HasSuffix(text, ").") && strings.Contains(text[i:], "interval") {
		text = text[:i] + "."
	}
	return say.Joined(", ", "Why", f.Name) + ": " + text
}

// latencyLoss reports that the layout to use is slow where it matters, and names the option that excludes such layouts.
// It is empty if the layout is not slow.
func (v view) latencyLoss() string {
	words := v.Judgement.LatencyLoss()
	if words != "" && slices.Contains(v.Scenario.Flags, "p99-limit") {
		words += " Set --p99-limit to bar layouts that take longer."
	}
	return words
}
