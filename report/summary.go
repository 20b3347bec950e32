package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise/experiment"
	"filewise/internal/say"
	"filewise/report/document"
)

// outcome of a family: the layout to use, or none.
type outcome struct {
	layout   string
	families []string
}

// Summary is the verdict over several families in plain words.
func Summary(baseline string, families []experiment.Family) string {
	said := advice(baseline, families)
	var failed []string
	for _, f := range families {
		if _, _, bad := f.Result.AAFailed(); bad {
			failed = append(failed, f.Name)
		}
	}
	if len(failed) > 0 {
		return "Do not rely on this: the A/A check failed (" + strings.Join(failed, ", ") + "). " + said
	}
	return said
}

func advice(baseline string, families []experiment.Family) string {
	overall, decided, open := outcomes(families)
	hasOverall := slices.ContainsFunc(families, func(f experiment.Family) bool { return f.Name == experiment.FamilyOverall })
	switch {
	case !slices.ContainsFunc(families, judgedAtAll):
		if s := families[0].Sentences; len(s) > 0 {
			return s[0]
		}
		return noVerdictYet(families[0].Result)
	case len(decided) == 0 && overall == "":
		return fmt.Sprintf("Undecided: no layout is proven to be the best for any of the %d families. More blocks (--budget) "+
			"or a wider --margin would tell.", len(open))
	}
	var parts []string
	for _, o := range decided {
		parts = append(parts, adviceOn(o.layout, baseline)+" for "+familyNames(o.families))
	}
	if len(open) > 0 {
		parts = append(parts, "undecided for "+familyNames(open))
	}
	singly := strings.Join(parts, "; ")
	switch {
	case !hasOverall:
		return say.Sentence(singly) + "."
	case overall == "":
		return "Undecided over all families together. Singly: " + singly + "."
	}
	return fmt.Sprintf("Over all families together: %s. Singly: %s.", adviceOn(overall, baseline), singly)
}

func judgedAtAll(f experiment.Family) bool {
	_, judged := f.Result.Last()
	return judged
}

// outcomes are the layouts to use, over all families and by family, and the
// families that are not decided.
func outcomes(families []experiment.Family) (overall string, decided []outcome, open []string) {
	for _, f := range families {
		name := f.Result.RecommendedName()
		switch i := slices.IndexFunc(decided, func(o outcome) bool { return o.layout == name }); {
		case f.Name == experiment.FamilyOverall:
			overall = name
		case name == "":
			open = append(open, f.Name)
		case i < 0:
			decided = append(decided, outcome{name, []string{f.Name}})
		default:
			decided[i].families = append(decided[i].families, f.Name)
		}
	}
	return overall, decided, open
}

func adviceOn(layout, baseline string) string {
	if layout == baseline {
		return "keep " + layout
	}
	return "use " + layout
}

// mostWarnings are shown on a screen; the report has all.
const mostWarnings = 3

// answer is what a terminal shows at the end of a run, on one screen: the verdict, the
// table, why, what to be wary of, and where the rest is.
func (v view) answer() document.Block {
	out := []document.Block{document.Headline(v.Headline())}
	for _, s := range []string{v.latencyLoss(), v.Judgement.Stalls(), v.rules()} {
		if s != "" {
			out = append(out, document.Line{Text: s})
		}
	}
	return document.OnScreen(out...)
}

// answerTable is the table of the layouts, or of all families.
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

// answerRest is why, the first warnings, and where the rest is.
func (v view) answerRest() document.Block {
	var out []document.Block
	if s := v.causeInShort(); s != "" {
		out = append(out, document.Brief(s))
	}
	all := Notices(v.Judgement.Warnings)
	for _, w := range all[:min(len(all), mostWarnings)] {
		out = append(out, document.Notice{Message: w.Message})
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

// causeInShort is the first thing that changed with the difference, without its interval, of
// the first family that another layout wins; where nothing did, where the time went.
func (v view) causeInShort() string {
	f := v
	if i := slices.IndexFunc(v.parts, func(f view) bool { r := f.recommended(); return r != nil && !r.Baseline }); v.several() && i >= 0 {
		f = v.parts[i]
	}
	c := f.of.Cause
	if c == nil || len(c.Sentences) == 0 {
		return v.relevance()
	}
	said := c.Sentences[0]
	if i := strings.LastIndex(said, " ("); i > 0 && strings.HasSuffix(said, ").") && strings.Contains(said[i:], "interval") {
		said = said[:i] + "."
	}
	return say.Joined(", ", "Why", f.Name) + ": " + said
}

// latencyLoss says that the layout to use is slow where it matters, and what bars such
// ones; empty: it is not.
func (v view) latencyLoss() string {
	words := v.Judgement.LatencyLoss()
	if words != "" && slices.Contains(v.Scenario.Flags, "p99-limit") {
		words += " Set --p99-limit to bar layouts that take longer."
	}
	return words
}
