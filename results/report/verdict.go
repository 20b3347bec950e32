package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/probe"
	"filewise/lab/verdict"
	"filewise/results/report/document"
)

// verdict returns the first part of the report.
func (v view) verdict() []document.Block {
	said := func(class string, texts ...string) (out []document.Block) {
		for _, s := range texts {
			if s != "" {
				out = append(out, document.Line{Class: class, Text: s})
			}
		}
		return out
	}
	out := []document.Block{
		document.OnPages(document.Line{Class: "kicker", Text: say.Joined(" · ", "Verdict", v.Scenario.Title)}),
		document.Everywhere(append(v.headlined(), said("relevance", v.latencyLoss(),
			v.Judgement.Stalls(), v.relevance(), v.met())...)...),
		document.Only{In: document.HTML | document.Terminal, Blocks: said("gain", v.gain())},
	}
	if f := v.further(); len(f) > 0 {
		out = append(out, document.Only{In: document.Markdown, Blocks: []document.Block{document.List(f)}})
	}
	return append(out,
		document.OnTerminal(said("stopped", v.oneBuild())...),
		document.Everywhere(said("stopped", v.stopped(), v.rules())...))
}

// relevance returns the parts of the connections' time, and so the share of the measurement that is about files. It is
// empty if nothing was read that shows it.
func (v view) relevance() string {
	if r := v.whole.Judgement.Relevance; r != nil {
		return r.Sentence
	}
	return ""
}

// met lists the conditions of meaning in a line. It is empty if none was measured.
func (v view) met() string { return conditionsInShort(v.whole.Judgement.Conditions) }

// Headline returns the verdict in one sentence, or why there is none, and its limit.
func (v view) Headline() string {
	text, limit := v.decision(), v.whole.Judgement.Limit(v.Plan)
	part := len(v.whole.Judgement.Operations) > 1 && !v.several() // the whole run's headline has the limit
	if limit == "" || part || strings.HasPrefix(text, "No ") {
		return text
	}
	return verdict.Add(text, " This is "+limit+".")
}

// headlined returns the headline, and below it the action if the headline has one.
func (v view) headlined() []document.Block {
	decision, action, found := strings.Cut(v.Headline(), verdict.ToDo)
	out := []document.Block{document.Headline(decision)}
	if found {
		out = append(out, document.Line{Class: "todo", Text: strings.TrimSpace(verdict.ToDo) + " " + action})
	}
	return out
}

// decision returns the headline without its limit.
func (v view) decision() string {
	if v.several() {
		return Summary(v.Plan.Baseline, operationsOf(v.whole))
	}
	if s := v.of.Sentences; len(s) > 0 {
		return s[0]
	}
	if why := v.Judgement.Decision.Why; why != "" {
		return "No verdict: " + why + "."
	}
	return noVerdictYet(v.of.Result)
}

func noVerdictYet(r verdict.Result) string {
	return fmt.Sprintf("No verdict yet: %d of the %d blocks that a verdict needs are complete.", r.Blocks, r.FirstClaim())
}

// further returns the sentences after the headline.
func (v view) further() []string {
	if v.several() {
		var out []string
		for _, f := range v.parts {
			if text := f.Headline(); text != v.Headline() { // the headline of all operations is no verdict
				out = append(out, f.Name+": "+text)
			}
		}
		return out
	}
	if s := v.of.Sentences; len(s) > 1 {
		return s[1:]
	}
	return nil
}

// gain returns the sentence about the recommended layout. It is empty if there is none, if the layout is the baseline,
// or if the headline already has the interval.
func (v view) gain() string {
	r := v.recommended()
	if r == nil || v.several() || strings.Contains(v.decision(), "interval") {
		return ""
	}
	for _, s := range v.further() {
		if strings.HasPrefix(s, r.Name+": ") {
			return s
		}
	}
	return ""
}

// stopped reports why the run stopped measuring. It is empty if the headline has the reason, or if the run
// is judged by other rules than it was stopped by.
func (v view) stopped() string {
	if v.Rejudged {
		return ""
	}
	d := v.Judgement.Decision
	if d.Ending == experiment.GoesOn {
		s := "The run is not finished"
		if v.State != "" {
			s += " (" + v.State + ")"
		}
		return s + fmt.Sprintf("; filewise resume %d continues with the next trial.", v.RunID)
	}
	why := d.Why
	if why == "" {
		why = string(d.Ending)
	}
	if strings.Contains(v.Headline(), why) {
		return ""
	}
	if strings.HasPrefix(why, "stopped ") {
		return say.Sentence(why) + "."
	}
	return "Stopped: " + why + "."
}

