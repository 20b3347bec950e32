package verdict

import (
	"fmt"
	"math"
	"strings"
)

// advice3 returns the headline since rules 3: the decision, its size and confidence, then what to do.
func advice3(r Result, opts WordsOptions) string {
	analysis, ok := r.Last()
	if !ok {
		return r.tooSoon(r.Blocks, opts)
	}
	switch a := r.Answer(); a.Decision {
	case DecisionUse:
		return r.use(analysis, a)
	case DecisionMore:
		return r.more(analysis, a)
	case DecisionKeep:
		if a.Bound == 0 {
			return fmt.Sprintf("Keep %s: no tested layout is faster (%s confidence).", r.base(), level(r.Config.Confidence))
		}
		return fmt.Sprintf("Keep %s: at most %s can be gained by any tested layout (%s confidence).", r.base(), above(a.Bound),
			level(r.Config.Confidence))
	case DecisionOpen:
		return r.open(analysis, a, opts)
	default:
		return r.noVerdict(analysis, opts)
	}
}

// ToDo separates a headline's decision from the action that follows from it.
const ToDo = " What to do: "

// Add appends a sentence to a headline's decision, before the action.
func Add(headline, sentence string) string {
	decision, action, found := strings.Cut(headline, ToDo)
	if decision += sentence; found {
		decision += ToDo + action
	}
	return decision
}

func (r Result) base() string { return r.Arms[r.Config.Baseline].Name }

// noVerdict returns the headline if there is no decision, with the reason.
func (r Result) noVerdict(analysis Analysis, opts WordsOptions) string {
	switch {
	case analysis.CarryOver:
		return "No verdict: each trial affects the one after it, so the differences cannot be attributed to the layouts." +
			ToDo + "set a longer --warm-up or --window."
	case analysis.Changed:
		return "No verdict: the effect of a layout changed during the run, so that the limits of earlier and later blocks exclude each " +
			"other." + ToDo + "see \"Every trial\" for when, remove the cause, and run again."
	case analysis.Block < r.FirstClaim():
		return r.tooSoon(analysis.Block, opts)
	}
	if base := analysis.Estimates[r.Config.Baseline]; base.N < FirstAnalysis {
		return fmt.Sprintf("No verdict: of %s, the baseline, only %d of %s succeeded, too few for any comparison."+ToDo+
			"see why they failed, or choose another with --baseline.", r.base(), base.N, plural(analysis.Block, "trial"))
	}
	for j, e := range analysis.Estimates {
		if e.unvarying() {
			return fmt.Sprintf("No verdict: the ratio of %s to %s does not vary at all, so its error is unknown."+ToDo+
				"check that trials are measured and not copied or rounded; measure longer.", r.Arms[j].Name, r.base())
		}
	}
	return fmt.Sprintf("No verdict: too few trials succeeded to exclude any difference (%s, %s).", plural(analysis.Block, "block"),
		plural(analysis.Trials, "trial"))
}

// unvarying reports whether an estimate has no interval because its trials show no noise.
func (e Estimate) unvarying() bool {
	return finite(e.Effect) && !e.Known() && e.N >= FirstAnalysis && e.SE*e.SE < rounding
}

// tooEarly returns the headline before the first intervals.
func (r Result) tooEarly(first, blocks int, opts WordsOptions) string {
	text := fmt.Sprintf("Too early to say: %d of the %s that an interval needs %s complete.", blocks, plural(first, "block"),
		map[bool]string{true: "is", false: "are"}[blocks == 1])
	if more := first - blocks; more > 0 && opts.BlockSeconds > 0 {
		text += fmt.Sprintf(" %d more take about %s.", more, duration(float64(more)*opts.BlockSeconds))
	}
	if opts.Resume == nil {
		return text
	}
	if command := opts.Resume(first); command != "" {
		text += ToDo + "measure them: " + command
	}
	return text
}

// limits phrases an interval with its unit: "+4.9 to +7.4 %", "6.23 to 28.4 times".
func (e Estimate) limits() string {
	text := strings.Replace(interval(e), " … ", " to ", 1)
	if !inTimes(e.Effect) {
		text += " %"
	}
	return text
}

