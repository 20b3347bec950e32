package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/docs"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/results/report/document"
)

// method describes how the run measured and judged.
func (v view) method() []document.Block {
	var out []document.Block
	if s := v.Scenario.Summary; s != "" {
		out = append(out, document.Text(s))
	}
	for _, s := range v.methodWords() {
		out = append(out, document.Text(s))
	}
	return append(out, v.whyNote()...)
}

// methodWords describes the run's method in plain words, from the plan and from the actual course.
func (v view) methodWords() []string {
	p := v.Plan
	if p.AsPublished != nil {
		return v.publishedMethod()
	}
	out := []string{
		v.trialWords(),
		v.blockWords(),
		v.estimand() + "No trial is " +
			"removed because of its outcome; unusual ones are pulled in, and the table counts them next to the geometric means.",
		fmt.Sprintf("The intervals hold with %s for all layouts and for an interim analysis after every "+
			"block together, so that measuring could stop as "+
			"soon as it was decided. Differences within ±%s count as none. A layout that is shown not to be the best is measured no further; of "+
			"equally good ones the one with the fewest files is recommended.", v.confidence(), v.margin()),
	}
	out = append(out, v.checkWords()...)
	if s := v.pilotWords(); s != "" {
		out = append(out, s)
	}
	if n := v.failures(); n > 0 {
		out = append(out, fmt.Sprintf("A failed trial is tried again at the end of its block, %d times in all; it is listed with its reason "+
			"and never left out silently.", max(p.Attempts, 1)))
	}
	return out
}

// estimand describes the quantity that the differences and their intervals are about.
func (v view) estimand() string {
	text := "The differences are between typical trials: a robust fit of blocks and layouts to the logarithm of throughput. "
	if v.Plan.JudgedBy() >= experiment.JointFrom {
		text += "All claims about a layout concern the typical trial, the median of the logarithm of its throughput against the baseline's " +
			"in one block: stalls are shown next to it, with their cost. "
	}
	return text
}

// publishedMethod describes the method of a run by the article's design.
func (v view) publishedMethod() []string {
	out := []string{
		v.trialWords(),
		"The order is the article's: every layout has all its runs before the next one; nothing is randomised, and there are " +
			"no pilots.",
		"The averages are those of the article's way. For the sound verdict, run k of every layout counts as block k. " +
			strings.TrimSpace(v.estimand()),
	}
	if w := weakerWords(*v.Plan.AsPublished); w != "" {
		out = append(out, w)
	}
	return append(out, v.checkWords()...)
}

// checkWords lists how the run tested and steadied itself.
func (v view) checkWords() []string {
	var out []string
	switch n := len(v.parts); {
	case n > 1 && v.Plan.JudgedBy() >= experiment.JointFrom:
		out = append(out, fmt.Sprintf("All intervals and claims on the %d operations hold together: each operation has 1/%d of the "+
			"error (Bonferroni).", n, n))
	case n > 1:
		out = append(out, fmt.Sprintf("The claims on the %d operations hold together by Holm's procedure: each operation is first "+
			"judged with 1/%d of the error, and the more of them are decided, the more is left for the others.", n, n))
	}
	if v.Plan.AA != "" {
		out = append(out, fmt.Sprintf("%s is the same layout as the baseline under another name (A/A check): it is measured to the end, never "+
			"recommended, and a difference that is claimed of it is one of the machine.", v.Plan.AA))
	}
	if v.Plan.Calibrate {
		out = append(out, "Right before each trial the storage was probed by a short piece of synced writes, and throughput adjusted for what "+
			"it gave.")
	}
	return out
}

func (v view) trialWords() string {
	built := "rebuilt the layout"
	for _, t := range v.Trials {
		if t.Build != "" {
			built = "started from a loaded build of the layout"
			break
		}
	}
	s := fmt.Sprintf("Each trial %s, read back that its files are as requested, brought it to rest, warmed it up", built)
	if w := v.Judgement.Schedule.WarmUp; w > 0 {
		s += " for " + say.Human(w)
	}
	switch {
	case v.Plan.Window > 0:
		s += ", measured for " + say.Human(v.measuredFor())
		if v.Plan.TakesTurns() {
			s += " in all"
		}
	case v.Plan.Work > 0:
		s += ", measured " + say.Size(v.Plan.Work) + " of work"
	default:
		s += ", measured"
	}
	s += ", waited until everything was durable on the storage, checked the data, and removed the build."
	if v.Plan.Observe == experiment.ObserveRest {
		s += " Work that writes is judged by all of it per time from rest to rest: from the connections' start until everything was " +
			"durable, less the time of a drain with nothing to write. The rate within the window is shown next to it."
	}
	if v.Plan.Target.Durability != "" {
		s += " Durability: " + durabilityWords(v.Plan.Target.Durability) + "."
	}
	return s
}