// oneBuild returns the verdict's limit if layouts ran on a single build, otherwise nothing.
func (v view) oneBuild() string {
	for _, w := range v.of.Result.Warnings {
		if w.Code == verdict.WarnOneBuild {
			return w.Message
		}
	}
	return ""
}

// rules names the rules by which a run was judged again, and explains what that means. It is empty if the run's own
// rules judge it.
func (v view) rules() string {
	if !v.Rejudged {
		return ""
	}
	return fmt.Sprintf("Judged again with baseline %s, margin ±%s, confidence %s, goal %s, rules %d. "+
		"Rules chosen after looking at the trials weaken the confidence "+
		"stated.", v.Plan.Baseline, v.margin(), v.confidence(), v.Plan.Goal, v.Plan.JudgedBy())
}

// glance returns how much was measured.
func (v view) glance() string {
	done := 0
	for _, r := range v.Rows {
		done += r.Done
	}
	out := fmt.Sprintf("%s in %s, confidence %s", say.Count(done, "trial"), say.Count(v.of.Result.Blocks, "complete block"), v.confidence())
	if where := v.where(); len(where) > 0 {
		out += fmt.Sprintf("; %s in trials, %s of it measuring", v.elapsed(), where[0].share())
	}
	return out + "."
}

// warnings returns each warning as a sentence with its remedy.
func (v view) warnings() []document.Block {
	var out []document.Block
	all, _ := v.ranked()
	for _, w := range all {
		out = append(out, document.Notice{Message: w.Message, Remedy: w.Remedy})
	}
	if len(out) == 0 {
		return nil
	}
	return []document.Block{document.Everywhere(out...)}
}

// scopeLine returns the notes on the scope. A page has them in its answer.
func (v view) scopeLine() []document.Block {
	_, scope := v.ranked()
	if len(scope) == 0 {
		return nil
	}
	return []document.Block{document.Only{In: document.Markdown | document.Terminal,
		Blocks: []document.Block{document.Text(ScopeText(scope, true))}}}
}

// repeat returns the command that repeats the measurement, and the command that shows the report.
func (v view) repeat() []document.Block {
	again := "Report: " + v.showCommand()
	same := fmt.Sprintf("Seed %d: the same order of trials and the same rows. This report again: %s", v.Plan.Seed, v.showCommand())
	if v.Rejudged {
		stored := v.storedVerdict()
		again, same = stored, fmt.Sprintf("Seed %d: the same order of trials and the same rows. %s", v.Plan.Seed, stored)
	}
	ran := fmt.Sprintf("Run %d, started %s, ended %s, Filewise %s.", v.RunID, stamp(v.Started), stamp(v.Ended), v.Version)
	return []document.Block{
		document.Only{In: document.Markdown, Blocks: []document.Block{document.Text(ran)}},
		document.Code(filewise.CommandLine(v.Plan.Command...)), document.Text(same), document.OnTerminal(document.Text(again)),
	}
}

// storedVerdict returns the command for the verdict by the run's own rules.
func (v view) storedVerdict() string {
	return fmt.Sprintf("Judged by other rules than the run's; the stored verdict: filewise show %d", v.RunID)
}

// showCommand returns the command that shows this report.
func (v view) showCommand() string { return fmt.Sprintf("filewise report %d", v.RunID) }

// Notices returns the warnings, each as a sentence. The most consequential come first, and notes on the scope last.
func Notices(warnings []filewise.Warning) []filewise.Warning {
	all, scope := Ranked(warnings)
	return append(all, scope...)
}

// grave lists the codes of the most consequential warnings, the gravest first. slight lists the codes of the least
// consequential ones. Other warnings are about the design, and are ranked between the two.
var (
	grave = []string{verdict.WarnAAFailed, verdict.WarnCarryOver, "void-trials", "withdrawn", "conditions", verdict.WarnUntested,
		"write-cliff", "trend", probe.WarnNeighbour, probe.WarnOthers, "not-steady", "uneven-spread", "outgrown",
		"rate-not-reached", verdict.WarnStall, verdict.WarnOneBuild, "failed-trials", verdict.WarnMissing}
	slight = []string{verdict.WarnBudget, verdict.WarnLimit, verdict.WarnBuilds, verdict.WarnDownWeighted, verdict.WarnNoNoise,
		verdict.WarnUnused}
)