// use phrases the layout to use: its gain, and what other layouts may gain in addition.
func (r Result) use(analysis Analysis, a Answer) string {
	e, name := analysis.Estimates[a.Arm], r.Arms[a.Arm].Name
	text := fmt.Sprintf("Use %s: %s (%s interval %s).", name, over(e, r.base()), level(r.Config.Confidence), e.limits())
	switch others := r.rivals(analysis, a.Arm); {
	case r.pair():
		return text
	case e.WorstLoss == 0:
		return text + " No other tested layout is faster."
	case e.WorstLoss <= r.Config.Margin || len(others) == 0:
		return text + " No other tested layout is " + faster(e.WorstLoss, "") + "."
	default:
		return fmt.Sprintf("%s %s could be up to %s faster still, which is within the tolerance (a quarter of the proven gain)."+
			ToDo+"to settle it, run with --goal best.", text, inWordsOr(others), above(e.WorstLoss))
	}
}

// pair reports whether only one layout is compared with the baseline.
func (r Result) pair() bool {
	n := 0
	for _, arm := range r.Arms {
		if arm.Twin == "" {
			n++
		}
	}
	return n == 2
}

// over phrases an effect relative to the baseline.
func over(e Estimate, base string) string {
	if inTimes(e.Effect) {
		return change(e.Effect) + " the throughput of " + base
	}
	return change(e.Effect) + " over " + base
}

// rivals returns the names of the candidates other than the arm and the baseline.
func (r Result) rivals(analysis Analysis, arm int) []string {
	var names []string
	for j, e := range analysis.Estimates {
		if j != arm && j != r.Config.Baseline && e.Candidate {
			names = append(names, r.Arms[j].Name)
		}
	}
	return names
}

func inWordsOr(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// more phrases that several layouts beat the baseline, while the best of them is open.
func (r Result) more(analysis Analysis, a Answer) string {
	names, least := r.better(analysis)
	which := are(names)
	proven := "at least " + change(least) + " over " + r.base()
	if inTimes(least) {
		proven = "at least " + times(least) + " times as fast as " + r.base()
	}
	open := "which is best is open"
	if loss := analysis.Estimates[a.Arm].WorstLoss; finite(loss) && loss <= math.Log(unresolvableFrom) {
		open = fmt.Sprintf("up to %s more than with %s is open", above(loss), r.Arms[a.Arm].Name)
	}
	pick := "use " + r.Arms[a.Arm].Name
	if len(names) > 1 {
		pick = "take " + r.Arms[a.Arm].Name + ", the fewest of them"
	}
	return fmt.Sprintf("More files help: %s %s (%s confidence), and %s."+ToDo+"%s, or run longer (--budget).", which, proven,
		level(r.Config.Confidence), open, pick)
}

// open phrases that nothing is proven faster, and how much could still be gained.
func (r Result) open(analysis Analysis, a Answer, opts WordsOptions) string {
	text := fmt.Sprintf("Keep %s for now: no layout is proven faster, and up to %s is open (%s confidence).", r.base(), above(a.Bound),
		level(r.Config.Confidence))
	done := fmt.Sprintf("if %s is not worth a change, you are done; ", above(a.Bound))
	if a.Bound > math.Log(tellsNothing) {
		done = ""
		text = fmt.Sprintf("Keep %s for now: no layout is proven faster, and the trials differ so much that not even a factor of %d is "+
			"excluded (%s confidence).", r.base(), tellsNothing, level(r.Config.Confidence))
	}
	return text + ToDo + done + r.settles(analysis, opts)
}

// settles returns the effort that allows the baseline to be kept, or resolves the margin, with the command for it.
func (r Result) settles(analysis Analysis, opts WordsOptions) string {
	with := func(text string, blocks int) string {
		if opts.Resume != nil {
			if command := opts.Resume(blocks); command != "" {
				return text + ": " + command
			}
		}
		return text + "."
	}
	size, first := margin(r.Config.Margin), ForecastFrom(len(r.Arms))
	switch keep, needed := analysis.BlocksToKeep, analysis.BlocksNeeded; {
	case keep > 0:
		text := fmt.Sprintf("to get it within %s, measure about %s in all", margin(widestKeep), plural(keep, "block"))
		if needed > keep {
			text += fmt.Sprintf(" (%s: about %d)", size, needed)
		}
		return with(text, keep)
	case needed > 0:
		return with(fmt.Sprintf("to resolve %s, measure about %s in all", size, plural(needed, "block")), needed)
	case analysis.Block < first:
		return with(fmt.Sprintf("the blocks that it takes to resolve %s are known from block %d on", size, first), first)
	}
	return fmt.Sprintf("to resolve %s takes more blocks than can be planned: set a wider --margin, or reduce noise.", size)
}
