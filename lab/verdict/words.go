package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// WordsOptions holds what the sentences need in addition to the result.
type WordsOptions struct {
	BlockSeconds float64 // mean duration of a block; 0 means unknown
	// Resume returns the command that takes a run to that many blocks in all, or "" if there is none. It is nil if the
	// result is not of a run.
	Resume func(blocks int) string
}

// Sentences returns the verdict in words: first what to do, then each arm in order, then the warnings that limit the
// verdict.
func Sentences(r Result, opts WordsOptions) []string {
	s := []string{Headline(r, opts)}
	if same := equivalence(r); same != "" {
		s = append(s, same)
	}
	for j := range r.Arms {
		if sentence := ArmSentence(r, j); sentence != "" {
			s = append(s, sentence)
		}
	}
	for _, w := range r.Warnings {
		if w.Code == WarnOneBuild || w.Code == WarnBuilds {
			s = append(s, w.Message)
		}
	}
	return s
}

// Headline returns in one line what to do. If the A/A check failed, that comes first.
func Headline(r Result, opts WordsOptions) string {
	arm, _, failed := r.AAFailed()
	if failed && r.Config.Rules > 2 {
		return "Do not use this result: the A/A check failed. One layout, measured under two names, differed from itself." + ToDo +
			"run filewise doctor, remove the cause, and run again."
	}
	if failed {
		return fmt.Sprintf("Do not rely on this: the A/A check failed, %s differs from %s although they are the same. %s",
			r.Arms[arm].Name, r.Arms[arm].Twin, advice(r, opts))
	}
	return advice(r, opts)
}

// advice returns the headline without the A/A check.
func advice(r Result, opts WordsOptions) string {
	if r.Config.Rules > 2 {
		return advice3(r, opts)
	}
	analysis, ok := r.Last()
	if !ok {
		return r.tooSoon(r.Blocks, opts)
	}
	if analysis.CarryOver {
		return "Undecided: which layout ran before changes the next trial, so the differences are not those of the layouts alone."
	}
	confidence := level(r.Config.Confidence)
	switch base := r.Config.Baseline; {
	case analysis.Recommended < 0 && analysis.Stop == ReasonAllResolved:
		return fmt.Sprintf("Every layout is resolved against %s (%s); which one is best is not.",
			r.Arms[base].Name, confidence)
	case analysis.Recommended < 0:
		return undecided(r, analysis, opts)
	case analysis.Recommended == base:
		return fmt.Sprintf("Keep %s: no tested layout is %s (%s).",
			r.Arms[base].Name, faster(r.keepBound(analysis), ""), confidence)
	case r.Config.Rules > 1 && analysis.Estimates[analysis.Recommended].WorstLoss > r.Config.Margin:
		return r.bestKnown(analysis)
	}
	return fmt.Sprintf("Recommended: %s. No tested layout is %s (%s).",
		r.Arms[analysis.Recommended].Name, faster(analysis.Estimates[analysis.Recommended].WorstLoss, ""), confidence)
}

// keepBound returns the most by which any arm may be faster than the baseline, by the baseline's worst-case loss and by every
// interval shown.
func (r Result) keepBound(analysis Analysis) float64 {
	bound := analysis.Estimates[r.Config.Baseline].WorstLoss
	if r.Config.Rules == 1 {
		return bound // as those runs were phrased
	}
	for j, e := range analysis.Estimates {
		if j != r.Config.Baseline && r.Arms[j].Twin == "" && e.Known() {
			bound = max(bound, e.Hi)
		}
	}
	return bound
}

// bestKnown phrases a recommendation that other layouts may beat by more than the margin. It states the proven gain,
// and the layouts that may be as good.
func (r Result) bestKnown(analysis Analysis) string {
	best, rival := analysis.Estimates[analysis.Recommended], r.rivals(analysis, analysis.Recommended)
	name, base := r.Arms[analysis.Recommended].Name, r.Arms[r.Config.Baseline].Name
	apart := ""
	if len(rival) > 0 {
		apart = fmt.Sprintf("; %s and %s are not distinguished", strings.Join(rival, ", "), name)
	}
	loss, isFactor := bound(best.WorstLoss)
	if isFactor {
		loss = "a factor of " + loss
	}
	return fmt.Sprintf("Recommended: %s, %s%s (%s). Its worst-case loss, %s, is at most a quarter of the proven gain.",
		name, atLeast(best.Lo, base), apart, level(r.Config.Confidence), loss)
}

// atLeast phrases a proven gain.
func atLeast(gain float64, base string) string {
	if inTimes(gain) {
		return "at least " + times(gain) + " times " + base
	}
	return "at least " + change(gain) + " against " + base
}

// equivalence states the largest difference that is still possible if none was found. It returns "" if the verdict
// states that anyway.
func equivalence(r Result) string {
	analysis, ok := r.Last()
	if !ok || r.Config.Rules > 2 || analysis.Recommended != r.Config.Baseline || !finite(analysis.LargestDifference) {
		return ""
	}
	for j, e := range analysis.Estimates {
		if r.Arms[j].Twin == "" && (e.Lo > 0 || e.Hi < 0) {
			return ""
		}
	}
	return fmt.Sprintf("No difference larger than %s between %s and any other tested layout (%s).",
		above(analysis.LargestDifference), r.Arms[r.Config.Baseline].Name, level(r.Config.Confidence))
}