// ofScope reports whether a warning is a standing note on what results carry over to, whatever happened in the run.
func ofScope(w filewise.Warning) bool {
	return strings.HasSuffix(w.Code, "-scope") || w.Code == "sqlite-polling"
}

// Ranked returns the warnings, each as a sentence, by their consequence, and separately the notes on the scope. A
// warning that something stood still comes first, in the given order.
func Ranked(warnings []filewise.Warning) (all, scope []filewise.Warning) {
	all, rest := experiment.StillWarnings(warnings)
	all = slices.Clone(all)
	rank := func(w filewise.Warning) int {
		if i := slices.Index(grave, w.Code); i >= 0 {
			return i
		}
		return len(grave) + 1 + slices.Index(slight, w.Code)
	}
	rest = slices.Clone(rest)
	slices.SortStableFunc(rest, func(a, b filewise.Warning) int { return cmp.Compare(rank(a), rank(b)) })
	for _, w := range rest {
		if ofScope(w) {
			scope = append(scope, w)
		} else {
			all = append(all, w)
		}
	}
	for _, list := range [][]filewise.Warning{all, scope} {
		for i, w := range list {
			list[i].Message, list[i].Remedy = say.Ended(say.Sentence(w.Message)), say.Ended(say.Sentence(w.Remedy))
		}
	}
	return all, scope
}

// ranked returns the run's warnings by their consequence. The headline of an open verdict names the blocks that would
// resolve the margin, so no warning repeats that.
func (v view) ranked() (all, scope []filewise.Warning) {
	warnings := v.Judgement.Warnings
	if v.of.Result.Answer().Decision == verdict.DecisionOpen {
		warnings = slices.DeleteFunc(slices.Clone(warnings), func(w filewise.Warning) bool { return w.Code == verdict.WarnBudget })
	}
	return Ranked(warnings)
}

// ScopeText returns a line with the notes on the scope, and with their remedies if remedies is set. It is empty if
// there are no notes.
func ScopeText(scope []filewise.Warning, remedies bool) string {
	if len(scope) == 0 {
		return ""
	}
	text := "Scope:"
	for _, w := range scope {
		if text += " " + w.Message; remedies && w.Remedy != "" {
			text += " " + w.Remedy
		}
	}
	return text
}

// mostOpen is the most operations whose reasons a page shows unfolded.
const mostOpen = 2

// causes returns the sentences of each operation. Operations with the same sentences share one entry.
func (v view) causes() []document.Fold {
	var all []document.Fold
	for _, f := range v.parts {
		if f.of.Cause == nil || len(f.of.Cause.Sentences) == 0 {
			continue
		}
		lines := document.List(f.of.Cause.Sentences)
		same := func(g document.Fold) bool { return slices.Equal(g.Blocks[0].(document.List), lines) }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Summary += ", " + f.Name
			continue
		}
		all = append(all, document.Fold{Summary: f.Name, Print: true, Blocks: []document.Block{lines}})
	}
	return all
}

// why returns the reasons why the layouts differ, or do not, by operation. A terminal shows them for up to mostDetailed
// entries. For up to mostOpen entries, a page has them in its answer instead.
func (v view) why() []document.Block {
	all := v.causes()
	if len(all) == 0 {
		return nil
	}
	var out []document.Block
	if len(all) <= mostDetailed {
		for _, f := range all {
			lines := f.Blocks[0].(document.List)
			out = append(out, document.OnTerminal(document.Text(say.Joined(", ", "Why", f.Summary)+": "+say.Joined(" ", lines...))))
		}
	}
	in := document.Paper
	if len(all) <= mostOpen {
		in = document.Markdown
	}
	return append(out, document.Only{In: in, Blocks: v.whyOnPaper(all)})
}

func (v view) whyOnPaper(all []document.Fold) []document.Block {
	var out []document.Block
	for _, f := range all {
		lines := f.Blocks[0].(document.List)
		switch {
		case len(all) > mostOpen:
			f.Summary, f.Blocks = say.Joined(": ", f.Summary, lines[0]), []document.Block{lines[1:]}
			out = append(out, f)
		case f.Summary != "":
			out = append(out, document.Heading(f.Summary), lines)
		default:
			out = append(out, lines)
		}
	}
	return out
}

// whyNote explains the numbers in the sentences.
func (v view) whyNote() []document.Block {
	if len(v.causes()) == 0 {
		return nil
	}
	return notes("Why: changes per unit of work are medians over the blocks; an interval is of the difference within blocks " +
		"(Student’s t, 95 %, each by itself). Shares of a gain may overlap and need not add up.")
}