// blockWords explains the order of the layouts within a block.
func (v view) blockWords() string {
	const why = "Slow changes of the machine so affect all layouts equally."
	p := v.Plan
	seed := strconv.FormatUint(p.Seed, 10)
	if !p.TakesTurns() {
		s := fmt.Sprintf("One trial is one sample. Trials run in blocks: a block measures every layout that is still in question once, in "+
			"fresh random order that follows from the seed %s. %s", seed, why)
		if p.OneByOne != "" {
			s += " Layouts took no turns: " + p.OneByOne + "."
		}
		return s
	}
	s := fmt.Sprintf("Trials run in blocks, and a block interleaves %s: all layouts still in question are open at once, and "+
		"each round gives every one a turn%s, in fresh random order that follows from the seed %s, and waits after each "+
		"turn until it is durable and quiet. What a layout does in a block, %s over its turns, is one trial and one "+
		"sample. %s",
		say.Count(v.rounds(), "round"), v.turnText(), seed, turnMean(p), why)
	if p.Target.Mode == filewise.External {
		s += " All layouts lay on the one server, and shared its memory."
	}
	return s
}

// turnMean describes how the turns of an interleaved block make one observation.
func turnMean(p experiment.Plan) string {
	if p.Observe == experiment.ObserveRest {
		return "the total work by the total time"
	}
	return "as the geometric mean"
}

// measuredFor returns the measured time of a trial. In an interleaved block it is the sum of all turns.
func (v view) measuredFor() time.Duration {
	if s := v.Judgement.Schedule; s.Turn > 0 {
		return s.Turn * time.Duration(s.Rounds)
	}
	return v.Plan.Window
}

// turnText returns the length of a turn, if all turns have the same length.
func (v view) turnText() string {
	switch turn := v.Judgement.Schedule.Turn; {
	case turn > 0:
		return " of " + say.Human(turn)
	case v.Plan.Rounds > 0 && v.Plan.Window > 0:
		return " of " + say.Human(v.Plan.Window/time.Duration(v.Plan.Rounds))
	}
	return ""
}

func (v view) pilotWords() string {
	n := 0
	for _, t := range v.Trials {
		if t.Cell.Pilot && t.State == filewise.Done {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Before the first block %s fixed the warm-up and the number of blocks that the budget allows (%s); they are no part "+
		"of the verdict.",
		say.Count(n, "pilot"), fmt.Sprint(max(v.Judgement.Schedule.MaxBlocks, 0)))
}

func (v view) failures() int {
	n := 0
	for _, t := range v.Trials {
		if t.Kind == kindFailed {
			n++
		}
	}
	return n
}

var (
	termRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| (.+) \|$`)
	plainly = strings.NewReplacer("*", "", "`", "")
)

// general lists the words of reports that all of Filewise uses. The page of words has the reports' own words under a
// separate heading.
var general = []string{"engine", "layout", "trial", "pilot", "block", "interleaved block", "turn", "A/A", "noise",
	"forecast", "operation", "window", "slice", "tail", "sync", "baseline", "margin", "worst-case loss", "tolerance",
	"interim analysis", "write amplification", "throughput", "rate within the window", "p50, p99, p99.9", "durability"}

// terms returns the words that reports explain, with their meanings.
func terms() []filewise.Fact {
	first, ofReports, _ := strings.Cut(docs.Terminology, "\n## In reports\n")
	var out []filewise.Fact
	for i, part := range []string{first, ofReports} {
		for _, m := range termRow.FindAllStringSubmatch(part, -1) {
			if m[1] != "word" && m[1] != "---" && (i > 0 || slices.Contains(general, m[1])) {
				out = append(out, filewise.Fact{Name: m[1], Value: plainly.Replace(m[2])})
			}
		}
	}
	return out
}

// tips returns the meaning of each word.
func tips() map[string]string {
	out := map[string]string{}
	for _, t := range terms() {
		for word := range strings.SplitSeq(t.Name, ", ") {
			out[word] = t.Value
		}
	}
	return out
}

// words returns the terms as a list.
func words() []document.Block {
	var out document.List
	for _, t := range terms() {
		out = append(out, t.Name+": "+t.Value+".")
	}
	return []document.Block{document.OnPages(out)}
}

// Glossary returns the meanings of the words that stand alone, and the list of all words.
func Glossary() (map[string]string, []document.Block) { return tips(), words() }