// faster phrases a worst-case loss, with the arm's name if it is given. If the bound is 0, all other arms are proven
// slower.
func faster(loss float64, arm string) string {
	words, link := "faster", " than "
	switch size, isFactor := bound(loss); {
	case isFactor:
		words, link = "more than "+size+" times as fast", " as "
	case loss != 0:
		words = "more than " + size + " faster"
	}
	if arm == "" {
		return words
	}
	return words + link + arm
}

// above phrases the limit above which differences are excluded.
func above(largest float64) string {
	size, isFactor := bound(largest)
	if isFactor {
		return "a factor of " + size
	}
	return size
}

// tooSoon returns the headline before the first intervals.
func (r Result) tooSoon(blocks int, opts WordsOptions) string {
	first := r.FirstClaim()
	if r.Config.Rules > 2 {
		return r.tooEarly(first, blocks, opts)
	}
	text := fmt.Sprintf("Undecided: intervals take %s, and there %s.", plural(first, "block"),
		map[bool]string{true: "is 1", false: fmt.Sprintf("are %d", blocks)}[blocks == 1])
	if more := first - blocks; more > 0 && opts.BlockSeconds > 0 {
		text += fmt.Sprintf(" Measure %d more (%s).", more, duration(float64(more)*opts.BlockSeconds))
	}
	return text
}

// undecided returns the headline if nothing is decided: the most that can be gained, and the further effort that would
// settle it.
func undecided(r Result, analysis Analysis, opts WordsOptions) string {
	if !finite(analysis.LargestDifference) && analysis.Block < r.FirstClaim() {
		return r.tooSoon(analysis.Block, opts)
	}
	if analysis.ahead(r.Config.Baseline) {
		return r.betterButWhich(analysis)
	}
	most, who := r.mostToGain(analysis)
	if !finite(most) {
		return fmt.Sprintf("Undecided: too few trials succeeded to exclude any difference (%s, %s).",
			plural(analysis.Block, "block"), plural(analysis.Trials, "trial"))
	}
	var b strings.Builder
	open := "no layout is proven to be faster than " + r.Arms[r.Config.Baseline].Name
	if slices.ContainsFunc(analysis.Estimates, func(e Estimate) bool { return e.Lo > 0 }) {
		open = "which layout is the best is open"
	}
	b.WriteString("Undecided: " + open)
	if most > math.Log(tellsNothing) {
		fmt.Fprintf(&b, ", and the trials differ so much that not even a factor of %d is excluded", tellsNothing)
	} else {
		fmt.Fprintf(&b, ". %s %s (%s)", who, faster(most, ""), level(r.Config.Confidence))
	}
	if analysis.BlocksNeeded > 0 {
		fmt.Fprintf(&b, "; telling %s apart would take about %d blocks", margin(r.Config.Margin), analysis.BlocksNeeded)
		if opts.BlockSeconds > 0 {
			fmt.Fprintf(&b, " (%s)", duration(float64(analysis.BlocksNeeded)*opts.BlockSeconds))
		}
	}
	b.WriteString(".")
	if analysis.BlocksNeeded > r.Config.MaxBlocks || analysis.Stop == ReasonFutile || analysis.Stop == ReasonMaxBlocks {
		b.WriteString(" " + wouldTell)
	}
	return b.String()
}

// wouldTell is advice on how to continue, in words that hold for every workload, and for tables from elsewhere.
const wouldTell = "More blocks (--budget), longer trials or a wider --margin would resolve it."

// mostToGain returns the most by which a layout may be faster than the baseline, and the layouts that this holds for.
// These are all layouts, or those still open; the others are proven worse, dropped, or failed.
func (r Result) mostToGain(analysis Analysis) (most float64, who string) {
	most = math.NaN()
	var names []string
	others := 0
	for j, e := range analysis.Estimates {
		if j == r.Config.Baseline || r.Arms[j].Twin != "" {
			continue
		}
		others++
		if !e.Known() || e.DroppedAt > 0 || e.Hi < 0 {
			continue
		}
		names = append(names, r.Arms[j].Name)
		if !(e.Hi <= most) {
			most = e.Hi
		}
	}
	switch n := len(names); {
	case n == 0:
		return analysis.LargestDifference, "No tested layout is"
	case n == others:
		return most, "No tested layout is"
	case n == 1:
		return most, names[0] + " is not"
	default:
		return most, "None of " + inWords(names) + " is"
	}
}

// inWords joins names into an enumeration with "and".
func inWords(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// ahead reports whether the leader is proven better than the baseline.
func (l Analysis) ahead(baseline int) bool {
	return l.Leader >= 0 && l.Leader != baseline && l.Estimates[l.Leader].Lo > 0
}

// better returns the candidates that are proven faster than the baseline, and the smallest of their proven gains. If
// there is none, it returns nil and infinity.
func (r Result) better(analysis Analysis) (names []string, least float64) {
	least = math.Inf(1)
	for j, e := range analysis.Estimates {
		if j != r.Config.Baseline && e.Candidate && e.Lo > 0 {
			names, least = append(names, r.Arms[j].Name), min(least, e.Lo)
		}
	}
	return names, least
}

// are joins names with their verb: "4 files is", "4 files and 8 files are each".
func are(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return inWords(names) + " are each"
}

// betterButWhich phrases the undecided verdict if layouts beat the baseline but the best of them is open.
func (r Result) betterButWhich(analysis Analysis) string {
	names, least := r.better(analysis)
	better := are(names)
	bound := ""
	if loss := analysis.Estimates[analysis.Leader].WorstLoss; loss <= math.Log(unresolvableFrom) {
		bound = "; no tested layout is " + faster(loss, r.Arms[analysis.Leader].Name)
	}
	return fmt.Sprintf("Undecided which is best: %s proven to be faster, %s%s (%s). %s",
		better, atLeast(least, r.Arms[r.Config.Baseline].Name), bound, level(r.Config.Confidence), wouldTell)
}

// ArmSentence phrases what is known about one arm against the baseline. It returns "" for the baseline and before the
// first analysis.
func ArmSentence(r Result, arm int) string {
	analysis, ok := r.Last()
	if !ok || arm == r.Config.Baseline || arm < 0 || arm >= len(analysis.Estimates) {
		return ""
	}
	if r.Arms[arm].Twin != "" {
		return aaSentence(r, arm)
	}
	e, name := r.Shown(analysis, arm), r.Arms[arm].Name
	confidence := level(r.Config.Confidence)
	switch {
	case !e.Known() && e.DroppedAt == 0 && finite(e.Effect) && analysis.Block < r.FirstClaim():
		return fmt.Sprintf("%s: %s so far; an interval is given from block %d on (%s, %s).", name,
			change(e.Effect), r.FirstClaim(), plural(analysis.Block, "block"), plural(analysis.Trials, "trial"))
	case r.Config.Rules > 2 && e.unvarying():
		return fmt.Sprintf("%s: %s in every trial, without any noise: no interval can be given (%s, %s).", name, over(e, r.base()),
			plural(analysis.Block, "block"), plural(analysis.Trials, "trial"))
	case !e.Known() && e.DroppedAt > 0:
		return fmt.Sprintf("%s: dropped after block %d, not the best (%s).", name, e.DroppedAt, confidence)
	case !e.Known() && r.Config.Rules > 2 && e.N >= FirstAnalysis:
		return fmt.Sprintf("%s: too few blocks in which %s succeeded too (its trials: %d, trials of %[2]s: %[4]d).", name, r.base(), e.N,
			analysis.Estimates[r.Config.Baseline].N)
	case !e.Known():
		return fmt.Sprintf("%s: too few trials to judge (%s).", name, plural(e.N, "trial"))
	case unresolvable(e):
		return fmt.Sprintf("%s: not resolvable here, its %s interval goes beyond a factor of %d (%s, %s).",
			name, confidence, unresolvableFrom, plural(analysis.Block, "block"), plural(analysis.Trials, "trial"))
	case e.DroppedAt > 0 && !(e.Lo > 0 || e.Hi < 0):
		return fmt.Sprintf("%s: dropped after block %d, not the best (%s).", name, e.DroppedAt, confidence)
	}
	dropped := ""
	if e.DroppedAt > 0 {
		dropped = fmt.Sprintf("; dropped after block %d", e.DroppedAt)
	}
	simultaneous := ""
	if others := len(r.Arms) - 1; others > 1 {
		simultaneous = fmt.Sprintf(", simultaneous over %d layouts", others)
	}
	if r.Config.Rules > 2 {
		return fmt.Sprintf("%s: %s (%s interval %s%s; %s, %s%s).", name, over(e, r.base()), confidence, e.limits(),
			strings.Replace(simultaneous, "simultaneous", "joint", 1), plural(analysis.Block, "block"), plural(analysis.Trials, "trial"), dropped)
	}
	return fmt.Sprintf("%s: %s %s (%s interval %s%s; %s, %s%s).",
		name, change(e.Effect), against(e, r.Arms[r.Config.Baseline].Name), confidence, interval(e),
		simultaneous, plural(analysis.Block, "block"), plural(analysis.Trials, "trial"), dropped)
}

// unresolvableFrom is the factor from which the limits of an interval are meaningless, if the interval includes zero
// difference.
const unresolvableFrom = 100

// tellsNothing is the factor above which the largest possible gain is too large to guide a decision.
const tellsNothing = 10

func unresolvable(e Estimate) bool {
	most := math.Log(unresolvableFrom)
	return e.Lo <= 0 && e.Hi >= 0 && (e.Lo < -most || e.Hi > most)
}

// against returns the words for the baseline: a percentage is against it, a ratio is of it.
func against(e Estimate, baseline string) string {
	if inTimes(e.Effect) {
		return baseline
	}
	return "against " + baseline
}
